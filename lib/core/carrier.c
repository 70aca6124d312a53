/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/carrier.h"

#include "lib/core/encoding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char *key;
	char *value;
	uint32_t hash; /* of the key: a user's carrier may have thousands of entries */
};

struct lens_carrier {
	struct entry *entries;
	size_t count;
	size_t capacity;
};

/* A part of a text that somebody else owns. */
struct span {
	const char *bytes;
	size_t length;
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct span span_trim(struct span span)
{
	while (span.length > 0 && is_space(span.bytes[0])) {
		span.bytes++;
		span.length--;
	}
	while (span.length > 0 && is_space(span.bytes[span.length - 1]))
		span.length--;
	return span;
}

static struct span key_span(const char *key)
{
	return span_trim((struct span){ key, strlen(key) });
}

/* FNV-1a. */
static uint32_t key_hash(struct span key)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < key.length; i++)
		hash = (hash ^ (unsigned char)key.bytes[i]) * 16777619U;
	return hash;
}

static struct entry *entry_find(const struct lens_carrier *carrier, struct span key)
{
	uint32_t hash = key_hash(key);

	for (size_t i = 0; i < carrier->count; i++) {
		struct entry *entry = &carrier->entries[i];

		if (entry->hash == hash && strncmp(entry->key, key.bytes, key.length) == 0 &&
		    entry->key[key.length] == '\0')
			return entry;
	}
	return NULL;
}

/* Sets KEY to VALUE, which it takes over, also when it fails. NULL VALUE: no memory. */
static int entry_put(struct lens_carrier *carrier, struct span key, char *value)
{
	struct entry *entry = entry_find(carrier, key);

	if (!value)
		return -1;
	if (entry) {
		free(entry->value);
		entry->value = value;
		return 0;
	}
	if (carrier->count == carrier->capacity) {
		size_t capacity = carrier->capacity ? carrier->capacity * 2 : 32;
		struct entry *entries = reallocarray(carrier->entries, capacity, sizeof(*entries));

		if (!entries)
			goto failed;
		carrier->entries = entries;
		carrier->capacity = capacity;
	}
	entry = &carrier->entries[carrier->count];
	entry->key = strndup(key.bytes, key.length);
	if (!entry->key)
		goto failed;
	entry->value = value;
	entry->hash = key_hash(key);
	carrier->count++;
	return 0;
failed:
	free(value);
	return -1;
}

struct lens_carrier *lens_carrier_create(void)
{
	return calloc(1, sizeof(struct lens_carrier));
}

void lens_carrier_destroy(struct lens_carrier *carrier)
{
	int saved = errno;

	if (!carrier)
		return;
	for (size_t i = 0; i < carrier->count; i++) {
		free(carrier->entries[i].key);
		free(carrier->entries[i].value);
	}
	free(carrier->entries);
	free(carrier);
	errno = saved;
}

/* Counts an entry that was left out. NAME goes to logs: printable, and cut to fit. */
static void report_add(struct lens_carrier_report *report, struct span name)
{
	struct lens_text text = LENS_TEXT_INIT;

	if (!report || report->dropped++ > 0)
		return;
	lens_utf8_add(&text, name.bytes, name.length);
	if (!text.failed) {
		size_t length = lens_utf8_cut(text.data, text.length, sizeof(report->first) - 1);

		for (size_t i = 0; i < length; i++) {
			unsigned char byte = (unsigned char)text.data[i];

			report->first[i] = byte < 0x20 || byte == 0x7F ? '?' : text.data[i];
		}
		report->first[length] = '\0';
	}
	lens_text_clear(&text);
}

/* The decoded and repaired value; NULL with *NUL when a NUL is in it, else no memory. */
static char *value_decode(struct span raw, bool *nul)
{
	struct lens_text decoded = LENS_TEXT_INIT, value = LENS_TEXT_INIT;

	*nul = false;
	lens_percent_decode(&decoded, raw.bytes, raw.length);
	if (decoded.failed) {
		value.failed = true;
	} else if (memchr(decoded.data, '\0', decoded.length)) {
		*nul = true;
		value.failed = true;
	} else {
		lens_utf8_add(&value, decoded.data, decoded.length);
	}
	lens_text_clear(&decoded);
	return lens_text_take(&value);
}

static int entry_parse(struct lens_carrier *carrier, struct span entry,
		       struct lens_carrier_report *report)
{
	const char *equals = memchr(entry.bytes, '=', entry.length);
	struct span key, raw;
	char *value;
	bool nul;

