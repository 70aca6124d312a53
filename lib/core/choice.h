/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_CHOICE_H
#define LENS_CORE_CHOICE_H

#include <stdbool.h>

/* What a user or a site may choose, in the words of a message: an option, a variable and
 * a key that mean the same take the same and say the same. */
#define LENS_TAKES_RUN_ID   "1 to 255 bytes of UTF-8 without control characters"
#define LENS_TAKES_STRATEGY "single_rank, all_ranks, sampled or first_rank_per_node"
#define LENS_TAKES_RANK	    "a rank: 0 or more, or -1 for the last"
#define LENS_TAKES_RATE	    "a rate from 0.0 to 1.0 (use a decimal point)"
#define LENS_TAKES_BOOL	    "1 or 0, true or false, yes or no, on or off"

/* Whether ID may be a run id. */
bool lens_run_id_valid(const char *id);

#endif
