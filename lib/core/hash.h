/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_HASH_H
#define LENS_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define LENS_SHA256_BYTES 32
#define LENS_SHA1_BYTES   20
#define LENS_MD5_BYTES    16

/* Digests by libmd, the one library beside libc that the plugin may need. */
void lens_sha256(uint8_t out[LENS_SHA256_BYTES], const void *bytes, size_t length);
void lens_sha1(uint8_t out[LENS_SHA1_BYTES], const void *bytes, size_t length);
void lens_md5(uint8_t out[LENS_MD5_BYTES], const void *bytes, size_t length);

/* For tables in memory alone: quick, another on another machine, and of no use against who chooses
 * the bytes. */
uint32_t lens_hash32(const void *bytes, size_t length);

#define LENS_FINGERPRINT_TEXT 9 /* bytes of one, its NUL included */

/* The first 8 lower-case hex digits of SHA-256 of STRING: how the mark knows a value. Short strings
 * are remembered, also across a fork. One thread at a time. */
void lens_fingerprint(char out[LENS_FINGERPRINT_TEXT], const char *string);

/* No more are remembered: children that are forked from here on only look, and so share the pages. */
void lens_fingerprints_settle(void);

/* The first 4 bytes of SHA-256 of STRING, big-endian: how file names name a node. */
uint32_t lens_name_number(const char *string);

#endif
