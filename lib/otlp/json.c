/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/json.h"

#include "lib/otlp/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STATUS_OK    1
#define STATUS_ERROR 2

/*
 * Written straight into the text, which remembers that memory ran out. json-c (0.16)
 * does not: it hands over a cut line as if it were whole.
 */

/* STRING is valid UTF-8; only what JSON demands is escaped. */
static void string_write(struct lens_text *out, const char *string)
{
	const char *plain = string;

	lens_text_add(out, "\"", 1);
	for (const char *c = string; *c; c++) {
		if ((unsigned char)*c >= ' ' && *c != '"' && *c != '\\')
			continue;
		lens_text_add(out, plain, (size_t)(c - plain));
		plain = c + 1;
		if (*c == '"' || *c == '\\')
			lens_text_addf(out, "\\%c", *c);
		else if (*c == '\n')
			lens_text_adds(out, "\\n");
		else
			lens_text_addf(out, "\\u%04x", (unsigned int)*c);
	}
	lens_text_adds(out, plain);
	lens_text_add(out, "\"", 1);
}

static void double_write(struct lens_text *out, double value)
{
	char digits[40];
	bool point = false;

	if (isnan(value) || isinf(value)) {
		lens_text_adds(out, isnan(value) ? "\"NaN\""
				    : value > 0  ? "\"Infinity\""
						 : "\"-Infinity\"");
		return;
	}
	snprintf(digits, sizeof(digits), "%.17g", value);
	/* The locale's decimal point, of one or more bytes, is all that is no digit, sign or e. */
	for (const char *c = digits; *c; c++) {
		if (strchr("0123456789+-e", *c)) {
			lens_text_add(out, c, 1);
		} else if (!point) {
			lens_text_add(out, ".", 1);
			point = true;
		}
	}
}

static void string_value_write(struct lens_text *out, const char *string)
{
	lens_text_adds(out, "{\"stringValue\":");
	string_write(out, string);
	lens_text_adds(out, "}");
}

static void value_write(struct lens_text *out, const struct lens_value *value)
{
	switch (value->kind) {
	case LENS_VALUE_STRING:
		string_value_write(out, value->string);
		break;
	case LENS_VALUE_INT:
		lens_text_addf(out, "{\"intValue\":\"%" PRId64 "\"}", value->integer);
		break;
	case LENS_VALUE_BOOL:
		lens_text_addf(out, "{\"boolValue\":%s}", value->boolean ? "true" : "false");
		break;
	case LENS_VALUE_DOUBLE:
		lens_text_adds(out, "{\"doubleValue\":");
		double_write(out, value->number);
		lens_text_adds(out, "}");
		break;
	case LENS_VALUE_STRINGS:
		lens_text_adds(out, "{\"arrayValue\":{\"values\":[");
		for (size_t i = 0; i < value->strings.count; i++) {
			lens_text_adds(out, i ? "," : "");
			string_value_write(out, value->strings.items[i]);
		}
		lens_text_adds(out, "]}}");
		break;
	}
}

static void attributes_write(struct lens_text *out, const struct lens_attributes *attributes)
{
	const struct lens_attribute *attribute;

	lens_text_adds(out, "\"attributes\":[");
	for (attribute = attributes->first; attribute; attribute = attribute->next) {
		lens_text_adds(out, "{\"key\":");
		string_write(out, attribute->key);
		lens_text_adds(out, ",\"value\":");
		value_write(out, &attribute->value);
		lens_text_adds(out, attribute->next ? "}," : "}");
	}
	lens_text_adds(out, "]");
}

static void ids_write(struct lens_text *out, const struct lens_trace_id *trace,
		      const struct lens_span_id *span)
{
	char trace_hex[LENS_TRACE_HEX], span_hex[LENS_SPAN_HEX];

	lens_trace_id_hex(trace_hex, trace);
	lens_span_id_hex(span_hex, span);
	lens_text_addf(out, "\"traceId\":\"%s\",\"spanId\":\"%s\",", trace_hex, span_hex);
}

static void links_write(struct lens_text *out, const struct lens_link *links)
{
	lens_text_adds(out, ",\"links\":[");
	for (const struct lens_link *link = links; link; link = link->next) {
		lens_text_adds(out, "{");
		ids_write(out, &link->trace, &link->span);
		attributes_write(out, &link->attributes);
		lens_text_addf(out, ",\"flags\":%d}%s", LENS_SPAN_FLAGS, link->next ? "," : "");
	}
	lens_text_adds(out, "]");
}

static void span_write(struct lens_text *out, const struct lens_span *span)
{
	char parent[LENS_SPAN_HEX];

	lens_text_adds(out, "{");
	ids_write(out, &span->trace, &span->span);
	if (span->has_parent) {
		lens_span_id_hex(parent, &span->parent);
		lens_text_addf(out, "\"parentSpanId\":\"%s\",", parent);
	}
	lens_text_adds(out, "\"name\":");
	string_write(out, span->name);
	lens_text_addf(out, ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64 "\",", (int)span->kind,
		       span->start_ns);
	lens_text_addf(out, "\"endTimeUnixNano\":\"%" PRIu64 "\",", span->end_ns);
	attributes_write(out, &span->attributes);
	if (span->links)
		links_write(out, span->links);
	if (span->is_error) {
		lens_text_addf(out, ",\"status\":{\"code\":%d,\"message\":", STATUS_ERROR);
		string_write(out, span->error);
		lens_text_adds(out, "}");
	} else if (span->is_ok) {
		lens_text_addf(out, ",\"status\":{\"code\":%d}", STATUS_OK);
	}
	lens_text_addf(out, ",\"flags\":%d}", span->flags);
}

static void group_write(struct lens_text *out, const struct lens_batch *batch,
			const struct lens_group *group)
{
	lens_text_adds(out, "{\"resource\":{");
	attributes_write(out, &group->resource);
	lens_text_adds(out, "},\"scopeSpans\":[{\"scope\":{\"name\":");
	string_write(out, batch->scope_name);
	lens_text_adds(out, ",\"version\":");
	string_write(out, batch->scope_version);
	lens_text_adds(out, "},\"spans\":[");
	for (const struct lens_span *span = group->spans; span; span = span->next) {
		span_write(out, span);
		lens_text_adds(out, span->next ? "," : "");
	}
	lens_text_adds(out, "]}]}");
}

int lens_json_encode(const struct lens_batch *batch, struct lens_text *out)
{
	const char *separator = "";

	lens_text_adds(out, "{\"resourceSpans\":[");
	for (const struct lens_group *group = batch->groups; group; group = group->next) {
		if (group->span_count == 0)
			continue;
		lens_text_adds(out, separator);
		group_write(out, batch, group);
		separator = ",";
	}
	lens_text_adds(out, "]}\n");
	return out->failed ? -1 : 0;
}
