/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_SPANKHOST_SCENE_H
#define LENS_TESTS_SPANKHOST_SCENE_H

#include "tests/spankhost/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A test with the fake host and lens.so in it, a state directory of its own, no agent. */
struct scene {
	struct host *host;
	char path[256]; /* scratch: state/ and what a test puts there */
	const char *arguments[8];
	char texts[8][300];
	size_t argument_count;
	struct host_site site;
};

static inline const char *scene_plugin(const char *variable, const char *built)
{
	static char path[512];
	const char *named = getenv(variable);
	const char *build = getenv("LENS_TEST_BUILDDIR");

	if (named && *named)
		return named;
	snprintf(path, sizeof(path), "%s/%s", build ? build : ".", built);
	return path;
}

static inline void scene_argument(struct scene *scene, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline void scene_argument(struct scene *scene, const char *format, ...)
{
	size_t at = scene->argument_count;
	va_list args;

	assert_true(at < 7);
	va_start(args, format);
	vsnprintf(scene->texts[at], sizeof(scene->texts[at]), format, args);
	va_end(args);
	scene->arguments[at] = scene->texts[at];
	scene->argument_count++;
}

static inline int scene_setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	const char *where = getenv("TMPDIR");

	if (!scene)
		return -1;
	snprintf(scene->path, sizeof(scene->path), "%s/lens-spank-XXXXXX",
		 where && *where == '/' ? where : "/tmp");
	if (!mkdtemp(scene->path))
		return -1;
	scene->site.plugin = scene_plugin("LENS_SO", "spank/.libs/lens.so");
	scene->site.arguments = scene->arguments;
	scene_argument(scene, "StateDir=%s/state", scene->path);
	scene_argument(scene, "Agent=off");
	*state = scene;
	return 0;
}

static inline int scene_remove_one(const char *path, const struct stat *status, int type,
				   struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

static inline int scene_teardown(void **state)
{
	struct scene *scene = *state;

	host_destroy(scene->host);
	nftw(scene->path, scene_remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(scene);
	return 0;
}

/* An empty state directory for the next part of a test. */
static inline void scene_state_clear(const struct scene *scene)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/state", scene->path);
	nftw(path, scene_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The state directory without the files in it. */
static inline void scene_state_empty(const struct scene *scene)
{
	char path[300];

	scene_state_clear(scene);
	snprintf(path, sizeof(path), "%s/state", scene->path);
	assert_int_equal(mkdir(path, 0700), 0);
}

#define scene_test(test) cmocka_unit_test_setup_teardown(test, scene_setup, scene_teardown)

/* The site as RELEASE is: a host of its own, slurmd started. */
static inline void scene_release(struct scene *scene, enum host_release release)
{
	host_destroy(scene->host);
	scene->site.release = release;
	scene->host = host_create(&scene->site);
	assert_non_null(scene->host);
	host_slurmd(scene->host);
}

/* What holds whatever happens: hooks succeed, add no thread, leave no descriptor that an exec
 * would keep, and outside the submit side nothing reaches the user. */
static inline void scene_harmless(const struct scene *scene)
{
	size_t hooks = 0;

	for (const struct host_event *e = NULL; (e = host_event_next(scene->host, e));) {
		bool journal = strcmp(e->hook, "init_post_opt") == 0 && e->fds_added == 1;
		bool submit = e->node == 0;

		switch (e->kind) {
		case HOST_HOOK:
			hooks++;
			if (e->value != 0 || e->threads_added != 0 || e->fds_inherited != 0)
				fail_msg("%s %s: rc %d, %d threads, %d inherited descriptors",
					 e->role, e->hook, e->value, e->threads_added,
					 e->fds_inherited);
			if (e->fds_added != 0 && !journal && strcmp(e->hook, "exit") != 0)
				fail_msg("%s %s: %d descriptors more", e->role, e->hook,
					 e->fds_added);
			break;
		case HOST_CRASH:
			fail_msg("%s was ended by signal %d", e->role, e->value);
			break;
		case HOST_LEFT:
			fail_msg("%s: %d blocks of memory are left", e->role, e->value);
			break;
		case HOST_HUNG:
			fail_msg("%s: a descriptor is kept, Slurm would wait for it", e->role);
			break;
		case HOST_OUTPUT:
			if (!submit)
				fail_msg("%s wrote into the user's output: %s", e->role, e->text);
			break;
		case HOST_LOG:
			if (!submit && e->value)
				fail_msg("%s %s: the user reads: %s", e->role, e->hook, e->text);
			break;
		default:
			break;
		}
	}
	assert_true(hooks > 0);
}

/* The events of KIND, in ROLE (NULL: any), whose text holds TEXT. */
static inline size_t scene_count(const struct scene *scene, enum host_kind kind, const char *role,
				 const char *text)
{
	size_t count = 0;

	for (const struct host_event *e = NULL; (e = host_event_next(scene->host, e));)
		count += e->kind == kind && (!role || strcmp(e->role, role) == 0) &&
			 strstr(e->text, text) != NULL;
	return count;
}

/* The environment that a user has. Borrowed. */
static inline char *const *scene_user_env(void)
{
	static char *env[] = { (char *)"PATH=/usr/bin:/bin", (char *)"HOME=/home/user",
			       (char *)"USER=user", (char *)"SLURM_CONF=/nonexistent/slurm.conf",
			       NULL };

	return env;
}

#endif
