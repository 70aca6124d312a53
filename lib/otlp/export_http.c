/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/export_http.h"

#include "lib/otlp/endpoint.h"
#include "lib/otlp/http_answer.h"
#include "lib/otlp/protobuf.h"
#include "lib/otlp/result.h"
#include "lib/otlp/retry.h"

#include <curl/curl.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* How often `cancelled` is asked. libcurl's own loop would ask once a second only. */
#define CANCEL_POLL_MS 250

struct lens_http_exporter {
	struct lens_endpoint endpoint;
	unsigned int timeout_ms;
	bool (*cancelled)(void *context);
	void *cancelled_context;
	bool curl_ready;
	CURLM *multi; /* keeps the connection between requests */
	CURL *easy;
	struct curl_slist *headers;
};

static size_t body_write(char *bytes, size_t size, size_t count, void *context)
{
	struct lens_http_answer *answer = context;
	size_t length = size * count;

	if (length > LENS_HTTP_RESPONSE_MAX - answer->body.length)
		return 0; /* ends the transfer */
	lens_text_add(&answer->body, bytes, length);
	return length;
}

static size_t header_read(char *bytes, size_t size, size_t count, void *context)
{
	static const char name[] = "Retry-After:";
	struct lens_http_answer *answer = context;
	size_t length = size * count;
	char value[64];

	/* A status line begins the headers of another answer, the final one after a 1xx. */
	if (length >= 5 && memcmp(bytes, "HTTP/", 5) == 0)
		answer->retry_after_ms = -1;
	if (length > strlen(name) && length - strlen(name) < sizeof(value) &&
	    strncasecmp(bytes, name, strlen(name)) == 0) {
		memcpy(value, bytes + strlen(name), length - strlen(name));
		value[length - strlen(name)] = '\0';
		answer->retry_after_ms = lens_retry_after_parse(value, (int64_t)time(NULL));
	}
	return length;
}

static int headers_add(struct lens_http_exporter *exporter, const char *line)
{
	struct curl_slist *list = curl_slist_append(exporter->headers, line);

	if (!list)
		return -1;
	exporter->headers = list;
	return 0;
}

static CURLcode protocols_limit(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* What all requests have in common. */
static int easy_setup(struct lens_http_exporter *exporter, const char *user_agent)
{
	CURL *easy = exporter->easy;

	/* Without an empty Expect, libcurl holds a large body back for a 100 that many
	 * receivers never send. */
	if (headers_add(exporter, "Content-Type: application/x-protobuf") < 0 ||
	    headers_add(exporter, "Expect:") < 0)
		return -1;
	if (curl_easy_setopt(easy, CURLOPT_URL, exporter->endpoint.url) != CURLE_OK ||
	    protocols_limit(easy) != CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_PROXY, "") != CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exporter->headers) != CURLE_OK)
		return -1;
	if (user_agent && curl_easy_setopt(easy, CURLOPT_USERAGENT, user_agent) != CURLE_OK)
		return -1;
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)exporter->timeout_ms);
	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_write);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_read);
	return 0;
}

struct lens_http_exporter *lens_http_exporter_create(const struct lens_exporter_settings *settings,
						     struct lens_error *err)
{
	struct lens_http_exporter *exporter = calloc(1, sizeof(*exporter));
	bool ready = false;

	if (!exporter) {
		lens_error_set(err, "Endpoint: out of memory");
		return NULL;
	}
	exporter->timeout_ms =
		settings->timeout_ms ? settings->timeout_ms : LENS_HTTP_TIMEOUT_DEFAULT;
	exporter->cancelled = settings->cancelled;
	exporter->cancelled_context = settings->cancelled_context;
	if (lens_endpoint_resolve(&exporter->endpoint, settings->endpoint, err) < 0)
		goto out;
	exporter->curl_ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
	if (exporter->curl_ready) {
		exporter->multi = curl_multi_init();
		exporter->easy = curl_easy_init();
	}
	ready = exporter->multi && exporter->easy &&
		easy_setup(exporter, settings->user_agent) == 0;
	if (!ready)
		lens_error_set(err, "Endpoint: `%s`: libcurl cannot be set up (out of memory?)",
			       exporter->endpoint.shown);
out:
	if (!ready) {
		lens_http_exporter_destroy(exporter);
		return NULL;
	}
	return exporter;
}

void lens_http_exporter_destroy(struct lens_http_exporter *exporter)
{
	int saved = errno;

	if (!exporter)
		return;
	curl_easy_cleanup(exporter->easy);
	curl_multi_cleanup(exporter->multi);
	curl_slist_free_all(exporter->headers);
	if (exporter->curl_ready)
		curl_global_cleanup();
	lens_endpoint_clear(&exporter->endpoint);
	free(exporter);
	errno = saved;
}

/* The outcome of the one transfer of the exporter once it is over. */
static bool transfer_over(struct lens_http_exporter *exporter, CURLcode *code)
{
	int left;
	const CURLMsg *message;

	while ((message = curl_multi_info_read(exporter->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		*code = message->data.result;
		return true;
	}
	return false;
}

/* Runs the transfer to its end, or until it is cancelled. */
static CURLcode transfer_run(struct lens_http_exporter *exporter, bool *cancelled)
{
	CURLcode code = CURLE_OK;
	int running = 0;

	if (curl_multi_add_handle(exporter->multi, exporter->easy) != CURLM_OK)
		return CURLE_FAILED_INIT;
	for (;;) {
		if (curl_multi_perform(exporter->multi, &running) != CURLM_OK) {
			code = CURLE_FAILED_INIT;
			break;
		}
		if (transfer_over(exporter, &code))
			break;
		*cancelled =
			exporter->cancelled && exporter->cancelled(exporter->cancelled_context);
		if (*cancelled) {
			code = CURLE_ABORTED_BY_CALLBACK;
			break;
		}
		if (curl_multi_poll(exporter->multi, NULL, 0, CANCEL_POLL_MS, NULL) != CURLM_OK) {
			code = CURLE_FAILED_INIT;
			break;
		}
	}
	curl_multi_remove_handle(exporter->multi, exporter->easy);
	return code;
}

static void request_send(struct lens_http_exporter *exporter, const uint8_t *bytes, size_t length,
			 struct lens_http_answer *answer)
{
	CURL *easy = exporter->easy;

	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, (const char *)bytes);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, answer);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, answer->detail);
	answer->code = transfer_run(exporter, &answer->cancelled);
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer->status);
	curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &answer->os_error);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL); /* it ends with ANSWER */
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
}

void lens_http_exporter_export(struct lens_http_exporter *exporter, const struct lens_batch *batch,
			       struct lens_export_result *result)
{
	struct lens_http_answer answer = LENS_HTTP_ANSWER_INIT;
	size_t length = 0;
	uint8_t *bytes = lens_protobuf_encode(batch, &length);

	if (!bytes) {
		lens_result_message(result, "%s: out of memory", exporter->endpoint.shown);
		return;
	}
	if (length > LENS_HTTP_REQUEST_MAX) {
		result->verdict = lens_retry_verdict(LENS_TRANSPORT_TOO_LARGE, 0);
		lens_result_message(result, "%s: not sent, %zu bytes are too large a request",
				    exporter->endpoint.shown, length);
	} else {
		request_send(exporter, bytes, length, &answer);
		lens_http_answer_judge(&answer, &exporter->endpoint, exporter->timeout_ms, result);
	}
	lens_http_answer_clear(&answer);
	free(bytes);
}
