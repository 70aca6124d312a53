/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_NUMBER_H
#define LENS_CORE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Readers of numbers that say no to anything but the whole text, in any locale.
 * All return 0, or -1 and leave *OUT alone. NULL text is no number.
 */

/* `[+-]?[0-9]+` within int64: what an identity key of a carrier must be. */
int lens_int64_parse(const char *text, int64_t *out);

/* NUMBER in decimal, as `%lld` writes it: a task's hook has no time for printf. */
#define LENS_INT64_TEXT 24
void lens_int64_format(char out[LENS_INT64_TEXT], int64_t number);

/* `[0-9]+` within uint32. */
int lens_uint32_parse(const char *text, uint32_t *out);

/* `[0-9]+` within uint64. */
int lens_uint64_parse(const char *text, uint64_t *out);

/* A decimal from 0.0 to 1.0 with a point, exponent allowed (`0.1`, `1`, `1e-3`);
 * no sign, no blank, no comma, no nan. */
int lens_rate_parse(const char *text, double *out);

/* The shortest text that lens_rate_parse reads as RATE, in any locale. */
#define LENS_RATE_TEXT 32
void lens_rate_format(char out[LENS_RATE_TEXT], double rate);

/* 1/0 true/false yes/no on/off, in any case. */
int lens_bool_parse(const char *text, bool *out);

/* Bytes: digits and an optional K, M or G (1024s, any case). */
int lens_size_parse(const char *text, uint64_t *out);

#endif
