/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_index.h"

#include "lib/core/encoding.h"
#include "lib/core/number.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct show_index {
	const struct show_wish *wish;
	struct show_entry **entries;
	size_t count, capacity;
	size_t seen; /* without the hidden ones, which are last */
	void *known; /* tsearch, by trace and job */
	bool capitals;
	struct show_entry *last; /* spans of one job stand together in a file */
};

struct show_index *show_index_create(const struct show_wish *wish)
{
	struct show_index *index = calloc(1, sizeof(*index));

	if (index != NULL)
		index->wish = wish;
	return index;
}

static void entry_keep(void *entry)
{
	(void)entry; /* freed through the list */
}

void show_index_destroy(struct show_index *index)
{
	int saved = errno;

	if (index == NULL)
		return;
	tdestroy(index->known, entry_keep);
	for (size_t i = 0; i < index->count; i++)
		free(index->entries[i]);
	free(index->entries);
	free(index);
	errno = saved;
}

/* The attribute's text into OUT of SIZE bytes, cut; "" when there is none. */
static void text_take(char *out, size_t size, const struct lens_read_span *span, const char *key)
{
	struct lens_text text = LENS_TEXT_INIT;
	size_t length = 0;

	if (lens_read_resource(span, key, &text) && text.data != NULL) {
		length = lens_utf8_cut(text.data, text.length, size - 1);
		memcpy(out, text.data, length);
	}
	out[length] = '\0';
	lens_text_clear(&text);
}

static int64_t number_of(const struct lens_text *text)
{
	int64_t number = -1;

	lens_int64_parse(text->data, &number);
	return number;
}

int64_t show_attempt_of(const struct lens_read_span *span)
{
	struct lens_text text = LENS_TEXT_INIT;
	int64_t attempt = -1;

	if (lens_read_attribute(span, "slurm.attempt", &text) ||
	    lens_read_resource(span, "slurm.restart_count", &text))
		attempt = number_of(&text);
	lens_text_clear(&text);
	return attempt;
}

static bool is_wanted(const struct show_wish *wish, const struct lens_read_span *span,
		      const struct show_entry *key)
{
	char array[24], cluster[64];

	if (wish->has_trace)
		return memcmp(&wish->trace, &key->trace, sizeof(key->trace)) == 0;
	if (*wish->cluster != '\0') {
		text_take(cluster, sizeof(cluster), span, "slurm.cluster.name");
		if (strcmp(cluster, wish->cluster) != 0)
			return false;
	}
	if (*wish->job == '\0')
		return true;
	if (strcmp(key->job, wish->job) == 0 || strcmp(key->raw, wish->job) == 0)
		return true;
	text_take(array, sizeof(array), span, "slurm.array.job_id");
	return strcmp(array, wish->job) == 0;
}

static int key_compare(const void *left, const void *right)
{
	const struct show_entry *a = left, *b = right;
	int order = memcmp(&a->trace, &b->trace, sizeof(a->trace));

	return order != 0 ? order : strcmp(a->job, b->job);
}

/* A new entry, as KEY says. NULL: no memory. */
static struct show_entry *entry_add(struct show_index *index, const struct show_entry *key,
				    const struct lens_read_span *span)
{
	struct show_entry *entry = calloc(1, sizeof(*entry));

	if (entry == NULL)
		return NULL;
	if (index->count == index->capacity) {
		size_t capacity = index->capacity > 0 ? 2 * index->capacity : 64;
		struct show_entry **entries =
			reallocarray(index->entries, capacity, sizeof(struct show_entry *));

		if (entries == NULL) {
			free(entry);
			return NULL;
		}
		index->entries = entries;
		index->capacity = capacity;
	}
	*entry = *key;
	entry->start_ns = UINT64_MAX;
	text_take(entry->cluster, sizeof(entry->cluster), span, "slurm.cluster.name");
	text_take(entry->service, sizeof(entry->service), span, "service.name");
	if (tsearch(entry, &index->known, key_compare) == NULL) {
		free(entry);
		return NULL;
	}
	index->entries[index->count++] = entry;
	return entry;
}

static struct show_entry *entry_of(struct show_index *index, const struct show_entry *key,
				   const struct lens_read_span *span)
{
	struct show_entry **found;

	if (index->last != NULL && key_compare(index->last, key) == 0)
		return index->last;
	found = tfind(key, &index->known, key_compare);
	index->last = found != NULL ? *found : entry_add(index, key, span);
	return index->last;
}

