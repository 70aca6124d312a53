/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/check.h"

#include "cmd/process_name.h"
#include "lib/core/number.h"
#include "lib/core/path.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

/* Seconds. Slurm's times are whole seconds, so that two clocks that agree may seem a second
 * apart; munge refuses what is five minutes off. */
#define SKEW_WARNING 2
#define SKEW_FAIL    60

static bool slurmd_runs(void)
{
	DIR *list = opendir("/proc");
	const struct dirent *entry;
	bool found = false;

	while (list != NULL && !found && (entry = readdir(list)) != NULL) {
		char name[PROCESS_NAME];
		uint32_t pid;

		if (lens_uint32_parse(entry->d_name, &pid) != 0 || pid > INT_MAX)
			continue;
		process_name(name, (pid_t)pid);
		found = strcmp(name, "slurmd") == 0;
	}
	if (list != NULL)
		closedir(list);
	return found;
}

/*
 * Root opens no file that only somebody else's environment names: sudo may hand SLURM_CONF on. A
 * place that is root's alone is as good as one on the command line.
 */
void check_environment(struct check *check)
{
	const char *conf = getenv("SLURM_CONF");
	struct lens_error err = LENS_ERROR_INIT;

	check->compute = slurmd_runs();
	if (!check->root || conf == NULL || lens_path_check(conf, 0, &err) == 0)
		return;
	check_add(check, CHECK_FAIL, "environment", "SLURM_CONF=%s is not used: %s", conf,
		  err.text);
	check_remedy(check,
		     "unset SLURM_CONF, or make the file and the directories above it root's");
	unsetenv("SLURM_CONF");
}

static void prolog_check(struct check *check)
{
	const struct lens_site *site = &check->site;

	if (site->run_in_job) {
		check_add(
			check, CHECK_WARNING, "prolog",
			"PrologFlags=RunInJob: Slurm runs no SPANK prolog and epilog. The attempt "
			"is what the job's environment says until slurmctld confirms it, the "
			"extern step stands for begin and end of the job on a node, and an agent "
			"that died is started by slurmd alone");
		check_remedy(check, "nothing, if the flag is needed; else PrologFlags=Alloc");
	} else if (site->alloc) {
		check_add(check, CHECK_OK, "prolog",
			  "PrologFlags=%s: each node notes the attempt before anything of the job "
			  "runs",
			  site->contain ? "Alloc,Contain" : "Alloc");
	} else {
		check_add(
			check, CHECK_WARNING, "prolog",
			"PrologFlags has no Alloc: a node's prolog runs when its first step does. "
			"The job's start is then told by its batch host or its end, and nodes "
			"without a step note nothing");
		check_remedy(check, "PrologFlags=Alloc in slurm.conf (or Contain, which has it)");
	}
}

void check_slurm(struct check *check)
{
	struct lens_error err = LENS_ERROR_INIT;

	check->site_known = lens_site_ask(&check->site, &err) == 0;
	if (!check->site_known) {
		check_add(check, CHECK_FAIL, "slurm", "%s", err.text);
		check_remedy(check, "is slurmctld up, and does slurm.conf (or SLURM_CONF) name it? "
				    "`scontrol ping` says more");
		return;
	}
	check_add(check, CHECK_OK, "slurm", "slurmctld %s of cluster %s answers",
		  check->site.version,
		  *check->site.cluster != '\0' ? check->site.cluster : "(no name)");
	prolog_check(check);
}

/* How far slurmctld's clock is ahead of this machine's; 0 when its second lies within the
 * question. */
static int64_t skew_seconds(const struct lens_site *site)
{
	if (site->now > site->answered)
		return site->now - site->answered;
	if (site->now < site->asked)
		return site->now - site->asked;
	return 0;
}

/* SKEW: how far the clock of WHOSE is ahead. */
static void skew_check(struct check *check, const char *whose, int64_t skew)
{
	int64_t apart = llabs(skew);

	if (apart <= SKEW_WARNING) {
		check_add(check, CHECK_OK, "clock", "agrees with %s to the second", whose);
		return;
	}
	check_add(check, apart > SKEW_FAIL ? CHECK_FAIL : CHECK_WARNING, "clock",
		  "%" PRId64 " s %s %s: spans of one job do not fit together", apart,
		  skew > 0 ? "behind" : "ahead of", whose);
	check_remedy(check, "let chronyd or ntpd set the clocks");
}

void check_clock(struct check *check)
{
	struct timex clock = { 0 };

	if (check->site_known)
		skew_check(check, "slurmctld's", skew_seconds(&check->site));
	/* A Date may come from a cache: one that agrees is said where nothing better is known. */
	if (check->receiver_date &&
	    (!check->site_known || llabs(check->receiver_skew) > SKEW_WARNING))
		skew_check(check, "the receiver's", check->receiver_skew);
	if (adjtimex(&clock) != TIME_ERROR && (clock.status & STA_UNSYNC) == 0)
		return;
	check_add(check, CHECK_WARNING, "clock",
		  "the kernel says that nothing keeps it synchronised: it will drift");
	check_remedy(check, "run chronyd, ntpd or systemd-timesyncd (a container: on its host)");
}
