/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/check.h"

#include "cmd/agent_report.h"
#include "cmd/status.h"
#include "lib/core/path.h"
#include "lib/core/statedir.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MIB (1024 * 1024)

static void disk_check(struct check *check)
{
	const char *path = check->config->state_dir;
	uint64_t available;
	struct statfs disk;

	if (statfs(path, &disk) != 0)
		return;
	if (disk.f_type == TMPFS_MAGIC || disk.f_type == RAMFS_MAGIC) {
		check_add(check, CHECK_WARNING, "state",
			  "StateDir %s is in memory: what waits there is lost when the machine "
			  "goes down",
			  path);
		check_remedy(check, "name a directory on a local disk, or know it");
	}
	available = (uint64_t)disk.f_bavail * (uint64_t)disk.f_bsize;
	if (available >= check->config->max_spool)
		return;
	check_add(check, CHECK_WARNING, "state",
		  "StateDir %s has %" PRIu64 " MiB free, and MaxSpool is %" PRIu64 " MiB: a "
		  "receiver that is away loses more than MaxSpool says",
		  path, available / MIB, check->config->max_spool / MIB);
	check_remedy(check, "make room, or lower MaxSpool");
}

/* As far as somebody else than root sees it. -1: it is not as it must be, which was said. */
static int state_look(struct check *check)
{
	const char *path = check->config->state_dir;
	struct lens_error err = LENS_ERROR_INIT;
	struct stat status;

	if (lstat(path, &status) != 0) {
		check_add(check, errno == ENOENT ? CHECK_FAIL : CHECK_WARNING, "state",
			  "StateDir %s: %s", path,
			  errno == ENOENT ? "there is none" : "only root can see it: not checked");
		check_remedy(check, errno == ENOENT ? "restart slurmd, which makes it, or read "
						      "its log for why it does not"
						    : "run this as root");
		return -1;
	}
	if (lens_path_check_parents(path, 0, &err) == 0 && S_ISDIR(status.st_mode) &&
	    status.st_uid == 0 && (status.st_mode & 0777) == 0700)
		return 0;
	check_add(check, CHECK_FAIL, "state", "StateDir %s: %s", path,
		  *err.text != '\0' ? err.text : "it is no directory of root's with mode 0700");
	check_remedy(check, "run this as root, which says what to do");
	return -1;
}

/* The open StateDir, or -1 when only root could open it, or nobody, which was said. */
static int state_open(struct check *check)
{
	struct lens_error err = LENS_ERROR_INIT;
	int directory;

	if (!check->root)
		return -1;
	directory = lens_statedir_open(check->config->state_dir, false, &err);
	if (directory == -1) {
		check_add(check, CHECK_FAIL, "state", "%s", err.text);
		check_remedy(check, "slurmd makes it when it starts; what it did not make must be "
				    "root's alone, on a local disk");
	}
	return directory;
}

static void program_check(struct check *check)
{
	const struct lens_config *config = check->config;
	struct lens_error err = LENS_ERROR_INIT;

	if (config->agent == LENS_AGENT_AUTO &&
	    lens_path_check_program(config->agent_path, &err) != 0) {
		check_add(check, CHECK_FAIL, "agent", "AgentPath: %s", err.text);
		check_remedy(check, "install slurm-lens there, or set AgentPath right");
	}
	if (lens_config_protocol(config) != LENS_PROTOCOL_FILE &&
	    getpwnam(config->agent_user) == NULL) {
		check_add(check, CHECK_FAIL, "agent", "AgentUser %s: there is no such user here",
			  config->agent_user);
		check_remedy(check, "name a user without rights of its own: nobody, say");
	}
}

static void absent_say(struct check *check)
{
	const char *path = check->config->state_dir;

	switch (check->config->agent) {
	case LENS_AGENT_OFF:
		check_add(check, CHECK_WARNING, "agent",
			  "Agent=off: what jobs leave in %s is not sent", path);
		check_remedy(check, "Agent=auto, or run `slurm-lens agent --once` at times");
		return;
	case LENS_AGENT_EXTERNAL:
		check_add(check, CHECK_FAIL, "agent",
			  "none runs for %s, and Agent=external leaves it to you to start one",
			  path);
		check_remedy(check, "systemctl enable --now slurm-lens-agent");
		return;
	case LENS_AGENT_AUTO:
		break;
	}
	check_add(check, CHECK_FAIL, "agent", "none runs for %s", path);
	check_remedy(check, "the next job starts one, or a restart of slurmd; slurmd's log says "
			    "why if not (lines with `lens:`)");
}

/* Whether it works by the settings that hold now. */
static void agreement_check(struct check *check, const struct status_view *view)
{
	const struct lens_status *status = &view->status;
	struct agent_report wanted = { 0 };

	if (!view->known)
		return;
	agent_report_receiver(&wanted, check->config);
	if (strcmp(status->receiver, wanted.status.receiver) != 0 ||
	    strcmp(status->protocol, wanted.status.protocol) != 0) {
		check_add(check, CHECK_FAIL, "agent",
			  "it sends to %s (%s), the settings say %s (%s)", status->receiver,
			  status->protocol, wanted.status.receiver, wanted.status.protocol);
		check_remedy(check, "restart slurmd, or kill -HUP %d: it then reads them again",
			     (int)view->holder);
	}
	if (strcmp(status->version, PACKAGE_VERSION) != 0) {
		check_add(check, CHECK_WARNING, "agent",
			  "it is version %s, this program " PACKAGE_VERSION, status->version);
		check_remedy(check, "restart slurmd: the agent then starts anew");
	}
}

static void agent_look(struct check *check, int directory)
{
	struct status_view view = { .state_dir = check->config->state_dir };
	struct lens_error err = LENS_ERROR_INIT;

	if (status_view_fill(&view, directory, &err) != 0) {
		check_add(check, CHECK_FAIL, "agent", "%s", err.text);
		return;
	}
	status_problems_find(&view, check->config);
	for (size_t i = 0; i < view.problem_count; i++) {
		check_add(check, CHECK_FAIL, "agent", "%s", view.problems[i]);
		check_remedy(check, "`slurm-lens status` says more");
	}
	if (view.holder == 0) {
		if (view.problem_count == 0)
			absent_say(check);
		return;
	}
	check_add(check, CHECK_OK, "agent",
		  "pid %d runs; %zu journals and %zu notes wait to be sent", (int)view.holder,
		  view.waiting.journals_waiting, view.waiting.notes_waiting);
	agreement_check(check, &view);
}

static bool is_missing(const char *path)
{
	return access(path, F_OK) != 0 && errno == ENOENT;
}

void check_state(struct check *check)
{
	const char *path = check->config->state_dir;
	int directory;

	if (!check->compute && is_missing(path)) {
		check_add(check, CHECK_OK, "state",
			  "no slurmd runs on this machine: StateDir and agent are the compute "
			  "nodes' (run this there too)");
		return;
	}
	directory = state_open(check);
	if (directory == -1 && (check->root || state_look(check) != 0))
		return;
	check_add(check, CHECK_OK, "state", "StateDir %s is root's alone", path);
	disk_check(check);
	program_check(check);
	if (directory != -1) {
		agent_look(check, directory);
		close(directory);
		return;
	}
	check_add(check, CHECK_WARNING, "agent", "only root can see it: not checked");
	check_remedy(check, "run this as root");
}
