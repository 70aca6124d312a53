/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_NAMES_H
#define LENS_CMD_SHOW_NAMES_H

#include "lib/core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Paths of files with spans, the one that was written last at the end. */
struct show_names {
	char **paths;
	size_t count;
	uint64_t bytes; /* of all of them */
};

/*
 * The regular files of DIRECTORY that belong to BASE: itself, and what it was rotated into; or,
 * BASE being NULL, all whose name without the marks of rotation ends in `.jsonl`. 0, also when
 * there are none; -1 with ERR. The caller clears either way.
 */
int show_names_list(struct show_names *names, const char *directory, const char *base,
		    struct lens_error *err);
void show_names_clear(struct show_names *names);

/*
 * Whether NAME is BASE or BASE rotated: `BASE.1`, `BASE-20261130` (logrotate), and
 * `traces-2026-11-30T10-00-00.000.jsonl` of `traces.jsonl` (the Collector); each also with `.gz`.
 * BASE NULL: whether it is any `*.jsonl`, rotated or not.
 */
bool show_names_match(const char *name, const char *base);

#endif
