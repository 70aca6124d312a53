/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/hash.h"

#include "lib/core/encoding.h"

#include <sys/types.h>

#include <md5.h>
#include <sha1.h>
#include <sha2.h>
#include <stdbool.h>
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

/* HASH with the eight bytes of WORD in it; the multiplier is 2^64 over the golden ratio, odd. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ (hash >> 32);
}

uint32_t lens_hash32(const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;
	uint64_t hash = length, word = 0;

	for (; length >= sizeof(word); byte += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, byte, sizeof(word));
		hash = mix(hash, word);
	}
	word = 0;
	for (size_t i = 0; i < length; i++)
		word = word << 8 | byte[i];
	return (uint32_t)mix(hash, word);
}

/* Fingerprints that were taken: tasks are forked from a process that has taken most of theirs. */
#define MEMO_SLOTS 256 /* a power of 2; a step has about 60 values */
#define MEMO_PROBE 4   /* slots that a string may be in */
#define MEMO_MAX   55  /* bytes of a string that is remembered */

struct memory {
	char string[MEMO_MAX + 1];
	char print[LENS_FINGERPRINT_TEXT];
};

static struct memory memo[MEMO_SLOTS];
static bool memo_settled;

/* Where STRING is remembered, or (with an empty print) is to be; NULL: nowhere. */
static struct memory *memo_find(const char *string, size_t length)
{
	uint32_t hash;

	if (length > MEMO_MAX)
		return NULL;
	hash = lens_hash32(string, length);
	for (uint32_t i = 0; i < MEMO_PROBE; i++) {
		struct memory *slot = &memo[(hash + i) & (MEMO_SLOTS - 1)];

		if (!*slot->print || strcmp(slot->string, string) == 0)
			return slot;
	}
	return NULL;
}

void lens_fingerprint(char out[LENS_FINGERPRINT_TEXT], const char *string)
{
	size_t length = strlen(string);
	struct memory *slot = memo_find(string, length);
	uint8_t digest[LENS_SHA256_BYTES];

	if (slot && *slot->print) {
		memcpy(out, slot->print, LENS_FINGERPRINT_TEXT);
		return;
	}
	lens_sha256(digest, string, length);
	lens_hex_encode(out, digest, 4);
	if (slot && !memo_settled) {
		memcpy(slot->string, string, length + 1);
		memcpy(slot->print, out, LENS_FINGERPRINT_TEXT);
	}
}

void lens_fingerprints_settle(void)
{
	memo_settled = true;
}

uint32_t lens_name_number(const char *string)
{
	uint8_t digest[LENS_SHA256_BYTES];

	lens_sha256(digest, string, strlen(string));
	return (uint32_t)digest[0] << 24 | (uint32_t)digest[1] << 16 | (uint32_t)digest[2] << 8 |
	       digest[3];
}
