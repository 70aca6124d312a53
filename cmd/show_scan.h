/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_SCAN_H
#define LENS_CMD_SHOW_SCAN_H

#include "cmd/progress.h"
#include "cmd/show_files.h"
#include "lib/otlp/read.h"

#define SHOW_NEEDLES 4

/* Words of which a line must hold one to be looked into: most of a large file is of others. */
struct show_needles {
	char texts[SHOW_NEEDLES][64];
	size_t count; /* 0: every line is looked into */
};

/* What a reading met that it could not use. */
struct show_skipped {
	uint64_t lines;          /* broken ones */
	uint64_t spans;          /* without valid ids or times */
	struct lens_error first; /* the first broken line: where, why */
};

/* Which lines to look into, and who gets the spans. */
struct show_scan {
	struct show_needles needles;
	lens_read_fn *fn;
	void *context;
	struct show_skipped skipped; /* of this scan */
};

/*
 * Reads FILES as show_files_read does. A broken or cut line is skipped and counted. 0; -1 with
 * ERR; else what the scan's function returned.
 */
int show_scan_files(struct show_scan *scan, struct show_files *files, enum show_read how,
		    struct progress *progress, struct lens_error *err);

#endif