/* What the span of a whole attempt says. */
static void attempt_note(struct show_entry *entry, const struct lens_read_span *span,
			 int64_t attempt)
{
	struct lens_text text = LENS_TEXT_INIT;
	size_t length;

	if (attempt + 1 < entry->attempts)
		return; /* a later one is known */
	lens_read_attribute(span, "slurm.state", &text);
	length = text.data != NULL ? lens_utf8_cut(text.data, text.length, sizeof(entry->state) - 1)
				   : 0;
	memcpy(entry->state, length > 0 ? text.data : "", length);
	entry->state[length] = '\0';
	entry->over = strcmp(entry->state, "REQUEUED") != 0;
	lens_text_clear(&text);
}

int show_index_add(void *context, const struct lens_read_span *span)
{
	struct show_index *index = context;
	struct show_entry key = { .trace = span->trace }, *entry;
	struct lens_text name = LENS_TEXT_INIT;
	int64_t attempt = show_attempt_of(span);

	text_take(key.job, sizeof(key.job), span, "slurm.job.id");
	text_take(key.raw, sizeof(key.raw), span, "slurm.job.id.raw");
	if (!is_wanted(index->wish, span, &key))
		return 0;
	entry = entry_of(index, &key, span);
	if (entry == NULL)
		return 1;
	index->capitals = index->capitals || span->capitals;
	/* Not every span knows them: slurmctld may not have answered yet. */
	if (entry->name[0] == '\0')
		text_take(entry->name, sizeof(entry->name), span, "slurm.job.name");
	if (entry->user[0] == '\0')
		text_take(entry->user, sizeof(entry->user), span, "slurm.job.user");
	if (span->start_ns < entry->start_ns)
		entry->start_ns = span->start_ns;
	if (span->end_ns > entry->end_ns)
		entry->end_ns = span->end_ns;
	entry->spans++;
	entry->errors += span->status == LENS_STATUS_ERROR;
	if (attempt >= 0 && (entry->attempts == 0 || attempt < entry->least))
		entry->least = attempt;
	if (attempt >= entry->attempts && attempt < INT32_MAX) {
		entry->attempts = attempt + 1;
		entry->state[0] = '\0';
		entry->over = false;
	}
	lens_read_name(span, &name);
	if (name.data != NULL && strcmp(name.data, "slurm.job_attempt") == 0)
		attempt_note(entry, span, attempt);
	lens_text_clear(&name);
	return 0;
}

static bool same_job(const struct show_entry *a, const struct show_entry *b)
{
	return a->job[0] != '\0' && strcmp(a->job, b->job) == 0 &&
	       strcmp(a->cluster, b->cluster) == 0;
}

static int time_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int trace_compare(const void *left, const void *right)
{
	return key_compare(*(struct show_entry *const *)left, *(struct show_entry *const *)right);
}

static int job_compare(const void *left, const void *right)
{
	const struct show_entry *a = *(struct show_entry *const *)left;
	const struct show_entry *b = *(struct show_entry *const *)right;
	int order = a->hidden - b->hidden;

	if (order == 0)
		order = (a->job[0] == '\0') - (b->job[0] == '\0');
	if (order == 0)
		order = strcmp(a->cluster, b->cluster);
	if (order == 0)
		order = strverscmp(a->job, b->job);
	if (order == 0)
		order = time_compare(a->start_ns, b->start_ns);
	return order != 0 ? order : memcmp(&a->trace, &b->trace, sizeof(a->trace));
}

void show_index_finish(struct show_index *index)
{
	if (index->count == 0)
		return;
	/* In a trace, what names no job comes first. */
	qsort(index->entries, index->count, sizeof(struct show_entry *), trace_compare);
	for (size_t i = 0; i < index->count; i++)
		index->entries[i]->hidden =
			index->entries[i]->job[0] == '\0' && i + 1 < index->count &&
			memcmp(&index->entries[i]->trace, &index->entries[i + 1]->trace,
			       sizeof(struct lens_trace_id)) == 0;
	qsort(index->entries, index->count, sizeof(struct show_entry *), job_compare);
	for (index->seen = index->count;
	     index->seen > 0 && index->entries[index->seen - 1]->hidden;)
		index->seen--;
}

size_t show_index_count(const struct show_index *index)
{
	return index->seen;
}

struct show_index_sums show_index_sums(const struct show_index *index)
{
	struct show_index_sums sums = { 0 };

	for (size_t i = 0; i < index->seen; i += show_index_group(index, i)) {
		if (index->entries[i]->job[0] != '\0')
			sums.jobs++;
		else
			sums.traces++;
	}
	return sums;
}

const struct show_entry *show_index_at(const struct show_index *index, size_t number)
{
	return index->entries[number];
}

bool show_index_capitals(const struct show_index *index)
{
	return index->capitals;
}

size_t show_index_group(const struct show_index *index, size_t number)
{
	size_t end = number + 1;

	while (end < index->seen && same_job(index->entries[number], index->entries[end]))
		end++;
	return end - number;
}
