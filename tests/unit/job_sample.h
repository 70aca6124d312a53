/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_UNIT_JOB_SAMPLE_H
#define LENS_TESTS_UNIT_JOB_SAMPLE_H

#include "lib/core/record.h"
#include "lib/core/text.h"
#include "lib/job/resource_fill.h"
#include "lib/otlp/json.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct lens_job_site sample_site = {
	.realm = "",
	.service_name = "slurm",
	.version = "9.9",
};

/* The records of TEXT. */
static inline struct lens_records *sample_records(const char *text)
{
	int fd = memfd_create("records", MFD_CLOEXEC);
	struct lens_records *records;

	assert_int_not_equal(fd, -1);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	records = lens_records_read(fd);
	assert_non_null(records);
	close(fd);
	return records;
}

/* BATCH as an independent reader has it: the list of resourceSpans. */
static inline struct json_object *sample_groups(const struct lens_batch *batch)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct json_object *root, *groups;

	assert_false(lens_batch_failed(batch));
	assert_int_equal(lens_json_encode(batch, &text), 0);
	root = json_tokener_parse(text.data);
	assert_non_null(root);
	groups = json_object_get(json_object_object_get(root, "resourceSpans"));
	json_object_put(root);
	lens_text_clear(&text);
	return groups;
}

static inline struct json_object *sample_spans(struct json_object *group)
{
	struct json_object *scopes = json_object_object_get(group, "scopeSpans");

	assert_int_equal(json_object_array_length(scopes), 1);
	return json_object_object_get(json_object_array_get_idx(scopes, 0), "spans");
}

/* The NTH span NAME of all groups, or NULL. */
static inline struct json_object *sample_span(struct json_object *groups, const char *name,
					      size_t nth)
{
	for (size_t k = 0; k < json_object_array_length(groups); k++) {
		struct json_object *spans = sample_spans(json_object_array_get_idx(groups, k));

		for (size_t i = 0; i < json_object_array_length(spans); i++) {
			struct json_object *span = json_object_array_get_idx(spans, i);
			const char *found =
				json_object_get_string(json_object_object_get(span, "name"));

			if (strcmp(found, name) == 0 && nth-- == 0)
				return span;
		}
	}
	return NULL;
}

static inline size_t sample_count(struct json_object *groups)
{
	if (json_object_array_length(groups) == 0)
		return 0;
	return json_object_array_length(sample_spans(json_object_array_get_idx(groups, 0)));
}

/* A member of a span as text, "" when it is absent. */
static inline const char *sample_field(struct json_object *span, const char *name)
{
	struct json_object *value = json_object_object_get(span, name);

	return value == NULL ? "" : json_object_get_string(value);
}

/* An attribute in the list ATTRIBUTES: `int:3`, `text`, `true`, `[...]`; "" when absent. */
static inline const char *sample_listed(struct json_object *attributes, const char *key)
{
	static char texts[8][512];
	static unsigned int next;
	char *text = texts[next++ % 8];

	for (size_t i = 0; i < json_object_array_length(attributes); i++) {
		struct json_object *one = json_object_array_get_idx(attributes, i);
		struct json_object *value = json_object_object_get(one, "value"), *held;

		if (strcmp(json_object_get_string(json_object_object_get(one, "key")), key) != 0)
			continue;
		if (json_object_object_get_ex(value, "intValue", &held))
			snprintf(text, 512, "int:%s", json_object_get_string(held));
		else if (json_object_object_get_ex(value, "stringValue", &held) ||
			 json_object_object_get_ex(value, "boolValue", &held))
			snprintf(text, 512, "%s", json_object_get_string(held));
		else
			snprintf(text, 512, "%s", json_object_to_json_string(value));
		return text;
	}
	return "";
}

static inline const char *sample_attribute(struct json_object *span, const char *key)
{
	return sample_listed(json_object_object_get(span, "attributes"), key);
}

static inline const char *sample_resource(struct json_object *groups, const char *key)
{
	struct json_object *resource =
		json_object_object_get(json_object_array_get_idx(groups, 0), "resource");

	return sample_listed(json_object_object_get(resource, "attributes"), key);
}

/* 2 for ERROR, 0 for UNSET. */
static inline int sample_status(struct json_object *span)
{
	struct json_object *status = json_object_object_get(span, "status");

	return status == NULL ? 0 : json_object_get_int(json_object_object_get(status, "code"));
}

#define assert_window(span, from, to)                                               \
	do {                                                                        \
		assert_string_equal(sample_field(span, "startTimeUnixNano"), from); \
		assert_string_equal(sample_field(span, "endTimeUnixNano"), to);     \
	} while (0)

#endif
