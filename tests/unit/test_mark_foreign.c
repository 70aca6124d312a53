/* SPDX-License-Identifier: Apache-2.0 */
/* A carrier of another job, and marks that do not tell the truth. */
#include "lib/core/mark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/environment.h"

/* A carrier with a value for each identity key, of job 100, and two keys of the user's;
 * the caller destroys. */
static struct lens_env *foreign_environment(void)
{
	struct lens_env *env = environment("PATH=/bin");
	struct lens_text text = LENS_TEXT_INIT;
	char *carrier;

	lens_text_adds(&text, "team=a");
	for (size_t i = 0; i < lens_identity_key_count; i++)
		lens_text_addf(&text, ",%s=100", lens_identity_keys[i]);
	lens_text_adds(&text, ",slurm.mine=b");
	carrier = lens_text_take(&text);
	environment_set(env, LENS_ATTRIBUTES_NAME, carrier);
	free(carrier);
	return env;
}

static struct lens_env *clean(const struct lens_env *env, uint32_t job)
{
	struct lens_env *out = lens_mark_clean(lens_env_array(env), job, NULL);

	assert_non_null(out);
	return out;
}

static void the_identity_keys(void **state)
{
	static const char *const last[] = {
		"nemo.run.id",      "nv.dl.rank",          "nv.dl.world_size",
		"nv.dl.local_rank", "service.instance.id", "host.name",
	};

	(void)state;
	assert_int_equal(lens_inherited_key_count, 23);
	assert_int_equal(lens_identity_key_count, 29);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(lens_identity_keys[23 + i], last[i]);
}

