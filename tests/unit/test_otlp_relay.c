/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/relay.h"

#include "lib/otlp/retry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct lens_exporter_settings full = {
	.kind = LENS_EXPORTER_GRPC,
	.endpoint = "https://h:4317",
	.timeout_ms = 2500,
	.user_agent = "agent/1",
	.compression = LENS_COMPRESSION_GZIP,
	.proxy = "http://p:3128",
	.headers = { "a: b\nc: d\n", 10 },
	.ca = { "-----CA", 7 },
	.client_cert = { "with\0nul", 8 },
	.client_key = { "key", 3 },
};

static void assert_blob(const struct lens_blob *a, const struct lens_blob *b)
{
	assert_int_equal(a->length, b->length);
	assert_memory_equal(a->bytes, b->bytes, b->length);
}

static void settings_come_as_they_went(void **state)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_exporter_settings out;

	(void)state;
	assert_int_equal(lens_relay_settings_write(&text, &full), 0);
	assert_int_equal(lens_relay_settings_read(&out, text.data, text.length, NULL), 0);
	assert_int_equal(out.kind, full.kind);
	assert_int_equal(out.compression, full.compression);
	assert_int_equal(out.timeout_ms, full.timeout_ms);
	assert_string_equal(out.endpoint, full.endpoint);
	assert_string_equal(out.user_agent, full.user_agent);
	assert_string_equal(out.proxy, full.proxy);
	assert_blob(&out.headers, &full.headers);
	assert_blob(&out.ca, &full.ca);
	assert_blob(&out.client_cert, &full.client_cert);
	assert_blob(&out.client_key, &full.client_key);
	assert_null(out.file);
	lens_text_clear(&text);
}

static void what_is_not_set_is_empty(void **state)
{
	struct lens_exporter_settings out, bare = { .kind = LENS_EXPORTER_HTTP_JSON };
	struct lens_text text = LENS_TEXT_INIT;

	(void)state;
	assert_int_equal(lens_relay_settings_write(&text, &bare), 0);
	assert_int_equal(lens_relay_settings_read(&out, text.data, text.length, NULL), 0);
	assert_string_equal(out.endpoint, "");
	assert_string_equal(out.proxy, "");
	assert_int_equal(out.headers.length, 0);
	lens_text_clear(&text);
}

/* A copy at the very end of its memory, so that a sanitizer sees each byte too far. */
static char *exact(const char *bytes, size_t length)
{
	char *copy = malloc(length > 0 ? length : 1);

	assert_non_null(copy);
	if (length > 0)
		memcpy(copy, bytes, length);
	return copy;
}

static void cut_settings_are_refused(void **state)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_exporter_settings out;

	(void)state;
	assert_int_equal(lens_relay_settings_write(&text, &full), 0);
	for (size_t length = 0; length < text.length; length++) {
		char *body = exact(text.data, length);

		assert_int_equal(lens_relay_settings_read(&out, body, length, NULL), -1);
		free(body);
	}
	lens_text_add(&text, "", 1); /* and one byte more than there should be */
	assert_int_equal(lens_relay_settings_read(&out, text.data, text.length, NULL), -1);
	lens_text_clear(&text);
}

static void settings_of_a_file_are_refused(void **state)
{
	struct lens_exporter_settings out, file = full;
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_error err = LENS_ERROR_INIT;

	(void)state;
	file.kind = LENS_EXPORTER_FILE;
	assert_int_equal(lens_relay_settings_write(&text, &file), 0);
	assert_int_equal(lens_relay_settings_read(&out, text.data, text.length, &err), -1);
	assert_string_not_equal(err.text, "");
	lens_text_clear(&text);
}

/* Every byte of every position: nothing is read that is not there, no text without its end. */
static void changed_settings_do_no_harm(void **state)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_exporter_settings out;

	(void)state;
	assert_int_equal(lens_relay_settings_write(&text, &full), 0);
	for (size_t at = 0; at < text.length; at++) {
		for (unsigned int value = 0; value < 256; value++) {
			char *body = exact(text.data, text.length);

			body[at] = (char)value;
			if (lens_relay_settings_read(&out, body, text.length, NULL) == 0)
				assert_true(strlen(out.endpoint) + strlen(out.user_agent) +
						    strlen(out.proxy) <
					    text.length);
			free(body);
		}
	}
	lens_text_clear(&text);
}

