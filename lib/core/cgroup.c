/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/cgroup.h"
#include "lib/core/fd.h"
#include "lib/core/number.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define ROOT     "/sys/fs/cgroup"
#define V1_FILE  "memory.oom_control"
#define V2_FILE  "memory.events" /* hierarchical */
#define FILE_MAX 16384           /* bytes; both files are a few lines */

/* The length of PATH (of LENGTH bytes) up to and with the step's component below that of JOB;
 * 0 when it has none. */
static size_t step_length(const char *path, size_t length, uint32_t job)
{
	char needle[32];
	const char *found;
	size_t end;

	snprintf(needle, sizeof(needle), "/job_%" PRIu32 "/step_", job);
	found = memmem(path, length, needle, strlen(needle));
	if (found == NULL)
		return 0;
	end = (size_t)(found - path) + strlen(needle);
	while (end < length && path[end] != '/')
		end++;
	return end;
}

/* Whether LIST, `cpu,memory` say, of LENGTH bytes, names the memory controller. */
static bool has_memory(const char *list, size_t length)
{
	while (length > 0) {
		const char *comma = memchr(list, ',', length);
		size_t name = comma != NULL ? (size_t)(comma - list) : length;

		if (name == strlen("memory") && memcmp(list, "memory", name) == 0)
			return true;
		if (comma == NULL)
			return false;
		list += name + 1;
		length -= name + 1;
	}
	return false;
}

/* One line `<id>:<controllers>:<path>`. True when it gave the file. */
static bool line_read(struct lens_text *out, const char *line, size_t length, uint32_t job)
{
	const char *controllers = memchr(line, ':', length);
	const char *path;
	bool unified;
	size_t step;

	if (controllers == NULL)
		return false;
	controllers++;
	path = memchr(controllers, ':', length - (size_t)(controllers - line));
	if (path == NULL)
		return false;
	unified = path == controllers && line[0] == '0';
	if (!unified && !has_memory(controllers, (size_t)(path - controllers)))
		return false;
	path++;
	step = step_length(path, length - (size_t)(path - line), job);
	if (step == 0)
		return false;
	lens_text_adds(out, unified ? ROOT : ROOT "/memory");
	lens_text_add(out, path, step);
	lens_text_adds(out, unified ? "/" V2_FILE : "/" V1_FILE);
	return true;
}

int lens_cgroup_counter_path(struct lens_text *out, const char *text, uint32_t job)
{
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");

		if (line_read(out, text, length, job))
			return out->failed ? -1 : 0;
		text += length + (text[length] == '\n');
	}
	return -1;
}

int lens_cgroup_counter_parse(uint64_t *out, const char *text)
{
	static const char name[] = "oom_kill ";
	char digits[24];
	size_t length;

	for (; text != NULL; text = strchr(text, '\n'), text += text != NULL) {
		if (strncmp(text, name, strlen(name)) != 0)
			continue;
		text += strlen(name);
		length = strcspn(text, "\n");
		if (length >= sizeof(digits))
			return -1;
		memcpy(digits, text, length);
		digits[length] = '\0';
		return lens_uint64_parse(digits, out);
	}
	return -1;
}

static bool is_of_the_kernel(int fd)
{
	struct statfs status;

	if (fstatfs(fd, &status) != 0)
		return false;
	return status.f_type == CGROUP_SUPER_MAGIC || status.f_type == CGROUP2_SUPER_MAGIC ||
	       status.f_type == PROC_SUPER_MAGIC;
}

/* The content of PATH below DIRECTORY; NULL when it is none of the kernel's. The caller frees. */
static char *file_read(int directory, const char *path)
{
	int fd = openat(directory, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *text = NULL;
	ssize_t count = -1;

	if (fd >= 0 && is_of_the_kernel(fd))
		text = malloc(FILE_MAX);
	if (text != NULL)
		count = read(fd, text, FILE_MAX - 1);
	lens_fd_close(fd);
	if (count < 0) {
		free(text);
		return NULL;
	}
	text[count] = '\0';
	return text;
}

/* Adds the count in the file PATH below DIRECTORY. 0, or -1 when there is none. */
static int counter_add(uint64_t *sum, int directory, const char *path)
{
	char *text = file_read(directory, path);
	uint64_t count;
	int rc = -1;

	if (text != NULL && lens_cgroup_counter_parse(&count, text) == 0) {
		*sum += count;
		rc = 0;
	}
	free(text);
	return rc;
}

/* v1 counts in the group of the process alone: adds those of the tasks' below PATH's. */
static void tasks_add(uint64_t *sum, const char *path)
{
	char *group = strndup(path, (size_t)(strrchr(path, '/') - path));
	DIR *list = group == NULL ? NULL : opendir(group);
	struct dirent *entry;
	char file[NAME_MAX + sizeof("/" V1_FILE)];

	free(group);
	while (list != NULL && (entry = readdir(list)) != NULL) {
		if (strncmp(entry->d_name, "task_", strlen("task_")) != 0)
			continue;
		snprintf(file, sizeof(file), "%s/" V1_FILE, entry->d_name);
		counter_add(sum, dirfd(list), file);
	}
	if (list != NULL)
		closedir(list);
}

int lens_cgroup_oom_kills(uint64_t *out, uint32_t job)
{
	char *own = file_read(AT_FDCWD, "/proc/self/cgroup");
	struct lens_text path = LENS_TEXT_INIT;
	uint64_t sum = 0;
	int rc = -1;

	if (own != NULL && lens_cgroup_counter_path(&path, own, job) == 0)
		rc = counter_add(&sum, AT_FDCWD, path.data);
	if (rc == 0 && strcmp(strrchr(path.data, '/'), "/" V1_FILE) == 0)
		tasks_add(&sum, path.data);
	if (rc == 0)
		*out = sum;
	free(own);
	lens_text_clear(&path);
	return rc;
}
