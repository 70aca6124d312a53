/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_names.h"

#include "lib/core/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_in(const char *text, size_t length, const char *end)
{
	return length >= strlen(end) && memcmp(text + length - strlen(end), end, strlen(end)) == 0;
}

/* The length of NAME without `.gz`, and then without `.1` or `-20261130`. */
static size_t plain_length(const char *name)
{
	size_t length = strlen(name), digits;

	if (ends_in(name, length, ".gz"))
		length -= strlen(".gz");
	digits = length;
	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits < length && digits > 0 && (name[digits - 1] == '.' || name[digits - 1] == '-'))
		return digits - 1;
	return length;
}

/* `traces-2026...jsonl` of `traces.jsonl`: LENGTH is NAME's without `.gz`. */
static bool is_dated(const char *name, size_t length, const char *base)
{
	const char *point = strrchr(base, '.');
	size_t stem = point != NULL ? (size_t)(point - base) : strlen(base);

	return length > strlen(base) + 1 && strncmp(name, base, stem) == 0 && name[stem] == '-' &&
	       isdigit((unsigned char)name[stem + 1]) && ends_in(name, length, base + stem);
}

bool show_names_match(const char *name, const char *base)
{
	size_t length = plain_length(name), packed = strlen(name);

	if (base == NULL)
		return ends_in(name, length, ".jsonl") && length > strlen(".jsonl");
	if (strcmp(name, base) == 0 || (length == strlen(base) && strncmp(name, base, length) == 0))
		return true;
	if (ends_in(name, packed, ".gz"))
		packed -= strlen(".gz");
	return is_dated(name, packed, base);
}

struct found {
	char *path;
	struct timespec written;
	uint64_t bytes;
};

static int found_compare(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	if (a->written.tv_sec != b->written.tv_sec)
		return a->written.tv_sec < b->written.tv_sec ? -1 : 1;
	if (a->written.tv_nsec != b->written.tv_nsec)
		return a->written.tv_nsec < b->written.tv_nsec ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* 0 also when NAME is nothing to read. */
static int found_add(struct found **list, size_t *count, const char *directory, const char *name)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct found *grown;
	struct stat status;
	char *path;

	if (strcmp(directory, ".") != 0)
		lens_text_addf(&text, "%s/", strcmp(directory, "/") == 0 ? "" : directory);
	lens_text_adds(&text, name);
	path = lens_text_take(&text);
	if (path == NULL)
		return -1;
	if (stat(path, &status) == -1 || !S_ISREG(status.st_mode)) {
		free(path);
		return 0;
	}
	grown = reallocarray(*list, *count + 1, sizeof(*grown));
	if (grown == NULL) {
		free(path);
		return -1;
	}
	*list = grown;
	grown[(*count)++] = (struct found){ path, status.st_mtim, (uint64_t)status.st_size };
	return 0;
}

static int found_hand_over(struct show_names *names, struct found *list, size_t count)
{
	if (count > 0)
		qsort(list, count, sizeof(*list), found_compare);
	names->paths = calloc(count + 1, sizeof(*names->paths));
	for (size_t i = 0; i < count; i++) {
		names->bytes += list[i].bytes;
		if (names->paths == NULL)
			free(list[i].path);
		else
			names->paths[names->count++] = list[i].path;
	}
	free(list);
	return names->paths == NULL ? -1 : 0;
}

int show_names_list(struct show_names *names, const char *directory, const char *base,
		    struct lens_error *err)
{
	DIR *open = opendir(directory);
	struct found *list = NULL;
	struct dirent *entry;
	size_t count = 0;
	int rc = 0;

	/* The directory of a file that is still to come may be to come as well. */
	if (open == NULL && errno == ENOENT && base != NULL)
		return 0;
	/* One may read a file without being allowed to list where it lies. */
	if (open == NULL && (errno != EACCES || base == NULL))
		return lens_error_set(err, "%s: %s", directory, strerror(errno));
	if (open == NULL)
		rc = found_add(&list, &count, directory, base);
	while (open != NULL && rc == 0 && (entry = readdir(open)) != NULL)
		if (show_names_match(entry->d_name, base))
			rc = found_add(&list, &count, directory, entry->d_name);
	if (open != NULL)
		closedir(open);
	if (found_hand_over(names, list, count) == -1 || rc == -1)
		return lens_error_set(err, "out of memory");
	return 0;
}

void show_names_clear(struct show_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->paths[i]);
	free(names->paths);
	*names = (struct show_names){ 0 };
}
