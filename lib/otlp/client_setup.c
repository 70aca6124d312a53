/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/client_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* libcurl before 7.77 does not know it, and says so. */
#if LIBCURL_VERSION_NUM >= 0x074d00
#define OPTION_CAINFO_BLOB CURLOPT_CAINFO_BLOB
#else
#define OPTION_CAINFO_BLOB CURLOPT_LASTENTRY
#endif

static int header_add(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = lens_curl.slist_append(*list, line);

	if (!longer)
		return -1;
	*list = longer;
	return 0;
}

static int http_headers(struct curl_slist **list, const struct lens_exporter_settings *settings)
{
	bool json = settings->kind == LENS_EXPORTER_HTTP_JSON;

	/* Without an empty Expect, libcurl holds a large body back for a 100 that many
	 * receivers never send. */
	if (header_add(list, json ? "Content-Type: application/json"
				  : "Content-Type: application/x-protobuf") < 0 ||
	    header_add(list, "Expect:") < 0)
		return -1;
	return settings->compression == LENS_COMPRESSION_GZIP
		       ? header_add(list, "Content-Encoding: gzip")
		       : 0;
}

static int grpc_headers(struct curl_slist **list, const struct lens_exporter_settings *settings,
			unsigned int timeout_ms)
{
	char timeout[48];

	/* The largest unit that takes all timeouts: eight digits are the protocol's limit. */
	if (timeout_ms < 100000000)
		snprintf(timeout, sizeof(timeout), "grpc-timeout: %um", timeout_ms);
	else
		snprintf(timeout, sizeof(timeout), "grpc-timeout: %uS", timeout_ms / 1000);
	if (header_add(list, "Content-Type: application/grpc") < 0 ||
	    header_add(list, "TE: trailers") < 0 || header_add(list, timeout) < 0)
		return -1;
	return settings->compression == LENS_COMPRESSION_GZIP
		       ? header_add(list, "grpc-encoding: gzip")
		       : 0;
}

int lens_client_headers(struct curl_slist **list, const struct lens_exporter_settings *settings,
			unsigned int timeout_ms)
{
	return settings->kind == LENS_EXPORTER_GRPC ? grpc_headers(list, settings, timeout_ms)
						    : http_headers(list, settings);
}

static int blob_set(CURL *easy, CURLoption option, const struct lens_blob *blob, const char *key,
		    struct lens_error *err)
{
	static const char begin[] = "-----BEGIN ";
	struct curl_blob curl_blob = { (void *)blob->bytes, blob->length, CURL_BLOB_COPY };
	CURLcode code;

	if (blob->length == 0)
		return 0;
	if (!memmem(blob->bytes, blob->length, begin, strlen(begin)))
		return lens_error_set(err, "%s: it holds no PEM (`%s...`)", key, begin);
	code = lens_curl.easy_setopt(easy, option, &curl_blob);
	if (code != CURLE_OK)
		return lens_error_set(err, "%s: this libcurl (%s) does not take it: %s", key,
				      lens_curl.version(), lens_curl.easy_strerror(code));
	return 0;
}

static int tls_options(CURL *easy, const struct lens_exporter_settings *settings,
		       struct lens_error *err)
{
	if ((settings->client_cert.length == 0) != (settings->client_key.length == 0))
		return lens_error_set(err, "ClientCertificateFile and ClientKeyFile go together");
	lens_curl.easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	/* Without it a key that needs a pass phrase would be asked for at a terminal. */
	lens_curl.easy_setopt(easy, CURLOPT_KEYPASSWD, "");
	if (blob_set(easy, OPTION_CAINFO_BLOB, &settings->ca, "CertificateFile", err) < 0 ||
	    blob_set(easy, CURLOPT_SSLCERT_BLOB, &settings->client_cert, "ClientCertificateFile",
		     err) < 0)
		return -1;
	return blob_set(easy, CURLOPT_SSLKEY_BLOB, &settings->client_key, "ClientKeyFile", err);
}

static int proxy_options(CURL *easy, const struct lens_exporter_settings *settings,
			 struct lens_error *err)
{
	const char *proxy = settings->proxy ? settings->proxy : "";

	/* "" turns the environment's off, no_proxy included. */
	if (lens_curl.easy_setopt(easy, CURLOPT_PROXY, proxy) != CURLE_OK ||
	    lens_curl.easy_setopt(easy, CURLOPT_NOPROXY, "") != CURLE_OK)
		return lens_error_set(err, "Proxy: libcurl does not take it");
	/* A proxy's own answer to CONNECT is none of the receiver's. */
	lens_curl.easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	if (settings->kind == LENS_EXPORTER_GRPC)
		lens_curl.easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
	return 0;
}

static CURLcode protocols_limit(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	return lens_curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	return lens_curl.easy_setopt(easy, CURLOPT_PROTOCOLS,
				     (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* The version of HTTP: gRPC needs 2, which a server is told over TLS by ALPN, else not at all. */
static long http_version(const struct lens_exporter_settings *settings, const char *url)
{
	if (settings->kind != LENS_EXPORTER_GRPC)
		return CURL_HTTP_VERSION_1_1;
	return strncasecmp(url, "https:", 6) == 0 ? CURL_HTTP_VERSION_2TLS
						  : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
}

int lens_client_options(CURL *easy, const struct lens_exporter_settings *settings, const char *url,
			struct lens_error *err)
{
	if (lens_curl.easy_setopt(easy, CURLOPT_URL, url) != CURLE_OK ||
	    protocols_limit(easy) != CURLE_OK)
		return lens_error_set(err, "Endpoint: libcurl cannot be set up (out of memory?)");
	if (settings->user_agent &&
	    lens_curl.easy_setopt(easy, CURLOPT_USERAGENT, settings->user_agent) != CURLE_OK)
		return lens_error_set(err, "Endpoint: out of memory");
	if (lens_curl.easy_setopt(easy, CURLOPT_HTTP_VERSION, http_version(settings, url)) !=
	    CURLE_OK)
		return lens_error_set(err,
				      "Protocol: this libcurl (%s) has no HTTP/2, which "
				      "grpc needs: use http/protobuf",
				      lens_curl.version());
	lens_curl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	lens_curl.easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	lens_curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	lens_curl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	lens_curl.easy_setopt(easy, CURLOPT_POST, 1L);
	return proxy_options(easy, settings, err) < 0 ? -1 : tls_options(easy, settings, err);
}
