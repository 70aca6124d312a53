/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/privilege.h"
#include "lib/core/show.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES_MAX 64

/* The bounding set goes first: root may take from it, others may not. */
static int drop_bounding(struct lens_error *err)
{
	for (unsigned long capability = 0; capability < 64; capability++) {
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0)
			continue;
		/* EINVAL: the kernel has no more of them. EPERM: the process may not, in a container
		 * say; what it gives up below is out of reach without the set all the same. */
		if (errno == EINVAL || errno == EPERM)
			return 0;
		return lens_error_set(err, "its capabilities cannot be limited: %m");
	}
	return 0;
}

static int drop_capabilities(struct lens_error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capset, &header, none) != 0)
		return lens_error_set(err, "its capabilities cannot be given up: %m");
	return 0;
}

static int drop_ids(const char *user, struct lens_error *err)
{
	struct lens_shown shown;
	const struct passwd *entry;
	uid_t real, effective, saved;

	errno = 0;
	entry = getpwnam(user);
	if (entry == NULL && errno == 0)
		return lens_error_set(err, "AgentUser %s: there is no such user on this node",
				      lens_shown_value(&shown, user));
	if (entry == NULL)
		return lens_error_set(err, "AgentUser %s cannot be looked up: %m",
				      lens_shown_value(&shown, user));
	if (entry->pw_uid == 0)
		return lens_error_set(err,
				      "AgentUser %s is root: name a user without rights, nobody",
				      lens_shown_value(&shown, user));
	if (drop_bounding(err) != 0)
		return -1;
	if (setgroups(0, NULL) != 0 ||
	    setresgid(entry->pw_gid, entry->pw_gid, entry->pw_gid) != 0 ||
	    setresuid(entry->pw_uid, entry->pw_uid, entry->pw_uid) != 0)
		return lens_error_set(err, "AgentUser %s: its ids cannot be taken: %m",
				      lens_shown_value(&shown, user));
	if (getresuid(&real, &effective, &saved) != 0 || real == 0 || effective == 0 || saved == 0)
		return lens_error_set(err, "AgentUser %s: root's ids are still there",
				      lens_shown_value(&shown, user));
	return 0;
}

int lens_privilege_drop(const char *user, struct lens_error *err)
{
	const struct rlimit none = { 0, 0 }, few = { FILES_MAX, FILES_MAX };

	if (geteuid() == 0 && drop_ids(user, err) != 0)
		return -1;
	if (drop_capabilities(err) != 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return lens_error_set(err, "prctl: %m");
	if (setrlimit(RLIMIT_CORE, &none) != 0 || setrlimit(RLIMIT_FSIZE, &none) != 0 ||
	    setrlimit(RLIMIT_NOFILE, &few) != 0)
		return lens_error_set(err, "setrlimit: %m");
	if (chdir("/") != 0)
		return lens_error_set(err, "/: %m");
	return 0;
}
