// SPDX-License-Identifier: Apache-2.0
// The page of `show --html`: what one does with it: choosing, zooming, searching, keys.
const toggle = (span) => { span.open = !span.open; layRows(); };
const unfold = (owner) => { owner.unfolded = true; layRows(); };

const reveal = (index) => {
	const top = index * HEIGHT;
	if (top < list.scrollTop + HEIGHT) list.scrollTop = Math.max(0, top - 3 * HEIGHT);
	else if (top + 2 * HEIGHT > list.scrollTop + list.clientHeight)
		list.scrollTop = top + 4 * HEIGHT - list.clientHeight;
};

const table = (pairs) => {
	const body = make("table");
	for (const [key, value] of pairs) {
		const line = make("tr");
		const head = make("th", "", key);
		head.scope = "row";
		line.append(head, make("td", "", value));
		body.append(line);
	}
	return body;
};

const sorted = (pairs) => [...pairs].sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);

const drawPanel = () => {
	const span = chosen;
	panel.replaceChildren();
	panel.classList.toggle("hidden", !span);
	if (!span) return;
	const close = make("button", "close", "\u00d7");
	close.setAttribute("aria-label", "Close");
	close.addEventListener("click", () => choose(null, false));
	panel.append(close, make("h2", "", span.label));
	const facts = [["began", span.time], ["after", `+${duration(span.start)}`],
		["length", duration(span.length)], ["trace", span.section.trace], ["span", span.id]];
	if (span.parent) facts.push(["parent", span.parent]);
	if (span.scope) facts.push(["scope", span.scope]);
	if (span.outcome) facts.unshift(["outcome", span.outcome]);
	if (span.message) facts.push(["message", span.message]);
	panel.append(table(facts), make("h3", "", "Attributes"), table(sorted(span.attributes)));
	if (span.events) {
		panel.append(make("h3", "", "Events"));
		for (const [at, name, attributes] of span.events)
			panel.append(make("div", "", `+${duration(Math.max(at, 0))} ${name}`), table(sorted(attributes)));
	}
	if (span.links)
		panel.append(make("h3", "", "Links"),
			table(span.links.map(([trace, id]) => [`trace ${trace}`, `span ${id}`])));
	const resource = make("details");
	resource.open = true;
	resource.append(make("summary", "", "RESOURCE"), table(sorted(data.resources[span.resource])));
	panel.append(resource);
	panel.scrollTop = 0;
};

const choose = (span, keepPlace) => {
	chosen = span;
	drawPanel();
	if (span && !keepPlace) reveal(span.row);
	draw();
};

// --- zoom: each attempt has an axis of its own

const sectionOf = (element) => {
	const row = element && element.closest ? element.closest(".row") : null;
	return row ? rows[Math.round(parseFloat(row.style.top) / HEIGHT)].section : null;
};

const current = () => {
	if (chosen) return chosen.section;
	const row = rows[Math.min(rows.length - 1, Math.ceil(list.scrollTop / HEIGHT) + 1)];
	return row ? row.section : data.sections[0];
};

const view = (section, from, to) => {
	const most = Math.max(section.length, 1), length = Math.min(Math.max(to - from, 10), most);
	section.from = Math.min(Math.max(from, 0), most - length);
	section.to = section.from + length;
	draw();
};

const zoom = (section, factor, at) => {
	const length = section.to - section.from, middle = section.from + length * at;
	view(section, middle - length * factor * at, middle + length * factor * (1 - at));
};

const pan = (section, share) => {
	const shift = (section.to - section.from) * share;
	view(section, section.from + shift, section.to + shift);
};

list.addEventListener("wheel", (event) => {
	const time = event.target.closest(".time");
	const axis = event.target.closest(".axis");
	if (!time || !(event.ctrlKey || event.metaKey || event.shiftKey || axis)) return;
	const section = sectionOf(time), box = time.getBoundingClientRect();
	event.preventDefault();
	if (event.shiftKey) pan(section, Math.sign(event.deltaY || event.deltaX) * 0.1);
	else zoom(section, event.deltaY > 0 ? 1.25 : 0.8, (event.clientX - box.left) / box.width);
}, { passive: false });

const share = (event) => {
	const at = (event.clientX - drag.box.left) / drag.box.width;
	return Math.min(Math.max(at, 0), 1);
};

list.addEventListener("pointerdown", (event) => {
	const time = event.target.closest(".time");
	if (!time || event.button !== 0 || event.pointerType === "touch") return;
	drag = { section: sectionOf(time), box: time.getBoundingClientRect(), moved: false };
	drag.from = share(event);
});

addEventListener("pointermove", (event) => {
	if (!drag || !(event.buttons & 1)) return;
	const to = share(event);
	if (!drag.moved && Math.abs(to - drag.from) * drag.box.width < 5) return;
	drag.moved = true;
	drag.to = to;
	let mark = byId("mark");
	if (!mark) {
		mark = make("div");
		mark.id = "mark";
		space.append(mark);
	}
	const origin = space.getBoundingClientRect().left;
	mark.style.left = `${drag.box.left - origin + Math.min(drag.from, to) * drag.box.width}px`;
	mark.style.width = `${Math.abs(to - drag.from) * drag.box.width}px`;
	event.preventDefault();
});

addEventListener("pointerup", () => {
	if (!drag) return;
	const done = drag;
	// The click that follows must still know that it was a drag.
	setTimeout(() => { drag = null; }, 0);
	if (!done.moved) return;
	const length = done.section.to - done.section.from, from = done.section.from;
	view(done.section, from + length * Math.min(done.from, done.to),
		from + length * Math.max(done.from, done.to));
});

