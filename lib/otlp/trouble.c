/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/trouble.h"

/* No status line came. */
static enum lens_trouble failure_trouble(CURLcode code, bool grpc, bool tls)
{
	switch (code) {
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return LENS_TROUBLE_AWAY;
	case CURLE_OPERATION_TIMEDOUT:
		return LENS_TROUBLE_SILENT;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_BAD_FUNCTION_ARGUMENT: /* libcurl 8: key and certificate are no pair */
		return LENS_TROUBLE_TLS;
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		/* An alert of TLS, a client certificate that lacks say; or a server to whom HTTP/2
		 * is garbage. */
		if (tls)
			return LENS_TROUBLE_TLS;
		return grpc ? LENS_TROUBLE_PROTOCOL : LENS_TROUBLE_OTHER;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return LENS_TROUBLE_PROTOCOL;
	default:
		return LENS_TROUBLE_OTHER;
	}
}

static enum lens_trouble http_trouble(long status)
{
	switch (status) {
	case 401:
	case 403:
	case 407:
		return LENS_TROUBLE_CREDENTIALS;
	case 404:
	case 405:
	case 410:
		return LENS_TROUBLE_PLACE;
	case 415:
	case 505:
		return LENS_TROUBLE_PROTOCOL;
	case 429:
	case 502:
	case 503:
	case 504:
		return LENS_TROUBLE_BUSY;
	default:
		break;
	}
	if (status >= 200 && status < 300)
		return LENS_TROUBLE_NONE;
	return status >= 300 && status < 400 ? LENS_TROUBLE_PLACE : LENS_TROUBLE_OTHER;
}

static enum lens_trouble grpc_trouble(int code)
{
	switch (code) {
	case LENS_GRPC_OK:
		return LENS_TROUBLE_NONE;
	case LENS_GRPC_UNAUTHENTICATED:
	case LENS_GRPC_PERMISSION_DENIED:
		return LENS_TROUBLE_CREDENTIALS;
	case LENS_GRPC_UNIMPLEMENTED:
		return LENS_TROUBLE_PLACE;
	case LENS_GRPC_UNAVAILABLE:
	case LENS_GRPC_RESOURCE_EXHAUSTED:
		return LENS_TROUBLE_BUSY;
	case LENS_GRPC_DEADLINE_EXCEEDED:
		return LENS_TROUBLE_SILENT;
	default:
		return LENS_TROUBLE_OTHER;
	}
}

enum lens_trouble lens_trouble_of(const struct lens_answer *answer, bool grpc, bool tls)
{
	if (grpc && answer->grpc.code >= 0)
		return answer->http2 ? grpc_trouble(answer->grpc.code) : LENS_TROUBLE_PROTOCOL;
	if (answer->status < 200)
		return failure_trouble(answer->code, grpc, tls);
	if (!grpc)
		return http_trouble(answer->status);
	/* HTTP without a status of gRPC: a proxy's word, or a server of HTTP alone. */
	switch (http_trouble(answer->status)) {
	case LENS_TROUBLE_CREDENTIALS:
		return LENS_TROUBLE_CREDENTIALS;
	case LENS_TROUBLE_BUSY:
		return LENS_TROUBLE_BUSY;
	default:
		return LENS_TROUBLE_PROTOCOL;
	}
}
