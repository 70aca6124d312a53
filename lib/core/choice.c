/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/choice.h"
#include "lib/core/carrier.h"
#include "lib/core/encoding.h"
#include "lib/core/show.h"

#include <string.h>
#include <strings.h>

bool lens_run_id_valid(const char *id)
{
	size_t length = strlen(id);

	return length > 0 && length <= LENS_VALUE_MAX && lens_value_printable(id);
}

bool lens_groups_valid(const char *text)
{
	static const char group[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	for (;; text++) {
		size_t length;

		text += strspn(text, " ");
		length = strspn(text, group);
		if (length == 0)
			return false;
		text += length;
		text += strspn(text, " ");
		if (*text == '\0')
			return true;
		if (*text != ',')
			return false;
	}
}

bool lens_attributes_valid(const char *text)
{
	struct lens_carrier_report report = { 0 };
	struct lens_carrier *carrier = lens_carrier_create();
	struct lens_text formatted = LENS_TEXT_INIT;
	bool valid = false;

	if (carrier && lens_carrier_parse(carrier, text, &report) == 0) {
		lens_carrier_format(carrier, &formatted, &report);
		valid = !formatted.failed && report.dropped == 0 && lens_carrier_count(carrier) > 0;
	}
	lens_text_clear(&formatted);
	lens_carrier_destroy(carrier);
	return valid;
}

bool lens_url_valid(const char *text)
{
	const char *host, *at, *colon;
	size_t length;

	if (strncasecmp(text, "http://", 7) == 0)
		host = text + 7;
	else if (strncasecmp(text, "https://", 8) == 0)
		host = text + 8;
	else
		return false;
	length = strcspn(host, "/?#");
	at = memrchr(host, '@', length);
	if (at != NULL) {
		length -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	colon = memchr(host, ':', length);
	if (length == 0 || colon == host || strpbrk(text, " \t") != NULL)
		return false;
	return (*host == '[' || colon == memrchr(host, ':', length)) && lens_value_printable(text);
}

static const char *const outer_names[] = {
	[LENS_OUTER_LINK] = "link",
	[LENS_OUTER_PARENT] = "parent",
	[LENS_OUTER_OFF] = "off",
};

int lens_outer_parse(const char *text, enum lens_outer *out)
{
	for (size_t i = 0; text && i < sizeof(outer_names) / sizeof(outer_names[0]); i++) {
		if (strcasecmp(text, outer_names[i]) == 0) {
			*out = (enum lens_outer)i;
			return 0;
		}
	}
	return -1;
}

const char *lens_outer_name(enum lens_outer outer)
{
	return outer_names[outer];
}
