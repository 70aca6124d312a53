/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/answer.h"

#include "lib/otlp/http_date.h"
#include "lib/otlp/result.h"
#include "lib/otlp/retry.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

void lens_answer_init(struct lens_answer *answer)
{
	*answer = (struct lens_answer){ .retry_after_ms = -1, .grpc = LENS_GRPC_STATUS_INIT };
}

void lens_answer_clear(struct lens_answer *answer)
{
	lens_text_clear(&answer->body);
}

static void date_take(struct lens_answer *answer, const char *value)
{
	static const char blank[] = " \t\r\n";
	size_t length;

	value += strspn(value, blank);
	length = strlen(value);
	while (length > 0 && strchr(blank, value[length - 1]))
		length--;
	lens_http_date_parse(&answer->date, value, length, (int64_t)time(NULL));
}

void lens_answer_header(struct lens_answer *answer, const char *line, size_t length)
{
	const char *colon = memchr(line, ':', length);
	struct lens_text value = LENS_TEXT_INIT;
	size_t name;

	/* A status line begins the headers of another answer, the final one after a 1xx. */
	if (length >= 5 && memcmp(line, "HTTP/", 5) == 0) {
		answer->retry_after_ms = -1;
		answer->date = 0;
		answer->grpc = LENS_GRPC_STATUS_INIT;
		answer->is_grpc = false;
		return;
	}
	if (!colon)
		return;
	name = (size_t)(colon - line);
	lens_text_add(&value, colon + 1, length - name - 1);
	if (!value.data || value.failed)
		goto out;
	if (name == strlen("Retry-After") && strncasecmp(line, "Retry-After", name) == 0)
		answer->retry_after_ms = lens_retry_after_parse(value.data, (int64_t)time(NULL));
	else if (name == strlen("Date") && strncasecmp(line, "Date", name) == 0)
		date_take(answer, value.data);
	else if (name == strlen("Content-Type") && strncasecmp(line, "Content-Type", name) == 0)
		answer->is_grpc = strncasecmp(value.data + strspn(value.data, " \t"),
					      "application/grpc", strlen("application/grpc")) == 0;
	else
		lens_grpc_status_header(&answer->grpc, line, name, value.data);
out:
	lens_text_clear(&value);
}

/* libcurl's own words, without the number that may follow them. */
static size_t detail_length(const char *detail)
{
	const char *number = strstr(detail, ", errno ");

	return number ? (size_t)(number - detail) : strlen(detail);
}

/* Why no status came, in few words. */
static void failure_describe(const struct lens_answer *answer, bool tls, unsigned int timeout_ms,
			     char *out, size_t size)
{
	switch (answer->code) {
	case CURLE_COULDNT_CONNECT:
		if (answer->os_error)
			snprintf(out, size, "%s", strerror((int)answer->os_error));
		else
			snprintf(out, size, "cannot connect");
		return;
	case CURLE_COULDNT_RESOLVE_HOST:
		snprintf(out, size, "the host's name is not known");
		return;
	case CURLE_COULDNT_RESOLVE_PROXY:
		snprintf(out, size, "the name of the Proxy is not known");
		return;
	case CURLE_OPERATION_TIMEDOUT:
		snprintf(out, size, "no answer within %u ms", timeout_ms);
		return;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
		tls = true;
		break;
	case CURLE_BAD_FUNCTION_ARGUMENT: /* libcurl 8: key and certificate are no pair */
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		/* Over TLS these may be an alert, as for a client certificate that lacks; or what
		 * libcurl met before it could read the alert. */
		if (tls && !strstr(answer->detail, "alert")) {
			snprintf(out, size,
				 "TLS: the server broke the connection off (does it "
				 "want a client certificate?)");
			return;
		}
		break;
	case CURLE_GOT_NOTHING:
		snprintf(out, size, "the connection was closed without an answer");
		return;
	case CURLE_PARTIAL_FILE:
		snprintf(out, size, "the answer broke off");
		return;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		snprintf(out, size, "the answer is not HTTP (a port of gRPC wants Protocol=grpc)");
		return;
	default:
		tls = false;
		break;
	}
	if (tls && answer->detail[0])
		snprintf(out, size, "TLS: %.*s", (int)detail_length(answer->detail),
			 answer->detail);
	else
		snprintf(out, size, "%s", lens_curl_words(answer->code));
}

void lens_answer_failure(const struct lens_answer *answer, const struct lens_endpoint *endpoint,
			 unsigned int timeout_ms, struct lens_export_result *result)
{
	char why[CURL_ERROR_SIZE + 8] = "given up before an answer came";

	result->verdict = lens_retry_verdict(LENS_TRANSPORT_FAILED, 0, false);
	if (!answer->cancelled)
		failure_describe(answer, strncasecmp(endpoint->url, "https:", 6) == 0, timeout_ms,
				 why, sizeof(why));
	/* "Connection refused" goes on after a colon. */
	if (isupper((unsigned char)why[0]) && islower((unsigned char)why[1]))
		why[0] = (char)tolower((unsigned char)why[0]);
	lens_result_message(result, "%s: %s", endpoint->shown, why);
}