static void results_come_as_they_went(void **state)
{
	struct lens_export_result out, in = { .verdict = LENS_VERDICT_DROP,
					      .retry_after_ms = 1234,
					      .rejected = 5,
					      .trouble = LENS_TROUBLE_PLACE,
					      .date = 1796068800,
					      .message = "HTTP 400" };
	struct lens_text text = LENS_TEXT_INIT;
	uint32_t number = 0;

	(void)state;
	assert_int_equal(lens_relay_result_write(&text, 77, &in), 0);
	assert_int_equal(lens_relay_result_read(&out, &number, text.data, text.length), 0);
	assert_int_equal(number, 77);
	assert_int_equal(out.verdict, LENS_VERDICT_DROP);
	assert_int_equal(out.retry_after_ms, 1234);
	assert_int_equal(out.rejected, 5);
	assert_int_equal(out.trouble, LENS_TROUBLE_PLACE);
	assert_int_equal(out.date, 1796068800);
	assert_string_equal(out.message, "HTTP 400");
	for (size_t length = 0; length + strlen(in.message) < text.length; length++) {
		char *body = exact(text.data, length);

		assert_int_equal(lens_relay_result_read(&out, &number, body, length), -1);
		free(body);
	}
	lens_text_clear(&text);
}

static void a_hostile_result_is_bounded(void **state)
{
	struct lens_export_result out, in = { .verdict = LENS_VERDICT_RETRY,
					      .retry_after_ms = INT64_MAX,
					      .rejected = UINT64_MAX,
					      .date = INT64_MAX };
	struct lens_text text = LENS_TEXT_INIT;
	uint32_t number = 0, verdict = 4, trouble = LENS_TROUBLE_OTHER + 1;
	size_t trouble_at = 2 * sizeof(number) + 2 * sizeof(int64_t);
	char message[600];

	(void)state;
	memset(message, 'm', sizeof(message));
	memcpy(message, "\x1b[2J\n\xc2\x9b \xff", 9);
	assert_int_equal(lens_relay_result_write(&text, 1, &in), 0);
	lens_text_add(&text, message, sizeof(message));
	assert_int_equal(lens_relay_result_read(&out, &number, text.data, text.length), 0);
	assert_int_equal(out.rejected, LENS_RELAY_REJECTED_MAX);
	assert_int_equal(out.retry_after_ms, LENS_RETRY_AFTER_MAX_MS);
	assert_int_equal(out.date, 0);
	assert_int_equal(strlen(out.message), sizeof(out.message) - 1);
	assert_int_equal(strncmp(out.message,
				 "?[2J??? \xef\xbf\xbd"
				 "m",
				 12),
			 0);
	memcpy(text.data + trouble_at, &trouble, sizeof(trouble));
	assert_int_equal(lens_relay_result_read(&out, &number, text.data, text.length), -1);
	trouble = LENS_TROUBLE_OTHER;
	memcpy(text.data + trouble_at, &trouble, sizeof(trouble));
	assert_int_equal(lens_relay_result_read(&out, &number, text.data, text.length), 0);
	memcpy(text.data + sizeof(number), &verdict, sizeof(verdict));
	assert_int_equal(lens_relay_result_read(&out, &number, text.data, text.length), -1);
	lens_text_clear(&text);
}

static void a_negative_wait_is_none(void **state)
{
	struct lens_export_result out,
		in = { .verdict = LENS_VERDICT_RETRY, .retry_after_ms = INT64_MIN };
	struct lens_text text = LENS_TEXT_INIT;
	uint32_t number;

	(void)state;
	assert_int_equal(lens_relay_result_write(&text, 1, &in), 0);
	assert_int_equal(lens_relay_result_read(&out, &number, text.data, text.length), 0);
	assert_int_equal(out.retry_after_ms, -1);
	lens_text_clear(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_come_as_they_went),
		cmocka_unit_test(what_is_not_set_is_empty),
		cmocka_unit_test(cut_settings_are_refused),
		cmocka_unit_test(settings_of_a_file_are_refused),
		cmocka_unit_test(changed_settings_do_no_harm),
		cmocka_unit_test(results_come_as_they_went),
		cmocka_unit_test(a_hostile_result_is_bounded),
		cmocka_unit_test(a_negative_wait_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
