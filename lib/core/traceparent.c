/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/traceparent.h"

#include "lib/core/encoding.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Where the parts stand in `vv-<32>-<16>-ff`. */
#define TRACE_AT  3
#define SPAN_AT   36
#define FLAGS_AT  53
#define LENGTH_00 55

#define FLAG_SAMPLED 0x01
#define FLAG_RANDOM  0x02

/* VERSION of TEXT and whether TEXT is as long as that version may be. */
static int shape_check(const char *text, unsigned char *version)
{
	size_t length = strlen(text);

	if (length < LENGTH_00 || lens_hex_decode(version, 1, text) < 0 || *version == 0xFF)
		return -1;
	if (length > LENGTH_00 && (*version == 0 || text[LENGTH_00] != '-'))
		return -1;
	if (text[TRACE_AT - 1] != '-' || text[SPAN_AT - 1] != '-' || text[FLAGS_AT - 1] != '-')
		return -1;
	return 0;
}

int lens_traceparent_parse(struct lens_traceparent *out, const char *text)
{
	struct lens_traceparent value;
	char trace[LENS_TRACE_HEX] = "", span[LENS_SPAN_HEX] = "";
	unsigned char version, flags;

	if (!text || shape_check(text, &version) < 0)
		return -1;
	memcpy(trace, text + TRACE_AT, sizeof(trace) - 1);
	memcpy(span, text + SPAN_AT, sizeof(span) - 1);
	if (lens_trace_id_parse(&value.trace, trace) < 0 ||
	    lens_span_id_parse(&value.span, span) < 0 ||
	    lens_hex_decode(&flags, 1, text + FLAGS_AT) < 0)
		return -1;
	/* Of a later version only the sampled flag is promised to mean the same. */
	value.flags = version == 0 ? flags : flags & FLAG_SAMPLED;
	*out = value;
	return 0;
}

void lens_traceparent_format(char out[LENS_TRACEPARENT_TEXT], const struct lens_traceparent *value)
{
	char trace[LENS_TRACE_HEX], span[LENS_SPAN_HEX];

	lens_trace_id_hex(trace, &value->trace);
	lens_span_id_hex(span, &value->span);
	/* A writer sets the flags that its version does not define to zero. */
	snprintf(out, LENS_TRACEPARENT_TEXT, "00-%s-%s-%02x", trace, span,
		 (unsigned int)(value->flags & (FLAG_SAMPLED | FLAG_RANDOM)));
}
