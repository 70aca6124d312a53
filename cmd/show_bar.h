/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_BAR_H
#define LENS_CMD_SHOW_BAR_H

#include "cmd/terminal.h"

#include <stdint.h>

/* The stretch of time that a bar's cells stand for. */
struct show_axis {
	uint64_t start_ns, end_ns;
	size_t cells; /* 1 and more */
};

enum show_bar {
	SHOW_BAR_FULL,
	SHOW_BAR_LIGHT, /* of what waits, or stands for many */
};

/*
 * Adds a bar of AXIS's cells from START_NS to END_NS, blanks around it: to half a cell where there
 * is UTF-8, never less than a mark; an instant as a mark of its own, a cut end as such.
 */
void show_bar_add(struct lens_text *out, const struct terminal *terminal,
		  const struct show_axis *axis, uint64_t start_ns, uint64_t end_ns,
		  enum show_bar style, bool instant, bool cut);

/* The same of what waits from START_NS on and runs from RUN_NS on; UINT64_MAX: it never ran. */
void show_bar_runs_add(struct lens_text *out, const struct terminal *terminal,
		       const struct show_axis *axis, uint64_t start_ns, uint64_t end_ns,
		       uint64_t run_ns);

#endif
