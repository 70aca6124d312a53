/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/endpoint.h"

#include "lib/core/text.h"
#include "lib/otlp/curl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SIGNAL_PATH "v1/traces"
#define GRPC_PATH   "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

char *lens_endpoint_redact(const char *url)
{
	struct lens_text text = LENS_TEXT_INIT;
	const char *mark = strstr(url, "://");
	const char *rest = mark ? mark + 3 : url;
	/* A password may hold `/` or `?` that should have been escaped: only the last `@`
	 * surely ends it. */
	const char *at = strrchr(rest, '@');
	size_t length;

	lens_text_add(&text, url, (size_t)(rest - url));
	if (at) {
		lens_text_adds(&text, "***");
		rest = at;
	}
	length = strcspn(rest, "?#");
	lens_text_add(&text, rest, length);
	for (size_t i = 0; i < text.length; i++)
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
			text.data[i] = '?';
	return lens_text_take(&text);
}

/* Why BASE will not do, for the commonest mistakes; NULL when its form is right so far. */
static const char *base_fault(const char *base)
{
	const char *mark = strstr(base, "://");
	const char *host;
	const char *at;
	const char *colon;
	size_t length;

	if (!mark)
		return "write it as http://HOST:4318 or https://HOST:4318";
	length = (size_t)(mark - base);
	if (!(length == 4 && strncasecmp(base, "http", 4) == 0) &&
	    !(length == 5 && strncasecmp(base, "https", 5) == 0))
		return "only http:// and https:// are supported";
	host = mark + 3;
	length = strcspn(host, "/?#");
	at = memrchr(host, '@', length);
	if (at) {
		length -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	colon = memchr(host, ':', length);
	if (length == 0 || host == colon)
		return host == colon && length > 1 && host[1] == ':'
			       ? "an IPv6 address must stand in brackets, as in http://[::1]:4318"
			       : "it names no host";
	if (host[0] != '[' && colon && memrchr(host, ':', length) != colon)
		return "an IPv6 address must stand in brackets, as in http://[::1]:4318";
	if (strchr(base, '#'))
		return "a fragment (`#...`) has no meaning here";
	return NULL;
}

static bool port_is_zero(CURLU *url)
{
	char *port = NULL;
	bool zero;

	lens_curl.url_get(url, CURLUPART_PORT, &port, 0);
	zero = port && strtoul(port, NULL, 10) == 0;
	lens_curl.free(port);
	return zero;
}

/* The path of URL with the signal's path joined to it. */
static CURLUcode path_join(CURLU *url, bool *doubled)
{
	struct lens_text joined = LENS_TEXT_INIT;
	CURLUcode code;
	char *path = NULL;
	size_t length;

	code = lens_curl.url_get(url, CURLUPART_PATH, &path, 0);
	if (code != CURLUE_OK)
		return code;
	length = strlen(path);
	while (length > 0 && path[length - 1] == '/')
		length--;
	*doubled = length > strlen(SIGNAL_PATH) &&
		   strncmp(path + length - strlen(SIGNAL_PATH) - 1, "/" SIGNAL_PATH,
			   strlen(SIGNAL_PATH) + 1) == 0;
	lens_text_add(&joined, path, length);
	lens_text_adds(&joined, "/" SIGNAL_PATH);
	lens_curl.free(path);
	code = joined.failed ? CURLUE_OUT_OF_MEMORY
			     : lens_curl.url_set(url, CURLUPART_PATH, joined.data, 0);
	lens_text_clear(&joined);
	return code;
}

static CURLUcode path_set_grpc(CURLU *url)
{
	CURLUcode code = lens_curl.url_set(url, CURLUPART_QUERY, NULL, 0);

	return code == CURLUE_OK ? lens_curl.url_set(url, CURLUPART_PATH, GRPC_PATH, 0) : code;
}

/* What becomes of the path. */
enum path_rule { PATH_JOIN, PATH_WHOLE, PATH_GRPC };

static CURLUcode path_apply(CURLU *url, enum path_rule rule, struct lens_endpoint *out)
{
	switch (rule) {
	case PATH_GRPC:
		return path_set_grpc(url);
	case PATH_JOIN:
		return path_join(url, &out->doubled);
	case PATH_WHOLE:
		break;
	}
	return CURLUE_OK;
}

static CURLUcode url_build(CURLU *url, const char *base, enum path_rule rule,
			   struct lens_endpoint *out)
{
	CURLUcode code = lens_curl.url_set(url, CURLUPART_URL, base, 0);
	char *full = NULL;

	if (code == CURLUE_OK && port_is_zero(url))
		code = CURLUE_BAD_PORT_NUMBER;
	if (code == CURLUE_OK)
		code = path_apply(url, rule, out);
	if (code == CURLUE_OK)
		code = lens_curl.url_get(url, CURLUPART_URL, &full, 0);
	if (code != CURLUE_OK)
		return code;
	out->url = strdup(full);
	out->shown = lens_endpoint_redact(full);
	lens_curl.free(full);
	return out->url && out->shown ? CURLUE_OK : CURLUE_OUT_OF_MEMORY;
}

static const char *code_fault(CURLUcode code)
{
	switch (code) {
	case CURLUE_BAD_PORT_NUMBER:
		return "its port is not a number from 1 to 65535";
	case CURLUE_OUT_OF_MEMORY:
		return "out of memory";
	default:
		return "it is no well-formed URL";
	}
}

static int resolve(struct lens_endpoint *out, const char *base, enum path_rule rule,
		   struct lens_error *err)
{
	const char *fault;
	CURLUcode code;
	CURLU *url;
	char *shown;

	*out = (struct lens_endpoint){ 0 };
	if (!base || !base[0])
		return lens_error_set(err, "Endpoint: it is not set; write it as http://HOST:4318");
	fault = base_fault(base);
	if (!fault) {
		if (lens_curl_load(err) < 0)
			return -1;
		url = lens_curl.url();
		code = url ? url_build(url, base, rule, out) : CURLUE_OUT_OF_MEMORY;
		lens_curl.url_cleanup(url);
		if (code == CURLUE_OK)
			return 0;
		fault = code_fault(code);
	}
	shown = lens_endpoint_redact(base);
	lens_error_set(err, "Endpoint: `%s`: %s", shown ? shown : "", fault);
	free(shown);
	lens_endpoint_clear(out);
	return -1;
}

int lens_endpoint_resolve(struct lens_endpoint *out, const char *base, struct lens_error *err)
{
	return resolve(out, base, PATH_JOIN, err);
}

int lens_endpoint_resolve_grpc(struct lens_endpoint *out, const char *base, struct lens_error *err)
{
	return resolve(out, base, PATH_GRPC, err);
}

int lens_endpoint_resolve_whole(struct lens_endpoint *out, const char *url, struct lens_error *err)
{
	return resolve(out, url, PATH_WHOLE, err);
}

void lens_endpoint_clear(struct lens_endpoint *endpoint)
{
	int saved = errno;

	free(endpoint->url);
	free(endpoint->shown);
	*endpoint = (struct lens_endpoint){ 0 };
	errno = saved;
}
