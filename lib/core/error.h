/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_ERROR_H
#define LENS_CORE_ERROR_H

#define LENS_ERROR_TEXT 512 /* bytes, the NUL among them */

/*
 * What went wrong, in words for a person: what, where (option, key, file:line)
 * and what to do. A plain value, usually on the caller's stack.
 */
struct lens_error {
	char text[LENS_ERROR_TEXT]; /* always NUL-terminated, no newline at the end */
};

#define LENS_ERROR_INIT ((struct lens_error){ { 0 } })

/*
 * Writes the formatted text into ERR (longer text is cut; ERR may be NULL) and
 * returns -1, so that a caller can write `return lens_error_set(err, ...)`.
 * Keeps errno.
 */
int lens_error_set(struct lens_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Analyzers look into one file at a time, and would go on after `return lens_error_set(...)` as if all
 * were well. */
#ifdef LENS_ANALYZE
#define lens_error_set(...)                  \
	__extension__({                      \
		lens_error_set(__VA_ARGS__); \
		-1;                          \
	})
#endif

#endif
