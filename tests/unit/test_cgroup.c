/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* What slurmstepd of job 7 has in /proc/self/cgroup, and the file that counts; NULL: none. */
static const struct {
	const char *text, *path;
} groups[] = {
	{ "9:name=systemd:/\n4:memory:/slurm_n1/uid_33/job_7/step_0\n0::/\n",
	  "/sys/fs/cgroup/memory/slurm_n1/uid_33/job_7/step_0/memory.oom_control" },
	{ "4:cpu,memory:/slurm_n1/uid_33/job_7/step_batch/task_0\n",
	  "/sys/fs/cgroup/memory/slurm_n1/uid_33/job_7/step_batch/memory.oom_control" },
	{ "0::/system.slice/n1_slurmstepd.scope/job_7/step_0/slurm\n",
	  "/sys/fs/cgroup/system.slice/n1_slurmstepd.scope/job_7/step_0/memory.events" },
	/* Not of this job's: slurmd's own, another job's, another controller's. */
	{ "4:memory:/system.slice/slurmd.service\n0::/\n", NULL },
	{ "4:memory:/slurm_n1/uid_33/job_77/step_0\n", NULL },
	{ "6:freezer:/slurm_n1/uid_33/job_7/step_0\n", NULL },
	{ "6:memoryless:/slurm_n1/uid_33/job_7/step_0\n", NULL },
	{ "", NULL },
	{ "4:memory\n0:\nrubbish", NULL },
};

static void the_step_of_the_job_alone_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct lens_text path = LENS_TEXT_INIT;
		int rc = lens_cgroup_counter_path(&path, groups[i].text, 7);

		assert_int_equal(rc, groups[i].path == NULL ? -1 : 0);
		if (groups[i].path != NULL)
			assert_string_equal(path.data, groups[i].path);
		lens_text_clear(&path);
	}
}

static void the_kernels_words_are_read(void **state)
{
	uint64_t count = 99;

	(void)state;
	assert_int_equal(lens_cgroup_counter_parse(&count, "oom_kill_disable 0\nunder_oom 0\n"
							   "oom_kill 3\n"),
			 0);
	assert_int_equal(count, 3);
	assert_int_equal(lens_cgroup_counter_parse(&count, "low 0\nhigh 0\nmax 12\noom 1\n"
							   "oom_kill 1\noom_group_kill 0\n"),
			 0);
	assert_int_equal(count, 1);
	count = 99;
	assert_int_equal(lens_cgroup_counter_parse(&count, "oom_kill_disable 0\nunder_oom 0\n"),
			 -1);
	assert_int_equal(lens_cgroup_counter_parse(&count, "oom_kill many\n"), -1);
	assert_int_equal(lens_cgroup_counter_parse(&count, "oom_kill 1111111111111111111111111\n"),
			 -1);
	assert_int_equal(lens_cgroup_counter_parse(&count, ""), -1);
	assert_int_equal(count, 99);
}

static void a_process_that_is_no_step_has_none(void **state)
{
	uint64_t count;

	(void)state;
	assert_int_equal(lens_cgroup_oom_kills(&count, 4294967290U), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_step_of_the_job_alone_counts),
		cmocka_unit_test(the_kernels_words_are_read),
		cmocka_unit_test(a_process_that_is_no_step_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
