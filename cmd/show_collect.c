/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct show_collect {
	const struct show_wish *wish;
	struct lens_kept *kept;
	struct lens_trace_id *traces; /* sorted */
	size_t trace_count;
	size_t entries;        /* it was aimed at */
	char job[64], raw[24]; /* "": spans of any job */
	bool capitals;
};

static int trace_compare(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct lens_trace_id));
}

struct show_collect *show_collect_create(const struct show_wish *wish)
{
	struct show_collect *collect = calloc(1, sizeof(*collect));

	if (collect == NULL)
		return NULL;
	collect->wish = wish;
	collect->kept = lens_kept_create();
	if (collect->kept == NULL) {
		free(collect);
		return NULL;
	}
	return collect;
}

/* Whether spans of ATTEMPT (-1: any) may be in the trace of ENTRY. */
static bool may_have(const struct show_entry *entry, int64_t attempt)
{
	return attempt == -1 || entry->attempts == 0 ||
	       (attempt >= entry->least && attempt < entry->attempts);
}

int show_collect_aim(struct show_collect *collect, const struct show_index *index, size_t first,
		     size_t count)
{
	struct lens_trace_id *traces = calloc(count, sizeof(*traces));

	if (traces == NULL)
		return -1;
	free(collect->traces);
	collect->traces = traces;
	collect->trace_count = 0;
	for (size_t i = 0; i < count; i++)
		if (may_have(show_index_at(index, first + i), collect->wish->attempt))
			traces[collect->trace_count++] = show_index_at(index, first + i)->trace;
	qsort(traces, collect->trace_count, sizeof(*traces), trace_compare);
	collect->entries = count;
	if (!collect->wish->has_trace) {
		strcpy(collect->job, show_index_at(index, first)->job);
		strcpy(collect->raw, show_index_at(index, first)->raw);
	}
	collect->capitals = show_index_capitals(index);
	return 0;
}

size_t show_collect_entries(const struct show_collect *collect)
{
	return collect->entries;
}

void show_collect_destroy(struct show_collect *collect)
{
	int saved = errno;

	if (collect == NULL)
		return;
	lens_kept_destroy(collect->kept);
	free(collect->traces);
	free(collect);
	errno = saved;
}

void show_collect_needles(const struct show_collect *collect, struct show_needles *out)
{
	out->count = 0;
	/* Many are no faster than looking into every line. */
	if (collect->capitals || collect->trace_count > SHOW_NEEDLES)
		return;
	for (size_t i = 0; i < collect->trace_count; i++)
		lens_trace_id_hex(out->texts[out->count++], &collect->traces[i]);
}

/* Whether attribute KEY of the resource is VALUE; IF_NONE when it has none. */
static bool resource_is(const struct lens_read_span *span, const char *key, const char *value,
			bool if_none)
{
	struct lens_text text = LENS_TEXT_INIT;
	bool is = if_none;

	if (lens_read_resource(span, key, &text))
		is = text.data != NULL && strcmp(text.data, value) == 0;
	lens_text_clear(&text);
	return is;
}

static bool is_wanted(const struct show_collect *collect, const struct lens_read_span *span)
{
	int64_t attempt;

	if (bsearch(&span->trace, collect->traces, collect->trace_count, sizeof(*collect->traces),
		    trace_compare) == NULL)
		return false;
	/* A shell outside of the job knows an element of an array by its raw id alone. */
	if (collect->job[0] != '\0' && !resource_is(span, "slurm.job.id", collect->job, true) &&
	    !resource_is(span, "slurm.job.id.raw", collect->raw, false))
		return false;
	if (collect->wish->attempt == -1)
		return true;
	attempt = show_attempt_of(span);
	return attempt == -1 || attempt == collect->wish->attempt;
}

int show_collect_add(void *context, const struct lens_read_span *span)
{
	struct show_collect *collect = context;

	if (!is_wanted(collect, span))
		return 0;
	return lens_kept_add(collect->kept, span) == -1 ? 1 : 0;
}

const struct lens_kept *show_collect_kept(const struct show_collect *collect)
{
	return collect->kept;
}
