/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

/* What a child ends with. */
enum {
	ALL_GONE,
	NOT_DROPPED,
	IDS,
	GROUPS,
	CAPABILITIES,
	BOUNDING,
	NEW_PRIVS,
	DUMPABLE,
	FILES,
	BACK
};

static bool has_capability(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	/* valgrind (3.19) knows of the first alone that the kernel writes it. */
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, sets) != 0)
		return true;
	return (sets[0].effective | sets[0].permitted | sets[0].inheritable | sets[1].effective |
		sets[1].permitted | sets[1].inheritable) != 0;
}

static int look(bool root)
{
	struct rlimit files;
	uid_t uid[3];
	gid_t gid[3];

	if (getresuid(&uid[0], &uid[1], &uid[2]) != 0 || getresgid(&gid[0], &gid[1], &gid[2]) != 0)
		return IDS;
	for (int i = 0; root && i < 3; i++) {
		if (uid[i] == 0 || gid[i] == 0)
			return IDS;
	}
	if (root && getgroups(0, NULL) != 0)
		return GROUPS;
	if (has_capability())
		return CAPABILITIES;
	if (root && prctl(PR_CAPBSET_READ, CAP_SETUID) != 0)
		return BOUNDING;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return NEW_PRIVS;
	if (prctl(PR_GET_DUMPABLE) != 0)
		return DUMPABLE;
	if (getrlimit(RLIMIT_FSIZE, &files) != 0 || files.rlim_max != 0)
		return FILES;
	return root && setuid(0) == 0 ? BACK : ALL_GONE;
}

static void nothing_is_left(void **state)
{
	gid_t groups[] = { 0, 4, 27 };
	pid_t pid = scratch_fork();

	(void)state;
	if (pid == 0) {
		bool root = geteuid() == 0;

		if (root && setgroups(3, groups) != 0)
			_exit(98);
		if (lens_privilege_drop("nobody", NULL) != 0)
			_exit(NOT_DROPPED);
		_exit(look(root));
	}
	assert_int_equal(scratch_wait(pid), ALL_GONE);
}

/* In a child: some of it may have been given up when it is refused. */
static void refused(const char *user, const char *word)
{
	pid_t pid = scratch_fork();

	if (pid == 0) {
		struct lens_error err = LENS_ERROR_INIT;

		if (lens_privilege_drop(user, &err) != -1)
			_exit(1);
		_exit(strstr(err.text, word) != NULL && geteuid() == 0 ? 0 : 2);
	}
	assert_int_equal(scratch_wait(pid), 0);
}

static void users_that_will_not_do_are_refused(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	refused("root", "is root");
	refused("no-such-user-here", "there is no such user");
	refused("a\nb", "a\\x0Ab");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left),
		cmocka_unit_test(users_that_will_not_do_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
