/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/relay.h"

#include "lib/core/encoding.h"
#include "lib/otlp/retry.h"

#include <string.h>

#define DATE_MAX INT64_C(253402300799) /* the end of the year 9999 */

/* What is left to be read of a body. */
struct view {
	const char *at;
	size_t left;
};

static int view_take(struct view *view, void *out, size_t length)
{
	if (length > view->left)
		return -1;
	memcpy(out, view->at, length);
	view->at += length;
	view->left -= length;
	return 0;
}

static void add_number(struct lens_text *out, uint32_t number)
{
	lens_text_add(out, (const char *)&number, sizeof(number));
}

static void add_bytes(struct lens_text *out, const void *bytes, size_t length)
{
	if (length > UINT32_MAX) {
		out->failed = true;
		return;
	}
	add_number(out, (uint32_t)length);
	lens_text_add(out, bytes != NULL ? bytes : "", length);
}

/* With its NUL, so that it can be used where it lies. */
static void add_string(struct lens_text *out, const char *string)
{
	add_bytes(out, string != NULL ? string : "", string != NULL ? strlen(string) + 1 : 1);
}

static void add_blob(struct lens_text *out, const struct lens_blob *blob)
{
	add_bytes(out, blob->bytes, blob->length);
}

static int take_blob(struct view *view, struct lens_blob *out)
{
	uint32_t length;

	if (view_take(view, &length, sizeof(length)) != 0 || length > view->left)
		return -1;
	*out = (struct lens_blob){ length > 0 ? view->at : NULL, length };
	view->at += length;
	view->left -= length;
	return 0;
}

static int take_string(struct view *view, const char **out)
{
	struct lens_blob blob;

	if (take_blob(view, &blob) != 0 || blob.length == 0 ||
	    memchr(blob.bytes, '\0', blob.length) != (const char *)blob.bytes + blob.length - 1)
		return -1;
	*out = blob.bytes;
	return 0;
}

int lens_relay_settings_write(struct lens_text *out, const struct lens_exporter_settings *settings)
{
	add_number(out, (uint32_t)settings->kind);
	add_number(out, (uint32_t)settings->compression);
	add_number(out, settings->timeout_ms);
	add_string(out, settings->endpoint);
	add_string(out, settings->user_agent);
	add_string(out, settings->proxy);
	add_blob(out, &settings->headers);
	add_blob(out, &settings->ca);
	add_blob(out, &settings->client_cert);
	add_blob(out, &settings->client_key);
	return out->failed ? -1 : 0;
}

static int take_choices(struct view *view, struct lens_exporter_settings *out)
{
	uint32_t numbers[3];

	if (view_take(view, numbers, sizeof(numbers)) != 0)
		return -1;
	/* A sender writes no file. */
	if (numbers[0] != LENS_EXPORTER_HTTP_PROTOBUF && numbers[0] != LENS_EXPORTER_HTTP_JSON &&
	    numbers[0] != LENS_EXPORTER_GRPC)
		return -1;
	if (numbers[1] != LENS_COMPRESSION_NONE && numbers[1] != LENS_COMPRESSION_GZIP)
		return -1;
	out->kind = (enum lens_exporter_kind)numbers[0];
	out->compression = (enum lens_compression)numbers[1];
	out->timeout_ms = numbers[2];
	return 0;
}

int lens_relay_settings_read(struct lens_exporter_settings *out, const char *body, size_t length,
			     struct lens_error *err)
{
	struct view view = { body, length };

	*out = (struct lens_exporter_settings){ 0 };
	if (take_choices(&view, out) != 0 || take_string(&view, &out->endpoint) != 0 ||
	    take_string(&view, &out->user_agent) != 0 || take_string(&view, &out->proxy) != 0 ||
	    take_blob(&view, &out->headers) != 0 || take_blob(&view, &out->ca) != 0 ||
	    take_blob(&view, &out->client_cert) != 0 || take_blob(&view, &out->client_key) != 0 ||
	    view.left != 0)
		return lens_error_set(err, "settings that are none were handed over");
	return 0;
}

int lens_relay_result_write(struct lens_text *out, uint32_t number,
			    const struct lens_export_result *result)
{
	add_number(out, number);
	add_number(out, (uint32_t)result->verdict);
	lens_text_add(out, (const char *)&result->retry_after_ms, sizeof(result->retry_after_ms));
	lens_text_add(out, (const char *)&result->rejected, sizeof(result->rejected));
	add_number(out, (uint32_t)result->trouble);
	lens_text_add(out, (const char *)&result->date, sizeof(result->date));
	lens_text_adds(out, result->message);
	return out->failed ? -1 : 0;
}

int lens_relay_result_read(struct lens_export_result *out, uint32_t *number, const char *body,
			   size_t length)
{
	struct view view = { body, length };
	uint32_t verdict, trouble;

	*out = (struct lens_export_result){ .retry_after_ms = -1 };
	if (view_take(&view, number, sizeof(*number)) != 0 ||
	    view_take(&view, &verdict, sizeof(verdict)) != 0 || verdict > LENS_VERDICT_SPLIT ||
	    view_take(&view, &out->retry_after_ms, sizeof(out->retry_after_ms)) != 0 ||
	    view_take(&view, &out->rejected, sizeof(out->rejected)) != 0 ||
	    view_take(&view, &trouble, sizeof(trouble)) != 0 || trouble > LENS_TROUBLE_OTHER ||
	    view_take(&view, &out->date, sizeof(out->date)) != 0)
		return -1;
	out->verdict = (enum lens_verdict)verdict;
	out->trouble = (enum lens_trouble)trouble;
	if (out->date < 0 || out->date > DATE_MAX)
		out->date = 0;
	if (out->rejected > LENS_RELAY_REJECTED_MAX)
		out->rejected = LENS_RELAY_REJECTED_MAX;
	if (out->retry_after_ms < 0)
		out->retry_after_ms = -1;
	if (out->retry_after_ms > LENS_RETRY_AFTER_MAX_MS)
		out->retry_after_ms = LENS_RETRY_AFTER_MAX_MS;
	lens_relay_text_read(out->message, sizeof(out->message), view.at, view.left);
	return 0;
}

void lens_relay_text_read(char *out, size_t size, const char *body, size_t length)
{
	struct lens_text text = LENS_TEXT_INIT;
	size_t cut = 0;

	if (length > 0)
		lens_utf8_add(&text, body, length);
	if (text.data != NULL)
		cut = lens_utf8_cut(text.data, text.length, size - 1);
	if (cut > 0)
		memcpy(out, text.data, cut);
	out[cut] = '\0';
	for (unsigned char *byte = (unsigned char *)out; *byte != '\0'; byte++) {
		if (*byte < ' ' || *byte == 0x7f)
			*byte = '?';
		else if (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] <= 0x9f) /* C1 */
			byte[0] = byte[1] = '?';
	}
	lens_text_clear(&text);
}
