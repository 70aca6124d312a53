/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_RECORD_H
#define LENS_CORE_RECORD_H

#include "lib/core/carrier.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A record is one line, written by one write(2): `v=1,t=<realtime ns>,m=<monotonic ns>,
 * e=<event>,...` in the carrier's encoding. docs/journal.md lists events and keys.
 * A reader ignores keys it does not know and skips and counts a line that is cut or
 * foreign (no `v=1`, no event, no time).
 */
#define LENS_RECORD_MAX (256 * 1024) /* bytes of a line; a longer one is foreign */

/* A record of EVENT stamped with both clocks; the caller adds keys and destroys it.
 * NULL when memory ran out. */
struct lens_carrier *lens_record_create(const char *event);

/*
 * Appends RECORD as one line to FD (opened O_APPEND) in one write. *TORN (not NULL)
 * remembers a short write between calls: the next line then begins by ending
 * the cut one, so that only that is lost. 0, or -1 with errno: EMSGSIZE beyond
 * LENS_RECORD_MAX, EINVAL for a key that has no representation, ENOSPC after a short
 * write. SIGXFSZ never reaches the process.
 */
int lens_record_append(int fd, const struct lens_carrier *record, int *torn);

/* 1 when the file at FD (readable) ends inside a line: the TORN to begin with where
 * somebody else wrote before; else 0. */
int lens_record_torn(int fd);

/* A number of RECORD: the value of KEY, or FALLBACK when absent or no number. */
uint64_t lens_record_number(const struct lens_carrier *record, const char *key, uint64_t fallback);
/* Whether KEY of RECORD is 1. */
bool lens_record_flag(const struct lens_carrier *record, const char *key);
/* The clocks, 0 when absent or none that a clock here shows: sums and differences of them fit. */
#define LENS_RECORD_TIME_END (INT64_C(1) << 62)                   /* ns: the year 2116 */
int64_t lens_record_time(const struct lens_carrier *record);      /* t, ns */
int64_t lens_record_monotonic(const struct lens_carrier *record); /* m, ns */

/* An in-memory list of records, in file order. */
struct lens_records;

/*
 * Reads all of FD from its start (pread, the offset does not move). The caller
 * destroys. NULL with errno when reading failed or memory ran out. An unfinished last
 * line counts as skipped.
 */
struct lens_records *lens_records_read(int fd);
void lens_records_destroy(struct lens_records *records);

size_t lens_records_size(const struct lens_records *records); /* bytes that were read */
size_t lens_records_count(const struct lens_records *records);
const struct lens_carrier *lens_records_at(const struct lens_records *records, size_t index);
const char *lens_record_event(const struct lens_carrier *record); /* borrowed, never NULL */
size_t lens_records_skipped(const struct lens_records *records);

/* The last record of EVENT, or NULL; borrowed. */
const struct lens_carrier *lens_records_last(const struct lens_records *records, const char *event);

#endif
