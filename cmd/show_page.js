// SPDX-License-Identifier: Apache-2.0
// The page of `show --html`: which rows there are, and how they are drawn.
"use strict";
const HEIGHT = 24, ALIKE = 16;
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const list = byId("list"), space = byId("space"), panel = byId("panel");
let everything = false, rows = [], chosen = null, matches = [], match = -1, needle = "", drag = null;

// Characters that hide or reorder text are shown as what they are.
const hostile = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const plain = (text) => text.replace(hostile, (one) =>
	`\\u${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`);

const make = (tag, names, text) => {
	const element = document.createElement(tag);
	if (names) element.className = names;
	if (text !== undefined) element.textContent = plain(text);
	return element;
};

// The same words as the terminal's.
const pad = (number) => String(number).padStart(2, "0");
const duration = (ns) => {
	const s = Math.floor(ns / 1e9);
	if (ns === 0) return "0 s";
	if (ns < 1e3) return `${Math.round(ns)} ns`;
	if (ns < 1e6) return `${Math.floor(ns / 1e3)} \u00b5s`;
	if (ns < 1e9) return `${Math.floor(ns / 1e6)} ms`;
	if (s < 10) return `${(Math.floor(ns / 1e7) / 100).toFixed(2)} s`;
	if (s < 60) return `${(Math.floor(ns / 1e8) / 10).toFixed(1)} s`;
	if (s < 3600) return `${Math.floor(s / 60)} min ${pad(s % 60)} s`;
	if (s < 86400) return `${Math.floor(s / 3600)} h ${pad(Math.floor(s % 3600 / 60))} min`;
	return `${Math.floor(s / 86400)} d ${pad(Math.floor(s % 86400 / 3600))} h`;
};

// Spans come in the order of reading: their depths say whose children they are.
for (const section of data.sections) {
	const path = [];
	section.from = 0;
	section.to = Math.max(section.length, 1);
	section.roots = [];
	for (const span of section.spans) {
		path.length = span.depth;
		span.section = section;
		span.children = [];
		span.above = path[span.depth - 1] || null;
		span.open = true;
		(span.above ? span.above.children : section.roots).push(span);
		path.push(span);
	}
}

// Of many alike the failed and the longest; the rest is behind one row until it is asked for.
const some = (spans) => {
	const names = new Map(), left = new Set();
	for (const span of spans) {
		if (!names.has(span.name)) names.set(span.name, []);
		names.get(span.name).push(span);
	}
	for (const alike of names.values()) {
		if (alike.length <= ALIKE) continue;
		alike.sort((a, b) => (b.error - a.error) || (b.length - a.length));
		for (const span of alike.slice(ALIKE)) left.add(span);
	}
	return left;
};

const layRows = () => {
	rows = [];
	for (const section of data.sections) {
		rows.push({ kind: "title", section });
		rows.push({ kind: "axis", section });
		const stack = [{ spans: section.roots, at: 0, owner: section, depth: 0 }];
		while (stack.length > 0) {
			const top = stack[stack.length - 1];
			if (top.left === undefined)
				top.left = everything || top.owner.unfolded ? new Set() : some(top.spans);
			if (top.at === top.spans.length) {
				if (top.left.size > 0) {
					const many = [...top.left];
					rows.push({ kind: "more", section, owner: top.owner, depth: top.depth,
						count: many.length, errors: many.filter((span) => span.error).length,
						name: many.every((span) => span.name === many[0].name) ? many[0].name : "",
						start: many.reduce((least, span) => Math.min(least, span.start), Infinity),
						end: many.reduce((most, span) => Math.max(most, span.start + span.length), 0) });
				}
				stack.pop();
				continue;
			}
			const span = top.spans[top.at++];
			if (top.left.has(span)) continue;
			span.row = rows.length;
			rows.push({ kind: "span", section, span, depth: span.depth });
			if (span.open && span.children.length > 0)
				stack.push({ spans: span.children, at: 0, owner: span, depth: span.depth + 1 });
		}
	}
	space.style.height = `${rows.length * HEIGHT + 24}px`;
	draw();
};

// A step of 1, 2 or 5 of a unit, so that about six fit.
const tickStep = (length) => {
	const units = [1, 1e3, 1e6, 1e9, 60e9, 3600e9, 86400e9];
	const rough = length / 6;
	let unit = 1;
	for (const one of units) if (one <= rough) unit = one;
	const steps = unit >= 60e9 ? [1, 2, 5, 10, 15, 30, 60] : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
	for (const step of steps) if (step * unit >= rough) return step * unit;
	return Math.pow(10, Math.ceil(Math.log10(rough / unit))) * unit;
};

const part = (section, ns) => (ns - section.from) / (section.to - section.from) * 100;

