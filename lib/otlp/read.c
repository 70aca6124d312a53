/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/read.h"

#include "lib/otlp/json_parse.h"
#include "lib/otlp/read_value.h"

#include <json-c/json.h>

#include <ctype.h>
#include <string.h>

/* Ten levels are OTLP's own; the rest is for values in values. */
#define NESTING_MAX 64

struct reading {
	lens_read_fn *fn;
	void *context;
	struct lens_read_counts *counts;
};

static enum lens_span_status status_read(struct json_object *status)
{
	struct json_object *code = lens_read_member(status, "code");
	uint64_t number;

	if (lens_read_uint64(code, &number) == 0)
		return number == LENS_STATUS_OK      ? LENS_STATUS_OK
		       : number == LENS_STATUS_ERROR ? LENS_STATUS_ERROR
						     : LENS_STATUS_UNSET;
	/* Plain protobuf JSON, which some write, names it. */
	if (json_object_is_type(code, json_type_string)) {
		if (strcmp(json_object_get_string(code), "STATUS_CODE_ERROR") == 0)
			return LENS_STATUS_ERROR;
		if (strcmp(json_object_get_string(code), "STATUS_CODE_OK") == 0)
			return LENS_STATUS_OK;
	}
	return LENS_STATUS_UNSET;
}

/* VALUE is hex. */
static bool has_capitals(struct json_object *value)
{
	return strpbrk(json_object_get_string(value), "ABCDEF") != NULL;
}

static int span_read(struct lens_read_span *span)
{
	struct json_object *end = lens_read_member(span->json, "endTimeUnixNano");
	char parent[LENS_SPAN_HEX];

	/* All zero is as good as none. */
	lens_read_hex(lens_read_member(span->json, "parentSpanId"), parent, sizeof(parent));
	span->has_parent = lens_span_id_parse(&span->parent, parent) == 0;
	if (lens_read_ids(span->json, &span->trace, &span->span) != 0 ||
	    lens_read_uint64(lens_read_member(span->json, "startTimeUnixNano"), &span->start_ns) !=
		    0)
		return -1;
	if (lens_read_uint64(end, &span->end_ns) != 0 || span->end_ns < span->start_ns)
		span->end_ns = span->start_ns;
	span->status = status_read(lens_read_member(span->json, "status"));
	span->capitals = has_capitals(lens_read_member(span->json, "traceId"));
	return 0;
}

static int spans_read(const struct reading *reading, struct json_object *spans,
		      struct json_object *resource, struct json_object *scope)
{
	size_t count = lens_read_count(spans);
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		struct lens_read_span span = {
			.json = json_object_array_get_idx(spans, i),
			.resource = resource,
			.scope = scope,
		};

		if (span_read(&span) != 0) {
			reading->counts->bad++;
			continue;
		}
		reading->counts->spans++;
		rc = reading->fn(reading->context, &span);
	}
	return rc;
}

static int group_read(const struct reading *reading, struct json_object *group)
{
	struct json_object *scopes = lens_read_member(group, "scopeSpans");
	size_t count = lens_read_count(scopes);
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		struct json_object *scoped = json_object_array_get_idx(scopes, i);

		rc = spans_read(reading, lens_read_member(scoped, "spans"),
				lens_read_member(group, "resource"),
				lens_read_member(scoped, "scope"));
	}
	return rc;
}

int lens_read_line(const char *line, size_t length, lens_read_fn *fn, void *context,
		   struct lens_read_counts *counts, struct lens_error *err)
{
	const struct reading reading = { .fn = fn, .context = context, .counts = counts };
	const struct lens_json_wanted wanted = { .nesting = NESTING_MAX };
	struct json_object *root, *groups;
	size_t count;
	int rc = 0;

	while (length > 0 && isspace((unsigned char)line[length - 1]))
		length--;
	if (length == 0)
		return 0;
	if (length > LENS_READ_LINE_MAX)
		return lens_error_set(err, "it is longer than 64 MiB");
	root = lens_json_parse(line, length, &wanted, err);
	if (root == NULL)
		return -1;
	groups = lens_read_member(root, "resourceSpans");
	count = lens_read_count(groups);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = group_read(&reading, json_object_array_get_idx(groups, i));
	json_object_put(root);
	return rc;
}

void lens_read_name(const struct lens_read_span *span, struct lens_text *out)
{
	lens_read_string(lens_read_member(span->json, "name"), out);
}

static bool attribute_add(struct json_object *list, const char *key, struct lens_text *out)
{
	struct json_object *value = lens_read_find(list, key);

	if (value == NULL)
		return false;
	lens_read_any(value, out);
	return true;
}

bool lens_read_attribute(const struct lens_read_span *span, const char *key, struct lens_text *out)
{
	return attribute_add(lens_read_member(span->json, "attributes"), key, out);
}

bool lens_read_resource(const struct lens_read_span *span, const char *key, struct lens_text *out)
{
	return attribute_add(lens_read_member(span->resource, "attributes"), key, out);
}
