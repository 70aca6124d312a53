/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/headers.h"

#include "lib/core/encoding.h"
#include "lib/core/text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#define REDACT_MIN 6 /* shorter words are in any message */

/* What the request is made of is not the site's to change. */
static bool name_is_ours(const char *name, size_t length)
{
	static const char *const names[] = {
		"Connection",       "Expect", "Host",    "Keep-Alive",
		"Proxy-Connection", "TE",     "Trailer", "Transfer-Encoding",
		"Upgrade"
	};
	static const char *const beginnings[] = { "Content-", "grpc-" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (length == strlen(names[i]) && strncasecmp(name, names[i], length) == 0)
			return true;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (length >= strlen(beginnings[i]) &&
		    strncasecmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

/* RFC 9110, 5.6.2. */
static bool name_is_token(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!name[i] ||
		    (!isalnum((unsigned char)name[i]) && !strchr("!#$%&'*+-.^_`|~", name[i])))
			return false;
	return length > 0;
}

static bool value_is_valid(const char *value, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7f)
			return false;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void trim(const char **text, size_t *length)
{
	while (*length > 0 && is_blank(**text)) {
		(*text)++;
		(*length)--;
	}
	while (*length > 0 && is_blank((*text)[*length - 1]))
		(*length)--;
}

/* NULL, or what is wrong. */
static const char *header_append(struct curl_slist **list, const char *name, size_t name_length,
				 const char *value, size_t value_length)
{
	struct lens_text line = LENS_TEXT_INIT;
	struct curl_slist *longer = NULL;

	trim(&name, &name_length);
	trim(&value, &value_length);
	if (!name_is_token(name, name_length))
		return "no header's name before the `:` or `=`";
	if (name_is_ours(name, name_length))
		return "a header that slurm-lens sets itself";
	if (!value_is_valid(value, value_length))
		return "a control character in the value";
	lens_text_add(&line, name, name_length);
	/* libcurl takes `Name:` for a header to leave out, `Name;` for one without a value. */
	lens_text_adds(&line, value_length > 0 ? ": " : ";");
	lens_text_add(&line, value, value_length);
	if (line.data && !line.failed)
		longer = lens_curl.slist_append(*list, line.data);
	if (longer)
		*list = longer;
	if (line.data)
		explicit_bzero(line.data, line.length);
	lens_text_clear(&line);
	return longer ? NULL : "out of memory";
}

/* `name=value`, percent-encoded. */
static const char *pair_parse(struct curl_slist **list, const char *pair, size_t length)
{
	const char *equals = memchr(pair, '=', length);
	struct lens_text value = LENS_TEXT_INIT;
	const char *fault;

	if (!equals)
		return "neither `Name: value` nor `name=value`";
	lens_percent_decode(&value, equals + 1, length - (size_t)(equals + 1 - pair));
	if (value.failed)
		return "out of memory";
	fault = header_append(list, pair, (size_t)(equals - pair), value.data ? value.data : "",
			      value.length);
	if (value.data)
		explicit_bzero(value.data, value.length);
	lens_text_clear(&value);
	return fault;
}

static const char *line_parse(struct curl_slist **list, const char *line, size_t length)
{
	const char *fault = NULL;
	size_t name, part;

	trim(&line, &length);
	if (length == 0 || *line == '#')
		return NULL;
	for (name = 0; name < length && line[name] != ':' && line[name] != '='; name++)
		;
	if (name < length && line[name] == ':')
		return header_append(list, line, name, line + name + 1, length - name - 1);
	for (; !fault && length > 0; line += part, length -= part) {
		const char *comma = memchr(line, ',', length);
		const char *pair = line;
		size_t pair_length = comma ? (size_t)(comma - line) : length;

		part = comma ? pair_length + 1 : length;
		trim(&pair, &pair_length);
		if (pair_length > 0)
			fault = pair_parse(list, pair, pair_length);
	}
	return fault;
}

int lens_headers_parse(struct curl_slist **list, const struct lens_blob *text,
		       struct lens_error *err)
{
	const char *rest = text->bytes;
	size_t length = text->length, part;

	if (length > LENS_HEADERS_MAX)
		return lens_error_set(err, "HeadersFile: it is larger than %u KiB",
				      LENS_HEADERS_MAX / 1024);
	if (lens_curl_load(err) < 0)
		return -1;
	for (unsigned int line = 1; length > 0; line++, rest += part, length -= part) {
		const char *end = memchr(rest, '\n', length);
		size_t line_length = end ? (size_t)(end - rest) : length;
		const char *fault = line_parse(list, rest, line_length);

		if (fault)
			return lens_error_set(err, "HeadersFile: line %u: %s", line, fault);
		part = end ? line_length + 1 : length;
	}
	return 0;
}

/* Each place of the LENGTH bytes at WORD in MESSAGE becomes `***`, which is shorter. */
static void word_redact(char *message, const char *word, size_t length)
{
	char *at;

	while ((at = memmem(message, strlen(message), word, length))) {
		/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): within a text */
		memcpy(at, "***", 3);
		memmove(at + 3, at + length, strlen(at + length) + 1);
		message = at + 3;
	}
}

void lens_headers_redact(const struct curl_slist *list, char *message)
{
	for (; list; list = list->next) {
		const char *word = strchr(list->data, ':');
		size_t length;

		for (; word && *word; word += length) {
			word += strspn(word, ": \t");
			length = strcspn(word, " \t");
			if (length >= REDACT_MIN)
				word_redact(message, word, length);
		}
	}
}

void lens_headers_free(struct curl_slist *list)
{
	int saved = errno;

	for (struct curl_slist *item = list; item; item = item->next)
		explicit_bzero(item->data, strlen(item->data));
	if (list) /* else libcurl may not be there */
		lens_curl.slist_free_all(list);
	errno = saved;
}