static void without_a_mark_another_jobs_identity_goes(void **state)
{
	static const struct {
		const char *mark; /* NULL: none */
		const char *raw;
		uint32_t job;
		bool goes;
	} cases[] = {
		{ NULL, "100", 101, true },
		{ NULL, "100", 100, false },
		{ NULL, "0100", 100, false },
		{ NULL, "100", 0, false },
		{ NULL, "other", 101, true },
		{ "v=1,job=100", "100", 101, true },
		{ "v=9,job=100,attempt=0,end=", "100", 101, true },
		{ "v=1,job=100,attempt=0,end=", "100", 101, true },
		{ "v=1,job=100,attempt=0,k.team=ca978112", "100", 101, true },
		{ "v=1,job=100,attempt=0,k.slurm.job.id.raw=00000000,end=", "100", 101, true },
		{ "v=1,job=100,attempt=0,end=", "100", 100, false },
		{ "garbage", "100", 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_env *env = foreign_environment(), *out;
		char *carrier;

		if (asprintf(&carrier, "%s,slurm.job.id.raw=%s",
			     lens_env_get(lens_env_array(env), LENS_ATTRIBUTES_NAME),
			     cases[i].raw) < 0)
			fail_msg("out of memory");
		environment_set(env, LENS_ATTRIBUTES_NAME, carrier);
		environment_set(env, LENS_MARK_NAME, cases[i].mark);
		out = clean(env, cases[i].job);
		if (cases[i].goes)
			assert_variable(out, LENS_ATTRIBUTES_NAME, "team=a,slurm.mine=b");
		else
			assert_variable(out, LENS_ATTRIBUTES_NAME, carrier);
		assert_variable(out, LENS_MARK_NAME, NULL);
		free(carrier);
		lens_env_destroy(env);
		lens_env_destroy(out);
	}
}

static void keys_that_only_look_like_a_jobs_stay(void **state)
{
	static const char *const carriers[] = {
		"slurm.job.name=mine,slurm.step.id=7",
		/* No id, so nobody's. */
		"slurm.job.id=99,nv.dl.rank=3,nemo.run.id=r",
		"slurm.job.id.raw=101,nv.dl.rank=3",
		"team=a=b,, ,foo,k=%ZZ",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++) {
		struct lens_env *env = environment("A=1"), *out;

		environment_set(env, LENS_ATTRIBUTES_NAME, carriers[i]);
		out = clean(env, 101);
		assert_same_environment(out, env);
		lens_env_destroy(env);
		lens_env_destroy(out);
	}
}

static void a_run_id_made_of_the_other_job_goes(void **state)
{
	static const struct {
		const char *carrier, *variable, *out;
	} cases[] = {
		{ "slurm.job.id.raw=100,nemo.run.id=100", "100", NULL },
		{ "slurm.job.id.raw=103,slurm.job.id=100_3,nemo.run.id=100_3", "100_3", NULL },
		{ "slurm.job.id.raw=100,nemo.run.id=exp1", "exp1", "exp1" },
		{ "slurm.job.id.raw=100,nemo.run.id=exp1", "100", "100" },
		{ "slurm.job.id.raw=100", "100", "100" },
		{ "slurm.job.id.raw=101,nemo.run.id=101", "101", "101" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_env *env = environment("A=1"), *out;

		environment_set(env, LENS_ATTRIBUTES_NAME, cases[i].carrier);
		environment_set(env, "NEMO_LENS_RUN_ID", cases[i].variable);
		out = clean(env, 101);
		assert_variable(out, "NEMO_LENS_RUN_ID", cases[i].out);
		lens_env_destroy(env);
		lens_env_destroy(out);
	}
}

/* The mark is of this job, the carrier was read from a file that another job wrote: what
 * they agree in by chance does not make the rest the user's. */
static void a_mark_that_another_jobs_carrier_half_fits(void **state)
{
	struct lens_env *env = foreign_environment(), *out;
	struct lens_mark *mark = lens_mark_create(101, 0);
	char *text;

	(void)state;
	assert_int_equal(lens_mark_add_key(mark, "slurm.cluster.name", "100"), 0);
	assert_int_equal(lens_mark_add_key(mark, "slurm.job.id.raw", "101"), 0);
	text = lens_mark_format(mark);
	environment_set(env, LENS_MARK_NAME, text);
	out = clean(env, 101);
	assert_variable(out, LENS_ATTRIBUTES_NAME, "team=a,slurm.mine=b");
	free(text);
	lens_mark_destroy(mark);
	lens_env_destroy(env);
	lens_env_destroy(out);
}

/* A user may write any mark; it must not do more than the user could. */
static void forged_marks_do_no_harm(void **state)
{
	static const char *const marks[] = {
		"v=1,job=101,attempt=0,s.=-,u.=x,k.=00000000,o.=x,end=",
		"v=1,job=101,attempt=0,s.=,s.PATH=,s.PATH=zz,k.team=,end=",
		"v=1,job=101,attempt=0,s.SLURM_LENS_MARK=-,u.SLURM_LENS_MARK=x,end=",
		"v=1,job=101,attempt=0,s,k,u,o,s.,k.,=,,,end=",
		"v=1,job=101,attempt=0,s.PATH=6b86b273,u.PATH=/evil,k.team=6b86b273,o.team=evil,end=",
		"v=1,job=101,attempt=0,o.new=1,u.NEW=1,end=",
		"v=1,job=101,attempt=0,s.NEW=-,s.A B=-,end=",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		struct lens_env *env = environment("PATH=/bin", "OTEL_RESOURCE_ATTRIBUTES=team=a");
		struct lens_env *out;

		environment_set(env, LENS_MARK_NAME, marks[i]);
		out = clean(env, 101);
		environment_set(env, LENS_MARK_NAME, NULL);
		assert_same_environment(out, env);
		lens_env_destroy(env);
		lens_env_destroy(out);
	}
}

/* Wherever the line is cut, the user's own is left alone and the mark goes. */
static void cut_marks_do_no_harm(void **state)
{
	struct lens_env *env = environment("PATH=/bin", "OTEL_RESOURCE_ATTRIBUTES=team=a,"
							"slurm.job.id.raw=100,slurm.job.name=n");
	struct lens_mark *mark = lens_mark_create(100, 0);
	char *text;

	(void)state;
	assert_int_equal(lens_mark_add_key(mark, "slurm.job.id.raw", "100"), 0);
	assert_int_equal(lens_mark_add_key(mark, "slurm.job.name", "n"), 0);
	assert_int_equal(lens_mark_add_variable(mark, "NEMO_LENS_ENABLED", "1"), 0);
	text = lens_mark_format(mark);
	for (size_t length = strlen(text); length > 0; text[--length] = '\0') {
		struct lens_env *out;

		environment_set(env, LENS_MARK_NAME, text);
		out = clean(env, 101);
		assert_variable(out, "PATH", "/bin");
		assert_variable(out, LENS_ATTRIBUTES_NAME, "team=a");
		assert_variable(out, LENS_MARK_NAME, NULL);
		lens_env_destroy(out);
	}
	free(text);
	lens_mark_destroy(mark);
	lens_env_destroy(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_identity_keys),
		cmocka_unit_test(without_a_mark_another_jobs_identity_goes),
		cmocka_unit_test(keys_that_only_look_like_a_jobs_stay),
		cmocka_unit_test(a_run_id_made_of_the_other_job_goes),
		cmocka_unit_test(a_mark_that_another_jobs_carrier_half_fits),
		cmocka_unit_test(forged_marks_do_no_harm),
		cmocka_unit_test(cut_marks_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