list.addEventListener("dblclick", (event) => {
	const section = event.target.closest(".time") ? sectionOf(event.target) : null;
	if (section) view(section, 0, section.length);
});

// --- search

const matchesOf = (span) => {
	const has = (text) => text.toLowerCase().includes(needle);
	return has(span.label) || has(span.outcome) || has(span.message) || has(span.id) ||
		span.attributes.some(([key, value]) => has(key) || has(value) || has(`${key}=${value}`));
};

const show = (span) => {
	for (let above = span.above, below = span; below; below = above, above = below ? below.above : null) {
		if (above) above.open = true;
		const owner = above || span.section;
		if (!everything && some(above ? above.children : span.section.roots).has(below)) owner.unfolded = true;
	}
	layRows();
	choose(span, false);
};

const tell = () => {
	byId("found").textContent = !needle ? "" : matches.length === 0 ? "nothing found" :
		match < 0 ? `${matches.length} found` : `${match + 1} of ${matches.length}`;
};

const search = () => {
	needle = byId("search").value.trim().toLowerCase();
	matches = [];
	match = -1;
	for (const section of data.sections)
		for (const span of section.spans) {
			span.found = needle !== "" && matchesOf(span);
			if (span.found) matches.push(span);
		}
	tell();
	draw();
};

const step = (direction) => {
	if (matches.length === 0) return;
	match = match < 0 && direction < 0 ? matches.length - 1 :
		(match + direction + matches.length) % matches.length;
	show(matches[match]);
	tell();
};

byId("search").addEventListener("input", search);
byId("search").addEventListener("keydown", (event) => {
	if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
	else if (event.key === "Escape") { byId("search").value = ""; search(); list.focus(); }
	else return;
	event.preventDefault();
});

// --- keys

const move = (by) => {
	let at = chosen && rows[chosen.row] && rows[chosen.row].span === chosen ? chosen.row : by > 0 ? 0 : rows.length;
	for (let left = Math.abs(by); left > 0; left--) {
		let next = at + Math.sign(by);
		while (rows[next] && rows[next].kind !== "span" && rows[next].kind !== "more") next += Math.sign(by);
		if (!rows[next]) break;
		if (rows[next].kind === "more") { unfold(rows[next].owner); return move(left * Math.sign(by)); }
		at = next;
	}
	if (rows[at] && rows[at].span) choose(rows[at].span, false);
};

const keys = {
	ArrowDown: () => move(1), ArrowUp: () => move(-1), PageDown: () => move(15), PageUp: () => move(-15),
	Home: () => { chosen = null; move(1); }, End: () => { chosen = null; move(-1); },
	ArrowRight: (event) => {
		if (event.shiftKey) return pan(current(), 0.2);
		if (chosen && chosen.children.length && !chosen.open) toggle(chosen); else move(1);
	},
	ArrowLeft: (event) => {
		if (event.shiftKey) return pan(current(), -0.2);
		if (chosen && chosen.children.length && chosen.open) toggle(chosen);
		else if (chosen && chosen.above) choose(chosen.above, false);
	},
	Enter: () => { if (chosen) panel.focus(); }, "+": () => zoom(current(), 0.5, 0.5),
	"=": () => zoom(current(), 0.5, 0.5), "-": () => zoom(current(), 2, 0.5),
	"0": () => view(current(), 0, current().length), n: () => step(1), p: () => step(-1),
};

list.addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
	event.preventDefault();
	keys[event.key](event);
});

addEventListener("keydown", (event) => {
	if (event.target === byId("search")) return;
	if (event.key === "/") { byId("search").focus(); event.preventDefault(); }
	else if (event.key === "Escape" && chosen) { choose(null, false); list.focus(); }
});

// --- the head of the page

const drawOverview = () => {
	if (data.sections.length < 2) return;
	const total = data.sections.reduce((most, one) => Math.max(most, one.offset + one.length), 1);
	for (const section of data.sections) {
		const button = make("button"), track = make("span", "track");
		const piece = (names, from, to) => {
			const bar = make("i", names);
			bar.style.left = `${from / total * 100}%`;
			bar.style.width = `${Math.max(to - from, 0) / total * 100}%`;
			if (to > from) track.append(bar);
		};
		piece("wait", section.offset, section.offset + section.run);
		piece(section.failed ? "error" : "lens", section.offset + section.run, section.offset + section.length);
		button.append(make("span", "text", section.title), track);
		button.addEventListener("click", () => {
			list.scrollTop = rows.findIndex((row) => row.section === section) * HEIGHT;
			draw();
		});
		byId("overview").append(button);
	}
};

byId("title").textContent = plain(data.title);
document.title = plain(data.title);
byId("in").addEventListener("click", () => zoom(current(), 0.5, 0.5));
byId("out").addEventListener("click", () => zoom(current(), 2, 0.5));
byId("all").addEventListener("click", () => view(current(), 0, current().length));
byId("fold").addEventListener("click", () => {
	everything = !everything;
	byId("fold").setAttribute("aria-pressed", everything);
	layRows();
});
byId("theme").addEventListener("click", () => {
	const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" :
		matchMedia("(prefers-color-scheme: dark)").matches;
	document.documentElement.dataset.theme = dark ? "light" : "dark";
});
list.addEventListener("scroll", draw);
addEventListener("resize", draw);
document.documentElement.style.setProperty("--labels", "minmax(240px, 34%)");
drawOverview();
layRows();
