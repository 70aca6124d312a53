/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/grpc_status.h"

#include "lib/core/encoding.h"
#include "lib/core/number.h"
#include "lib/core/text.h"
#include "lib/otlp/retry.h"
#include "lib/otlp/trace.pb-c.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RETRY_INFO "google.rpc.RetryInfo"

static const char *const names[] = {
	"OK",
	"CANCELLED",
	"UNKNOWN",
	"INVALID_ARGUMENT",
	"DEADLINE_EXCEEDED",
	"NOT_FOUND",
	"ALREADY_EXISTS",
	"PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED",
	"FAILED_PRECONDITION",
	"ABORTED",
	"OUT_OF_RANGE",
	"UNIMPLEMENTED",
	"INTERNAL",
	"UNAVAILABLE",
	"DATA_LOSS",
	"UNAUTHENTICATED",
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

const char *lens_grpc_code_name(int code)
{
	return code >= 0 && (size_t)code < NAME_COUNT ? names[code] : "code";
}

int lens_grpc_code_of_http(long http)
{
	switch (http) {
	case 400:
		return LENS_GRPC_INTERNAL;
	case 401:
		return LENS_GRPC_UNAUTHENTICATED;
	case 403:
		return LENS_GRPC_PERMISSION_DENIED;
	case 404:
		return LENS_GRPC_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return LENS_GRPC_UNAVAILABLE;
	default:
		return LENS_GRPC_UNKNOWN;
	}
}

/* Adds BASE64, with or without its padding, decoded; -1 at what is none. */
static int base64_decode(struct lens_text *out, const char *base64)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = strcspn(base64, "=");
	uint32_t bits = 0;
	unsigned int count = 0;

	if (base64[length + strspn(base64 + length, "=")] != '\0')
		return -1;
	for (size_t i = 0; i < length; i++) {
		const char *at = strchr(alphabet, base64[i]);
		char byte;

		if (!at)
			return -1;
		bits = (bits << 6 | (uint32_t)(at - alphabet)) & 0xffffff;
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		byte = (char)(bits >> count);
		lens_text_add(out, &byte, 1);
	}
	return out->failed ? -1 : 0;
}

static int64_t duration_ms(const Lens__Otlp__Duration *duration)
{
	int64_t seconds = duration ? duration->seconds : 0;
	int32_t nanos = duration ? duration->nanos : 0;

	if (seconds < 0 || nanos < 0)
		return 0;
	if (seconds >= LENS_RETRY_AFTER_MAX_MS / 1000)
		return LENS_RETRY_AFTER_MAX_MS;
	return seconds * 1000 + nanos / 1000000;
}

static void detail_read(struct lens_grpc_status *status, const Lens__Otlp__Any *detail)
{
	const char *slash = strrchr(detail->type_url, '/');
	Lens__Otlp__RetryInfo *info;

	/* The type's name stands behind the last slash, whatever the host before it. */
	if (strcmp(slash ? slash + 1 : detail->type_url, RETRY_INFO) != 0)
		return;
	info = lens__otlp__retry_info__unpack(NULL, detail->value.len, detail->value.data);
	if (!info)
		return;
	status->retry_info = true;
	status->retry_ms = duration_ms(info->retry_delay);
	lens__otlp__retry_info__free_unpacked(info, NULL);
}

static void details_read(struct lens_grpc_status *status, const char *base64)
{
	struct lens_text bytes = LENS_TEXT_INIT;
	Lens__Otlp__RpcStatus *details = NULL;

	if (base64_decode(&bytes, base64) == 0)
		details = lens__otlp__rpc_status__unpack(NULL, bytes.length,
							 (const uint8_t *)bytes.data);
	for (size_t i = 0; details && i < details->n_details; i++)
		detail_read(status, details->details[i]);
	if (details)
		lens__otlp__rpc_status__free_unpacked(details, NULL);
	lens_text_clear(&bytes);
}

static void message_read(struct lens_grpc_status *status, const char *value)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_percent_decode(&text, value, strlen(value));
	lens_result_words(status->message, text.data && !text.failed ? text.data : "");
	lens_text_clear(&text);
}

/* A code that is no number, or beyond all codes, is an unknown error. */
static int code_read(const char *value)
{
	uint32_t code;

	return lens_uint32_parse(value, &code) == 0 && code < NAME_COUNT ? (int)code
									 : LENS_GRPC_UNKNOWN;
}

static bool is_name(const char *name, size_t length, const char *wanted)
{
	return length == strlen(wanted) && strncasecmp(name, wanted, length) == 0;
}

void lens_grpc_status_header(struct lens_grpc_status *status, const char *name, size_t name_length,
			     const char *value)
{
	struct lens_text text = LENS_TEXT_INIT;

	value += strspn(value, " \t");
	lens_text_adds(&text, value);
	if (!text.data || text.failed)
		goto out;
	while (text.length > 0 && isspace((unsigned char)text.data[text.length - 1]))
		text.data[--text.length] = '\0';
	if (is_name(name, name_length, "grpc-status"))
		status->code = code_read(text.data);
	else if (is_name(name, name_length, "grpc-message"))
		message_read(status, text.data);
	else if (is_name(name, name_length, "grpc-status-details-bin"))
		details_read(status, text.data);
out:
	lens_text_clear(&text);
}