	if (!equals) {
		/* What a spare comma leaves is nothing that a user would miss. */
		if (span_trim(entry).length > 0)
			report_add(report, span_trim(entry));
		return 0;
	}
	key = span_trim((struct span){ entry.bytes, (size_t)(equals - entry.bytes) });
	if (key.length == 0) {
		report_add(report, (struct span){ equals, 1 });
		return 0;
	}
	raw.bytes = equals + 1;
	raw.length = entry.length - (size_t)(raw.bytes - entry.bytes);
	value = value_decode(span_trim(raw), &nul);
	if (nul) {
		report_add(report, key);
		return 0;
	}
	return entry_put(carrier, key, value);
}

int lens_carrier_parse(struct lens_carrier *carrier, const char *text,
		       struct lens_carrier_report *report)
{
	while (text) {
		const char *end = strchrnul(text, ',');

		if (entry_parse(carrier, (struct span){ text, (size_t)(end - text) }, report) < 0)
			return -1;
		text = *end == ',' ? end + 1 : NULL;
	}
	return 0;
}

int lens_carrier_set(struct lens_carrier *carrier, const char *key, const char *value)
{
	return value ? entry_put(carrier, key_span(key), strdup(value)) : 0;
}

int lens_carrier_setf(struct lens_carrier *carrier, const char *key, const char *format, ...)
{
	va_list arguments;
	char *value;
	int length;

	va_start(arguments, format);
	length = vasprintf(&value, format, arguments);
	va_end(arguments);
	return length < 0 ? -1 : entry_put(carrier, key_span(key), value);
}

int lens_carrier_publish(struct lens_carrier *carrier, const char *key, const char *value)
{
	return value ? entry_put(carrier, key_span(key), lens_value_dup(value)) : 0;
}

const char *lens_carrier_get(const struct lens_carrier *carrier, const char *key)
{
	const struct entry *entry = entry_find(carrier, key_span(key));

	return entry ? entry->value : NULL;
}

bool lens_carrier_remove(struct lens_carrier *carrier, const char *key)
{
	struct entry *entry = entry_find(carrier, key_span(key));
	size_t index;

	if (!entry)
		return false;
	index = (size_t)(entry - carrier->entries);
	free(entry->key);
	free(entry->value);
	carrier->count--;
	memmove(entry, entry + 1, (carrier->count - index) * sizeof(*entry));
	return true;
}

size_t lens_carrier_count(const struct lens_carrier *carrier)
{
	return carrier->count;
}

const char *lens_carrier_key(const struct lens_carrier *carrier, size_t index)
{
	return carrier->entries[index].key;
}

const char *lens_carrier_value(const struct lens_carrier *carrier, size_t index)
{
	return carrier->entries[index].value;
}

struct lens_carrier *lens_carrier_compose(const struct lens_carrier *defaults,
					  const struct lens_carrier *current,
					  const struct lens_carrier *overrides)
{
	const struct lens_carrier *layers[] = { defaults, current, overrides };
	struct lens_carrier *composed = lens_carrier_create();

	if (!composed)
		return NULL;
	for (size_t layer = 0; layer < 3; layer++) {
		for (size_t i = 0; layers[layer] && i < layers[layer]->count; i++) {
			const struct entry *entry = &layers[layer]->entries[i];

			if (lens_carrier_set(composed, entry->key, entry->value) < 0) {
				lens_carrier_destroy(composed);
				return NULL;
			}
		}
	}
	return composed;
}

/* Whether every reader takes KEY (trimmed) as it is. */
static bool key_is_plain(const char *key)
{
	if (*key == '\0' || strpbrk(key, ",="))
		return false;
	for (key = strchr(key, '%'); key; key = strchr(key + 1, '%')) {
		if (!lens_percent_escape(key, strlen(key)))
			return false;
	}
	return true;
}

void lens_carrier_format(const struct lens_carrier *carrier, struct lens_text *out,
			 struct lens_carrier_report *report)
{
	const char *separator = "";

	for (size_t i = 0; i < carrier->count; i++) {
		const struct entry *entry = &carrier->entries[i];

		if (!key_is_plain(entry->key)) {
			report_add(report, (struct span){ entry->key, strlen(entry->key) });
			continue;
		}
		lens_text_adds(out, separator);
		lens_text_adds(out, entry->key);
		lens_text_adds(out, "=");
		lens_percent_encode(out, entry->value, strlen(entry->value));
		separator = ",";
	}
}
