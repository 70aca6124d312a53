/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/carrier_parts.h"
#include "lib/core/encoding.h"

#include <stdlib.h>
#include <string.h>

/* Counts an entry that was left out. NAME goes to logs: printable, and cut to fit. */
static void report_add(struct lens_carrier_report *report, struct lens_slice name)
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

/* Whether RAW is its own decoded form. */
static bool value_is_plain(struct lens_slice raw)
{
	for (size_t i = 0; i < raw.length; i++) {
		unsigned char byte = (unsigned char)raw.bytes[i];

		if (byte == '%' || byte >= 0x80)
			return false;
	}
	return true;
}

/* Puts KEY with the decoded and repaired RAW; an entry with a NUL in it is dropped. */
static int value_put(struct lens_carrier *carrier, struct lens_slice key, struct lens_slice raw,
		     struct lens_carrier_report *report)
{
	struct lens_text decoded = LENS_TEXT_INIT, value = LENS_TEXT_INIT;
	int rc = -1;

	if (value_is_plain(raw))
		return lens_carrier_put(carrier, key, raw);
	lens_percent_decode(&decoded, raw.bytes, raw.length);
	if (decoded.failed)
		goto out;
	if (memchr(decoded.data, '\0', decoded.length)) {
		report_add(report, key);
		rc = 0;
		goto out;
	}
	lens_utf8_add(&value, decoded.data, decoded.length);
	if (!value.failed)
		rc = lens_carrier_put(carrier, key,
				      (struct lens_slice){ value.data, value.length });
out:
	lens_text_clear(&decoded);
	lens_text_clear(&value);
	return rc;
}

static int entry_parse(struct lens_carrier *carrier, struct lens_slice entry,
		       struct lens_carrier_report *report)
{
	const char *equals = memchr(entry.bytes, '=', entry.length);
	struct lens_slice key, raw;

	if (!equals) {
		/* What a spare comma leaves is nothing that a user would miss. */
		if (lens_slice_trim(entry).length > 0)
			report_add(report, lens_slice_trim(entry));
		return 0;
	}
	key = lens_slice_trim((struct lens_slice){ entry.bytes, (size_t)(equals - entry.bytes) });
	if (key.length == 0) {
		report_add(report, (struct lens_slice){ equals, 1 });
		return 0;
	}
	raw.bytes = equals + 1;
	raw.length = entry.length - (size_t)(raw.bytes - entry.bytes);
	return value_put(carrier, key, lens_slice_trim(raw), report);
}

int lens_carrier_parse(struct lens_carrier *carrier, const char *text,
		       struct lens_carrier_report *report)
{
	if (text && lens_carrier_reserve(carrier, text) < 0)
		return -1;
	while (text) {
		const char *end = strchrnul(text, ',');

		if (entry_parse(carrier, (struct lens_slice){ text, (size_t)(end - text) },
				report) < 0)
			return -1;
		text = *end == ',' ? end + 1 : NULL;
	}
	return 0;
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

	for (size_t i = 0; i < lens_carrier_count(carrier); i++) {
		const char *key = lens_carrier_key(carrier, i);
		const char *value = lens_carrier_value(carrier, i);

		if (!key_is_plain(key)) {
			report_add(report, (struct lens_slice){ key, strlen(key) });
			continue;
		}
		lens_text_adds(out, separator);
		lens_text_adds(out, key);
		lens_text_adds(out, "=");
		lens_percent_encode(out, value, strlen(value));
		separator = ",";
	}
}
