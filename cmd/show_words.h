/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_WORDS_H
#define LENS_CMD_SHOW_WORDS_H

#include "cmd/show_picture.h"
#include "lib/core/text.h"

/* The words of a picture, for the terminal and the page alike. Values of spans are added as they
 * are: whoever writes them out escapes. */

/* What tells a span from its siblings, `slurm.task rank 3 n2`. */
void show_label_add(struct lens_text *out, const struct show_span *span);

/* How it went: `COMPLETED`, `ERROR exit_3`, `truncated`. Nothing for what went well. */
void show_outcome_add(struct lens_text *out, const struct show_span *span);

/* Nanoseconds in human units: `0 s`, `940 ms`, `8.73 s`, `2 min 05 s`, `1 h 02 min`, `3 d 04 h`. */
void show_duration_add(struct lens_text *out, uint64_t ns);

/* Nanoseconds since the epoch in the local zone: `2026-11-30 20:01:46 +0000`. */
void show_time_add(struct lens_text *out, uint64_t ns);

/* What a section is: `attempt 1, COMPLETED, 8.73 s`; of no job `service train`. */
void show_section_add(struct lens_text *out, const struct show_section *section);

/* Whose picture it is: `Job 36_3 train, alice, partition p, cluster mini`. */
void show_title_add(struct lens_text *out, const struct show_picture *picture);

#endif
