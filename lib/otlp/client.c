/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/client.h"

#include "lib/otlp/client_setup.h"
#include "lib/otlp/headers.h"

#include <errno.h>
#include <stdlib.h>

/* How often `cancelled` is asked. libcurl's own loop would ask once a second only. */
#define CANCEL_POLL_MS 250

struct lens_client {
	unsigned int timeout_ms;
	bool (*cancelled)(void *context);
	void *cancelled_context;
	bool curl_ready;
	CURLM *multi; /* keeps the connection between requests */
	CURL *easy;
	struct curl_slist *headers;
	const struct curl_slist *secrets; /* those of HeadersFile, the end of headers */
	bool reuse_fails;                 /* see lens_client_post */
};

static size_t body_write(char *bytes, size_t size, size_t count, void *context)
{
	struct lens_answer *answer = context;
	size_t length = size * count;

	answer->too_long = length > LENS_ANSWER_MAX - answer->body.length;
	if (answer->too_long)
		return 0; /* ends the transfer */
	lens_text_add(&answer->body, bytes, length);
	return length;
}

static size_t header_read(char *bytes, size_t size, size_t count, void *context)
{
	lens_answer_header(context, bytes, size * count);
	return size * count;
}

static int headers_setup(struct lens_client *client, const struct lens_exporter_settings *settings,
			 struct lens_error *err)
{
	struct curl_slist *last;

	if (lens_client_headers(&client->headers, settings, client->timeout_ms) < 0)
		return lens_error_set(err, "HeadersFile: out of memory");
	for (last = client->headers; last->next; last = last->next)
		;
	if (lens_headers_parse(&client->headers, &settings->headers, err) < 0)
		return -1;
	client->secrets = last->next;
	return 0;
}

static int client_setup(struct lens_client *client, const struct lens_exporter_settings *settings,
			const char *url, struct lens_error *err)
{
	client->curl_ready = lens_curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
	if (client->curl_ready) {
		client->multi = lens_curl.multi_init();
		client->easy = lens_curl.easy_init();
	}
	if (!client->multi || !client->easy)
		return lens_error_set(err, "Endpoint: libcurl cannot be set up (out of memory?)");
	if (headers_setup(client, settings, err) < 0 ||
	    lens_client_options(client->easy, settings, url, err) < 0)
		return -1;
	lens_curl.easy_setopt(client->easy, CURLOPT_HTTPHEADER, client->headers);
	lens_curl.easy_setopt(client->easy, CURLOPT_TIMEOUT_MS, (long)client->timeout_ms);
	lens_curl.easy_setopt(client->easy, CURLOPT_WRITEFUNCTION, body_write);
	lens_curl.easy_setopt(client->easy, CURLOPT_HEADERFUNCTION, header_read);
	return 0;
}

struct lens_client *lens_client_create(const struct lens_exporter_settings *settings,
				       const struct lens_endpoint *endpoint, struct lens_error *err)
{
	struct lens_client *client;

	if (lens_curl_load(err) < 0)
		return NULL;
	client = calloc(1, sizeof(*client));
	if (!client) {
		lens_error_set(err, "Endpoint: out of memory");
		return NULL;
	}
	client->timeout_ms =
		settings->timeout_ms ? settings->timeout_ms : LENS_CLIENT_TIMEOUT_DEFAULT;
	client->cancelled = settings->cancelled;
	client->cancelled_context = settings->cancelled_context;
	if (client_setup(client, settings, endpoint->url, err) < 0) {
		lens_client_destroy(client);
		return NULL;
	}
	return client;
}

void lens_client_destroy(struct lens_client *client)
{
	int saved = errno;

	if (!client)
		return;
	lens_curl.easy_cleanup(client->easy);
	lens_curl.multi_cleanup(client->multi);
	lens_headers_free(client->headers);
	if (client->curl_ready)
		lens_curl.global_cleanup();
	free(client);
	errno = saved;
}

unsigned int lens_client_timeout_ms(const struct lens_client *client)
{
	return client->timeout_ms;
}

void lens_client_redact(const struct lens_client *client, char *message)
{
	lens_headers_redact(client->secrets, message);
}

/* The outcome of the one transfer of the client once it is over. */
static bool transfer_over(struct lens_client *client, CURLcode *code)
{
	int left;
	const CURLMsg *message;

	while ((message = lens_curl.multi_info_read(client->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		*code = message->data.result;
		return true;
	}
	return false;
}

/* Runs the transfer to its end, or until it is cancelled. */
static CURLcode transfer_run(struct lens_client *client, bool *cancelled)
{
	CURLcode code = CURLE_OK;
	int running = 0;

	if (lens_curl.multi_add_handle(client->multi, client->easy) != CURLM_OK)
		return CURLE_FAILED_INIT;
	for (;;) {
		if (lens_curl.multi_perform(client->multi, &running) != CURLM_OK) {
			code = CURLE_FAILED_INIT;
			break;
		}
		if (transfer_over(client, &code))
			break;
		*cancelled = client->cancelled && client->cancelled(client->cancelled_context);
		if (*cancelled) {
			code = CURLE_ABORTED_BY_CALLBACK;
			break;
		}
		if (lens_curl.multi_poll(client->multi, NULL, 0, CANCEL_POLL_MS, NULL) !=
		    CURLM_OK) {
			code = CURLE_FAILED_INIT;
			break;
		}
	}
	lens_curl.multi_remove_handle(client->multi, client->easy);
	return code;
}

/* One try. */
static void request_send(struct lens_client *client, const char *bytes, size_t length,
			 struct lens_answer *answer)
{
	CURL *easy = client->easy;
	long version = 0;

	lens_curl.easy_setopt(easy, CURLOPT_FRESH_CONNECT, client->reuse_fails ? 1L : 0L);
	lens_curl.easy_setopt(easy, CURLOPT_FORBID_REUSE, client->reuse_fails ? 1L : 0L);
	lens_curl.easy_setopt(easy, CURLOPT_POSTFIELDS, bytes);
	lens_curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
	lens_curl.easy_setopt(easy, CURLOPT_WRITEDATA, answer);
	lens_curl.easy_setopt(easy, CURLOPT_HEADERDATA, answer);
	lens_curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, answer->detail);
	answer->code = transfer_run(client, &answer->cancelled);
	lens_curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer->status);
	lens_curl.easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
	lens_curl.easy_getinfo(easy, CURLINFO_OS_ERRNO, &answer->os_error);
	answer->http2 = version == CURL_HTTP_VERSION_2_0;
	lens_curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL); /* it ends with ANSWER */
	lens_curl.easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
}

void lens_client_post(struct lens_client *client, const char *bytes, size_t length,
		      struct lens_answer *answer)
{
	long connects = 0;

	request_send(client, bytes, length, answer);
	if (answer->code != CURLE_HTTP2 || answer->status != 0)
		return;
	/* libcurl 7.88 sends nothing on a kept connection of HTTP/2 without TLS and fails:
	 * seen once, no connection is kept any more. */
	lens_curl.easy_getinfo(client->easy, CURLINFO_NUM_CONNECTS, &connects);
	if (connects > 0)
		return;
	client->reuse_fails = true;
	lens_answer_clear(answer);
	lens_answer_init(answer);
	request_send(client, bytes, length, answer);
}