const drawGrid = (time, section, words) => {
	const step = tickStep(section.to - section.from);
	for (let ns = Math.ceil(section.from / step) * step; ns <= section.to; ns += step) {
		const at = part(section, ns);
		// A word at the very end would be cut.
		const tick = words && at < 90 ? make("div", "tick", `+${duration(ns)}`) : make("div", "line");
		tick.style.left = `${at}%`;
		time.append(tick);
	}
};

const drawWord = (time, row, left, right) => {
	const span = row.span;
	const words = [];
	if (span && span.class !== "instant") words.push(duration(span.length));
	if (span && span.outcome) words.push(span.outcome);
	if (!span && row.errors) words.push(`${row.errors} ERROR`);
	if (words.length === 0) return;
	const word = make("span", `word ${span ? span.class : "many"}`, words.join("  "));
	if (span ? span.error : row.errors) word.classList.add("bad");
	// Behind the bar where there is room, else before it, else upon it.
	if (right < 72) word.style.left = `${Math.max(right, 0)}%`;
	else if (left > 28) word.style.right = `${100 - Math.min(left, 100)}%`;
	else { word.style.left = `${Math.max(left, 0)}%`; word.classList.add("on"); }
	time.append(word);
};

const drawBar = (time, row) => {
	const span = row.span, section = row.section;
	const start = span ? span.start : row.start, end = span ? span.start + span.length : row.end;
	const left = part(section, start), right = part(section, end);
	if (right < 0 || left > 100) return;
	const bar = make("div", `bar ${span ? span.class : "lens many"}`);
	if (span ? span.error : row.errors) bar.classList.add("error");
	if (span && span.cut) bar.classList.add("cut");
	// Far ends are cut: a browser has no place for what is millions of pixels wide.
	bar.style.left = `${Math.max(left, -1)}%`;
	if (!span || span.class !== "instant")
		bar.style.width = `${Math.min(right, 101) - Math.max(left, -1)}%`;
	time.append(bar);
	drawWord(time, row, left, right);
};

const drawLabel = (element, row) => {
	const label = make("div", "label"), span = row.span;
	label.style.paddingLeft = `${8 + Math.min(row.depth, 30) * 14}px`;
	const fold = make(span && span.children.length ? "button" : "span", "fold");
	if (span && span.children.length) {
		fold.textContent = span.open ? "\u25bc" : "\u25b6";
		fold.tabIndex = -1;
		fold.setAttribute("aria-hidden", "true");
		fold.addEventListener("click", (event) => { event.stopPropagation(); toggle(span); });
	}
	const text = span ? span.label : `\u2026 ${row.count} more ${row.name}`;
	const name = make("span", "name", text);
	name.title = plain(text);
	label.append(fold, name);
	element.append(label);
};

const drawRow = (row, index) => {
	const element = make("div", `row ${row.kind}`);
	element.style.top = `${index * HEIGHT}px`;
	if (row.kind === "title") {
		const title = make("b", "", row.section.title + " ");
		title.append(make("small", "", `from ${row.section.time}, trace ${row.section.trace}`));
		element.append(title);
		element.setAttribute("role", "presentation");
		return element;
	}
	const time = make("div", "time");
	if (row.kind === "axis") {
		element.setAttribute("role", "presentation");
		element.append(make("div", "label", "span"));
		drawGrid(time, row.section, true);
		element.append(time);
		return element;
	}
	element.id = `row${index}`;
	element.setAttribute("role", "treeitem");
	element.setAttribute("aria-level", row.depth + 1);
	if (row.span && row.span.children.length) element.setAttribute("aria-expanded", row.span.open);
	element.setAttribute("aria-selected", row.span !== undefined && row.span === chosen);
	if (row.span && row.span === chosen) element.classList.add("chosen");
	if (row.span && needle) element.classList.add(row.span.found ? "found" : "dim");
	drawLabel(element, row);
	drawGrid(time, row.section, false);
	drawBar(time, row);
	element.append(time);
	element.addEventListener("click", () => {
		if (drag && drag.moved) return;
		if (row.span) choose(row.span, true); else unfold(row.owner);
	});
	return element;
};

// Only what is in sight is in the document: a job may have a hundred thousand spans.
const draw = () => {
	const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 10);
	const end = Math.min(rows.length, first + Math.ceil(list.clientHeight / HEIGHT) + 20);
	const fresh = document.createDocumentFragment();
	for (let index = first; index < end; index++) fresh.append(drawRow(rows[index], index));
	space.replaceChildren(fresh);
	if (chosen && chosen.row !== undefined && rows[chosen.row] && rows[chosen.row].span === chosen)
		list.setAttribute("aria-activedescendant", `row${chosen.row}`);
};
