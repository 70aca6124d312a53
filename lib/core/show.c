/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/show.h"
#include "lib/core/encoding.h"

#include <string.h>

/* How many bytes of valid UTF-8 at TEXT are one control character: 0 when none is. */
static size_t control_length(const char *text)
{
	const unsigned char *byte = (const unsigned char *)text;

	if ((byte[0] < 0x20 && byte[0] != '\0') || byte[0] == 0x7f)
		return 1;
	return byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] <= 0x9f ? 2 : 0;
}

bool lens_value_printable(const char *value)
{
	/* It allocates nothing: no memory would be no answer. */
	bool same = lens_utf8_valid(value, strlen(value));

	for (; same && *value != '\0'; value++)
		same = control_length(value) == 0;
	return same;
}

static void add_escaped(struct lens_text *out, const char *text)
{
	while (*text != '\0') {
		size_t length = control_length(text);

		if (length == 0)
			lens_text_add(out, text++, 1);
		for (; length > 0; length--, text++)
			lens_text_addf(out, "\\x%02X", (unsigned int)(unsigned char)*text);
	}
}

const char *lens_shown_value(struct lens_shown *out, const char *value)
{
	static const char more[] = "...";
	struct lens_text repaired = LENS_TEXT_INIT, escaped = LENS_TEXT_INIT;
	size_t length;

	/* One byte of the value is one of the text at least: more is cut anyway. */
	lens_utf8_add(&repaired, value, strnlen(value, 2 * sizeof(out->text)));
	if (repaired.data != NULL)
		add_escaped(&escaped, repaired.data);
	length = lens_utf8_cut(escaped.data, escaped.length, sizeof(out->text) - sizeof(more));
	if (length > 0 && escaped.data != NULL)
		memcpy(out->text, escaped.data, length);
	strcpy(out->text + length, length < escaped.length ? more : "");
	lens_text_clear(&repaired);
	lens_text_clear(&escaped);
	return out->text;
}
