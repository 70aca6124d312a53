/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/hash.h"

#include "lib/core/encoding.h"

#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Examples of FIPS 180-4 and RFC 1321. */
static void digests_are_the_published_ones(void **state)
{
	uint8_t digest[LENS_SHA256_BYTES];
	char hex[2 * LENS_SHA256_BYTES + 1];

	(void)state;
	lens_sha256(digest, "abc", 3);
	lens_hex_encode(hex, digest, LENS_SHA256_BYTES);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	lens_sha256(digest, "", 0);
	lens_hex_encode(hex, digest, LENS_SHA256_BYTES);
	assert_string_equal(hex,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	lens_sha1(digest, "abc", 3);
	lens_hex_encode(hex, digest, LENS_SHA1_BYTES);
	assert_string_equal(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
	lens_md5(digest, "message digest", 14);
	lens_hex_encode(hex, digest, LENS_MD5_BYTES);
	assert_string_equal(hex, "f96b697d7cb7938d525a2f31aaf161d0");
}

static void a_fingerprint_is_the_digest_s_first_digits(void **state)
{
	static const char long_value[] =
		"a value of more bytes than those that are remembered have, and then some";
	char fingerprint[LENS_FINGERPRINT_TEXT], digest_of_long[LENS_FINGERPRINT_TEXT];
	uint8_t digest[LENS_SHA256_BYTES];

	(void)state;
	lens_fingerprint(fingerprint, "abc");
	assert_string_equal(fingerprint, "ba7816bf");
	lens_fingerprint(fingerprint, "");
	assert_string_equal(fingerprint, "e3b0c442");
	lens_sha256(digest, long_value, strlen(long_value));
	lens_hex_encode(digest_of_long, digest, 4);
	lens_fingerprint(fingerprint, long_value);
	assert_string_equal(fingerprint, digest_of_long);
	/* Again, with more strings between than are remembered, and when no more are. */
	for (int i = 0; i < 1000; i++) {
		char string[16], expected[LENS_FINGERPRINT_TEXT];

		if (i == 600)
			lens_fingerprints_settle();
		snprintf(string, sizeof(string), "%d", i % 300);
		lens_sha256(digest, string, strlen(string));
		lens_hex_encode(expected, digest, 4);
		lens_fingerprint(fingerprint, string);
		assert_string_equal(fingerprint, expected);
	}
}

static void a_name_s_number_is_the_digest_s_first_bytes(void **state)
{
	(void)state;
	assert_true(lens_name_number("abc") == 0xba7816bfU);
	assert_true(lens_name_number("node-001") == 3285906400U);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_the_published_ones),
		cmocka_unit_test(a_fingerprint_is_the_digest_s_first_digits),
		cmocka_unit_test(a_name_s_number_is_the_digest_s_first_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
