/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_CHOICE_H
#define LENS_CORE_CHOICE_H

#include <stdbool.h>

/* What an outer TRACEPARENT, the submitter's, means to the job's trace. */
enum lens_outer {
	LENS_OUTER_LINK,   /* the attempt's root links to it */
	LENS_OUTER_PARENT, /* the job's spans go into its trace, below it */
	LENS_OUTER_OFF,
};

/* What a user or a site may choose, in the words of a message: an option, a variable and
 * a key that mean the same take the same and say the same. */
#define LENS_TAKES_RUN_ID   "1 to 255 bytes of UTF-8 without control characters"
#define LENS_TAKES_STRATEGY "single_rank, all_ranks, sampled or first_rank_per_node"
#define LENS_TAKES_RANK     "a rank: 0 or more, or -1 for the last"
#define LENS_TAKES_RATE     "a rate from 0.0 to 1.0 (use a decimal point)"
#define LENS_TAKES_BOOL     "1 or 0, true or false, yes or no, on or off"

#define LENS_TAKES_NAME       LENS_TAKES_RUN_ID
#define LENS_TAKES_RANKS      "auto, task or launcher"
#define LENS_TAKES_OUTER      "link, parent or off"
#define LENS_TAKES_GROUPS     "names of letters, digits, `_`, `.` and `-`, joined by commas"
#define LENS_TAKES_ATTRIBUTES "a list key=value,key=value with values percent-encoded"
#define LENS_TAKES_URL                                                                     \
	"a URL that begins with http:// or https:// and names a host (an IPv6 address in " \
	"brackets)"

/* Whether ID may be a run id, or another name that goes into an attribute. */
bool lens_run_id_valid(const char *id);

/* Whether TEXT has the form of a list of span groups; which there are, only a library knows. */
bool lens_groups_valid(const char *text);

/* Whether every entry of TEXT, a carrier, is well-formed and there is one. False also when memory
 * ran out. */
bool lens_attributes_valid(const char *text);

/* `http://` or `https://`, any case, and a host; an IPv6 address stands in brackets. */
bool lens_url_valid(const char *text);

/* "link", "parent", "off", in any case. 0 or -1. */
int lens_outer_parse(const char *text, enum lens_outer *out);
const char *lens_outer_name(enum lens_outer outer);

#endif
