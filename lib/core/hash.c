/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/hash.h"

#include "lib/core/encoding.h"

#include <sys/types.h>

#include <md5.h>
#include <sha1.h>
#include <sha2.h>
#include <string.h>

void lens_sha256(uint8_t out[LENS_SHA256_BYTES], const void *bytes, size_t length)
{
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, bytes, length);
	SHA256Final(out, &context);
}

void lens_sha1(uint8_t out[LENS_SHA1_BYTES], const void *bytes, size_t length)
{
	SHA1_CTX context;

	SHA1Init(&context);
	SHA1Update(&context, bytes, length);
	SHA1Final(out, &context);
}

void lens_md5(uint8_t out[LENS_MD5_BYTES], const void *bytes, size_t length)
{
	MD5_CTX context;

	MD5Init(&context);
	MD5Update(&context, bytes, length);
	MD5Final(out, &context);
}

void lens_fingerprint(char out[9], const char *string)
{
	uint8_t digest[LENS_SHA256_BYTES];

	lens_sha256(digest, string, strlen(string));
	lens_hex_encode(out, digest, 4);
}

uint32_t lens_name_number(const char *string)
{
	uint8_t digest[LENS_SHA256_BYTES];

	lens_sha256(digest, string, strlen(string));
	return (uint32_t)digest[0] << 24 | (uint32_t)digest[1] << 16 | (uint32_t)digest[2] << 8 |
	       digest[3];
}
