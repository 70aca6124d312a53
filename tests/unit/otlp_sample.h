/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_OTLP_SAMPLE_H
#define LENS_TESTS_OTLP_SAMPLE_H

#include "lib/otlp/span.h"

#include <math.h>
#include <string.h>

static inline struct lens_trace_id sample_trace(uint8_t fill)
{
	struct lens_trace_id id;

	memset(id.bytes, fill, sizeof(id.bytes));
	return id;
}

static inline struct lens_span_id sample_span(uint8_t fill)
{
	struct lens_span_id id;

	memset(id.bytes, fill, sizeof(id.bytes));
	return id;
}

/* One group, one plain root span. */
static inline struct lens_batch *sample_small(void)
{
	const struct lens_trace_id trace = sample_trace(0x11);
	const struct lens_span_id id = sample_span(0x22);
	struct lens_batch *batch = lens_batch_create("scope", "1");
	struct lens_group *group = lens_batch_add_group(batch);

	lens_attributes_string(lens_group_resource(group), "service.name", "svc");
	lens_span_set_window(lens_group_add_span(group, &trace, &id, "root"), 1, 2);
	return batch;
}

/* Every kind of value, a link, a failed child; and a group without spans, which is not sent. */
static inline struct lens_batch *sample_full(void)
{
	static const char *const purposes[] = { "goodput", "" };
	const struct lens_trace_id trace = sample_trace(0xab), other = sample_trace(0xcd);
	const struct lens_span_id root = sample_span(0x01), child = sample_span(0x02);
	const struct lens_span_id linked = sample_span(0xef);
	struct lens_batch *batch = lens_batch_create("sample-scope", "1.2.3");
	struct lens_group *group = lens_batch_add_group(batch);
	struct lens_attributes *attributes;
	struct lens_span *span;

	attributes = lens_group_resource(group);
	lens_attributes_string(attributes, "service.name", "svc");
	lens_attributes_int(attributes, "slots", 9007199254740993);
	lens_attributes_string(lens_group_resource(lens_batch_add_group(batch)), "empty", "group");

	span = lens_group_add_span(group, &trace, &root, "root \"\\\n\x01 caf\xc3\xa9/");
	lens_span_set_window(span, 1544712660300000001, 1544712661300000002);
	attributes = lens_span_attributes(span);
	lens_attributes_strings(attributes, "purpose", purposes, 2);
	lens_attributes_strings(attributes, "none", NULL, 0);
	lens_attributes_int(attributes, "zero", 0);
	lens_attributes_int(attributes, "least", INT64_MIN);
	lens_attributes_bool(attributes, "no", false);
	lens_attributes_bool(attributes, "yes", true);
	lens_attributes_double(attributes, "half", 0.5);
	lens_attributes_double(attributes, "nan", NAN);
	lens_attributes_double(attributes, "inf", -INFINITY);
	lens_attributes_string(attributes, "blank", "");
	lens_attributes_string(attributes, "twice", "first");
	lens_attributes_string(attributes, "bad", "caf\xe9");
	lens_attributes_int(attributes, "twice", 2);
	lens_attributes_string(lens_span_add_link(span, &other, &linked), "why", "before");

	span = lens_group_add_span(group, &trace, &child, "child");
	lens_span_set_parent(span, &root);
	lens_span_set_window(span, 20, 10);
	lens_span_set_error(span, "exit 3");
	return batch;
}

#endif
