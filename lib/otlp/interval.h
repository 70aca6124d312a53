/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_INTERVAL_H
#define LENS_OTLP_INTERVAL_H

#include "lib/core/error.h"
#include "lib/otlp/span.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Spans as somebody measured them: names, windows, and parents by name, which are checked as a
 * whole before any of them becomes a span (the rules of the published Lens command `emit-spans`).
 */

/* What an end before its start may be: clocks differ. */
#define LENS_INVERSION_MAX_NS INT64_C(30000000)

struct lens_interval {
	char *name;
	char *parent; /* NULL: none of these */
	int64_t start_ns, end_ns;
	bool kind_set, status_set; /* somebody said them; else INTERNAL and UNSET */
	enum lens_span_kind kind;
	enum lens_span_status status;
	char *message;           /* of ERROR; NULL: none */
	json_object *attributes; /* an object of scalars and arrays of strings */
	size_t parent_at;        /* after the check, where there is a parent */
};

struct lens_intervals {
	struct lens_interval *items;
	size_t count, capacity;
};

#define LENS_INTERVALS_INIT ((struct lens_intervals){ 0 })
void lens_intervals_clear(struct lens_intervals *list);

/*
 * Adds what TEXT, `NAME,START,END[,PARENT]`, says; blanks around each are left out, times are as
 * lens_timestamp_parse takes them. 0, or -1 with ERR naming what is wrong with TEXT.
 */
int lens_intervals_add(struct lens_intervals *list, const char *text, int64_t now_ns,
		       struct lens_error *err);

/*
 * Adds what LINE, a JSON object, says: `name`, `start`, `end`, and where they are wanted `parent`,
 * `kind`, `status`, `message`, `attributes`. Times are numbers or strings as above; an attribute is
 * a string, a number, a boolean or an array of strings. 0, or -1 with ERR.
 */
int lens_intervals_add_json(struct lens_intervals *list, const char *line, size_t length,
			    int64_t now_ns, struct lens_error *err);

/* Sets the string attribute KEY of INTERVAL. 0, or -1: no memory. */
int lens_interval_attribute(struct lens_interval *interval, const char *key, const char *value);

/* Sets the kind from what LENS_TAKES_KIND says, in any case. 0 or -1. */
int lens_interval_kind(struct lens_interval *interval, const char *text);
#define LENS_TAKES_KIND "internal, server, client, producer or consumer"

/* Sets a status from `unset`, `ok`, `error` or `error:MESSAGE`. 0; -1: it is none of these, or no
 * memory. */
int lens_interval_status(struct lens_interval *interval, const char *text);
#define LENS_TAKES_STATUS "unset, ok, error or error:MESSAGE"

/* Called for each thing that is wrong (FATAL) or was set right. */
typedef void lens_interval_problem_fn(void *context, bool fatal, const char *text);

/*
 * Whether LIST can be sent, all of it or nothing: names once, parents that are there and no cycle
 * of them, no end more than LENS_INVERSION_MAX_NS before its start; a smaller inversion is told
 * and the end set to the start. Fills parent_at. The number of fatal problems; -1: no memory.
 */
int lens_intervals_check(struct lens_intervals *list, lens_interval_problem_fn *problem,
			 void *context);

/* Where the spans hang: in TRACE, those without a parent of their own below PARENT (NULL: roots). */
struct lens_interval_place {
	struct lens_trace_id trace;
	const struct lens_span_id *parent;
	uint8_t flags;
};

/* Adds COUNT checked intervals from FIRST on to GROUP; IDS holds the span id of each of LIST.
 * lens_batch_failed tells whether memory ran out. */
void lens_intervals_build(struct lens_group *group, const struct lens_intervals *list,
			  const struct lens_interval_place *place, const struct lens_span_id *ids,
			  size_t first, size_t count);

/* Room for one more, zeroed but for its kind, and counted; NULL: no memory. For the readers. */
struct lens_interval *lens_intervals_grow(struct lens_intervals *list);
/* Takes the last one out again. */
void lens_intervals_shrink(struct lens_intervals *list);

#endif
