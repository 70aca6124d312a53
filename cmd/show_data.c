/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_html.h"

#include "cmd/show_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Written straight into the text, as lib/otlp/json.c does and for the same reason. Beyond
 * what JSON demands `<`, `>` and `&` are escaped: nothing in a value can end the element.
 */
static void string_add(struct lens_text *out, const char *string)
{
	const char *plain = string;

	lens_text_adds(out, "\"");
	for (const char *c = string; *c != '\0'; c++) {
		if ((unsigned char)*c >= ' ' && strchr("\"\\<>&", *c) == NULL)
			continue;
		lens_text_add(out, plain, (size_t)(c - plain));
		plain = c + 1;
		lens_text_addf(out, "\\u%04x", (unsigned int)*c);
	}
	lens_text_adds(out, plain);
	lens_text_adds(out, "\"");
}

static void text_member_add(struct lens_text *out, const char *key, struct lens_text *text)
{
	lens_text_addf(out, ",\"%s\":", key);
	string_add(out, text->data != NULL ? text->data : "");
	out->failed = out->failed || text->failed;
	lens_text_clear(text);
}

/* [["key","text"],...] */
static void list_add(struct lens_text *out, const struct lens_kept_list *list)
{
	lens_text_adds(out, "[");
	for (size_t i = 0; i < list->count; i++) {
		lens_text_adds(out, i > 0 ? ",[" : "[");
		string_add(out, list->items[i].key);
		lens_text_adds(out, ",");
		string_add(out, list->items[i].text);
		lens_text_adds(out, "]");
	}
	lens_text_adds(out, "]");
}

static const char *class_of(enum show_kind kind)
{
	switch (kind) {
	case SHOW_WAIT:
		return "wait";
	case SHOW_INSTANT:
		return "instant";
	case SHOW_EDGE:
		return "edge";
	case SHOW_OTHER:
		return "other";
	default:
		return "lens";
	}
}

static void events_add(struct lens_text *out, const struct lens_kept_span *span, uint64_t begin)
{
	lens_text_adds(out, ",\"events\":[");
	for (size_t i = 0; i < span->event_count; i++) {
		const struct lens_kept_event *event = &span->events[i];

		lens_text_addf(out, "%s[%" PRId64 ",", i > 0 ? "," : "",
			       (int64_t)(event->time_ns - begin));
		string_add(out, event->name);
		lens_text_adds(out, ",");
		list_add(out, &event->attributes);
		lens_text_adds(out, "]");
	}
	lens_text_adds(out, "]");
}

static void links_add(struct lens_text *out, const struct lens_kept_span *span)
{
	lens_text_adds(out, ",\"links\":[");
	for (size_t i = 0; i < span->link_count; i++) {
		char trace[LENS_TRACE_HEX], id[LENS_SPAN_HEX];

		lens_trace_id_hex(trace, &span->links[i].trace);
		lens_span_id_hex(id, &span->links[i].span);
		lens_text_addf(out, "%s[\"%s\",\"%s\"]", i > 0 ? "," : "", trace, id);
	}
	lens_text_adds(out, "]");
}

/* Times are nanoseconds from the section's begin: exact in a browser's numbers for 104 days. */
static void span_add(struct lens_text *out, const struct show_section *section,
		     const struct show_span *span)
{
	const struct lens_kept_span *kept = span->kept;
	struct lens_text text = LENS_TEXT_INIT;
	char id[LENS_SPAN_HEX];

	lens_span_id_hex(id, &kept->span);
	lens_text_addf(
		out, "{\"id\":\"%s\",\"depth\":%zu,\"start\":%" PRIu64 ",\"length\":%" PRIu64, id,
		span->depth, kept->start_ns - section->start_ns, kept->end_ns - kept->start_ns);
	lens_text_addf(out, ",\"class\":\"%s\",\"error\":%s,\"cut\":%s,\"resource\":%zu",
		       class_of(span->kind), kept->status == LENS_STATUS_ERROR ? "true" : "false",
		       span->truncated ? "true" : "false", kept->resource->number);
	lens_text_adds(&text, kept->name);
	text_member_add(out, "name", &text);
	show_label_add(&text, span);
	text_member_add(out, "label", &text);
	show_outcome_add(&text, span);
	text_member_add(out, "outcome", &text);
	lens_text_adds(&text, kept->message);
	text_member_add(out, "message", &text);
	lens_text_adds(&text, kept->scope);
	text_member_add(out, "scope", &text);
	show_time_add(&text, kept->start_ns);
	text_member_add(out, "time", &text);
	if (kept->has_parent) {
		lens_span_id_hex(id, &kept->parent);
		lens_text_addf(out, ",\"parent\":\"%s\"", id);
	}
	lens_text_adds(out, ",\"attributes\":");
	list_add(out, &kept->attributes);
	if (kept->event_count > 0)
		events_add(out, kept, section->start_ns);
	if (kept->link_count > 0)
		links_add(out, kept);
	lens_text_adds(out, "}");
}

static void section_add(struct lens_text *out, const struct show_section *section, uint64_t begin)
{
	struct lens_text text = LENS_TEXT_INIT;
	char trace[LENS_TRACE_HEX];

	lens_trace_id_hex(trace, &section->trace);
	lens_text_addf(out, "{\"trace\":\"%s\",\"offset\":%" PRIu64 ",\"length\":%" PRIu64, trace,
		       section->start_ns - begin, section->end_ns - section->start_ns);
	lens_text_addf(out, ",\"run\":%" PRIu64 ",\"failed\":%s",
		       section->run_ns < section->end_ns ? section->run_ns - section->start_ns
							 : section->end_ns - section->start_ns,
		       show_section_failed(section) ? "true" : "false");
	show_section_add(&text, section);
	text_member_add(out, "title", &text);
	show_time_add(&text, section->start_ns);
	text_member_add(out, "time", &text);
	lens_text_adds(out, ",\"spans\":[");
	for (const struct show_span *span = section->first; span != NULL;
	     span = show_span_next(span)) {
		lens_text_adds(out, span != section->first ? ",\n" : "\n");
		span_add(out, section, span);
	}
	lens_text_adds(out, "]}");
}

/* Each distinct resource once, by its number. */
static void resources_add(struct lens_text *out, const struct show_picture *picture)
{
	const struct lens_kept_resource **resources =
		calloc(picture->span_count + 1, sizeof(const struct lens_kept_resource *));
	size_t count = 0;

	if (resources == NULL) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < picture->span_count; i++) {
		const struct lens_kept_resource *resource = picture->spans[i].kept->resource;

		resources[resource->number] = resource;
		count = resource->number >= count ? resource->number + 1 : count;
	}
	lens_text_adds(out, ",\"resources\":[");
	for (size_t i = 0; i < count; i++) {
		lens_text_adds(out, i > 0 ? ",\n" : "\n");
		list_add(out, &resources[i]->attributes);
	}
	lens_text_adds(out, "]");
	free(resources);
}

void show_data_add(struct lens_text *out, const struct show_picture *picture)
{
	struct lens_text text = LENS_TEXT_INIT;

	show_title_add(&text, picture);
	lens_text_adds(out, "{\"title\":");
	string_add(out, text.data != NULL ? text.data : "");
	lens_text_clear(&text);
	resources_add(out, picture);
	lens_text_adds(out, ",\"sections\":[");
	for (size_t i = 0; i < picture->section_count; i++) {
		lens_text_adds(out, i > 0 ? ",\n" : "");
		section_add(out, &picture->sections[i], picture->sections[0].start_ns);
	}
	lens_text_adds(out, "]}");
}
