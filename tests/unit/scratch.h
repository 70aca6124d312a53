/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_UNIT_SCRATCH_H
#define LENS_TESTS_UNIT_SCRATCH_H

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A row of the table of tests: TEST with a scratch directory as its state. */
#define scratch_test(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

/* A directory of the test's own, mode 0700. */
struct scratch {
	char path[256];
	int fd;
};

static inline int scratch_setup(void **state)
{
	struct scratch *scratch = calloc(1, sizeof(*scratch));
	const char *where = getenv("TMPDIR");

	if (!scratch)
		return -1;
	snprintf(scratch->path, sizeof(scratch->path), "%s/lens-unit-XXXXXX",
		 where && *where == '/' ? where : "/tmp");
	if (!mkdtemp(scratch->path))
		return -1;
	scratch->fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = scratch;
	return scratch->fd < 0 ? -1 : 0;
}

static inline int scratch_remove_one(const char *path, const struct stat *status, int type,
				     struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

static inline int scratch_teardown(void **state)
{
	struct scratch *scratch = *state;

	close(scratch->fd);
	nftw(scratch->path, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(scratch);
	return 0;
}

/* The path of NAME in the directory; valid until the sixteenth next call. */
static inline const char *scratch_path(const struct scratch *scratch, const char *name)
{
	static char paths[16][512];
	static unsigned int next;
	char *path = paths[next++ % 16];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch->path, name);
	return path;
}

/* Writes TEXT as the file NAME. */
static inline void scratch_write(const struct scratch *scratch, const char *name, const char *text)
{
	FILE *file = fopen(scratch_path(scratch, name), "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The text of the file NAME, NULL when there is none; the caller frees. */
static inline char *scratch_read(const struct scratch *scratch, const char *name)
{
	char *text = calloc(1, 512 * 1024);
	FILE *file = fopen(scratch_path(scratch, name), "r");
	size_t length;

	assert_non_null(text);
	if (!file) {
		free(text);
		return NULL;
	}
	length = fread(text, 1, 512 * 1024 - 1, file);
	text[length] = '\0';
	fclose(file);
	return text;
}

static inline bool scratch_has(const struct scratch *scratch, const char *name)
{
	return faccessat(scratch->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A child that ends with the test, also with one that failed half-way. */
static inline pid_t scratch_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
		_exit(99);
	return pid;
}

/* Waits for the child PID; its exit code, or 1000 and the signal that ended it. */
static inline int scratch_wait(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#endif
