/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/gzip.h"

#define ZLIB_CONST /* its input is not written to */
#include <limits.h>
#include <stdint.h>
#include <zlib.h>

/* zlib writes gzip's header and trailer for a window of 15 bits plus this. */
#define GZIP_WINDOW (15 + 16)
#define GZIP_MEMORY 8 /* zlib's default */

static int deflate_all(z_stream *stream, struct lens_text *out, const uint8_t *bytes, size_t length)
{
	char chunk[16 * 1024];
	int code = Z_OK;

	while (code == Z_OK) {
		/* zlib counts in unsigned int. */
		if (stream->avail_in == 0) {
			stream->next_in = bytes;
			stream->avail_in = length < UINT_MAX ? (unsigned int)length : UINT_MAX;
			bytes += stream->avail_in;
			length -= stream->avail_in;
		}
		stream->next_out = (unsigned char *)chunk;
		stream->avail_out = sizeof(chunk);
		code = deflate(stream, length > 0 ? Z_NO_FLUSH : Z_FINISH);
		lens_text_add(out, chunk, sizeof(chunk) - stream->avail_out);
	}
	return code == Z_STREAM_END && !out->failed ? 0 : -1;
}

int lens_gzip_add(struct lens_text *out, const void *bytes, size_t length)
{
	z_stream stream = { 0 };
	int rc;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -1;
	rc = deflate_all(&stream, out, bytes, length);
	deflateEnd(&stream);
	return rc;
}
