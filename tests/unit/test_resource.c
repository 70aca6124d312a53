/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/resource.h"

#include "lib/core/encoding.h"
#include "lib/core/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/environment.h"
#include "tests/unit/vectors.h"

/* The `env` of ENTRY without its carrier; the caller destroys. */
static struct lens_env *environment_of(json_object *entry)
{
	struct lens_env *env = environment(NULL);

	json_object_object_foreach (vectors_get(entry, "env"), name, value) {
		if (strcmp(name, LENS_ATTRIBUTES_NAME) != 0)
			environment_set(env, name, json_object_get_string(value));
	}
	return env;
}

static struct lens_carrier *derive(const struct lens_env *env)
{
	struct lens_carrier *out = lens_carrier_create();

	assert_int_equal(lens_resource_slurm(out, env), 0);
	return out;
}

/* GOT has exactly the keys and values of WANT, integers where WANT has them. */
static void check_attributes(size_t index, const struct lens_carrier *got, json_object *want)
{
	json_object_object_foreach (want, key, value) {
		bool integer = json_object_is_type(value, json_type_int);
		const char *text = lens_carrier_get(got, key);
		int64_t number;

		if (!text || lens_resource_is_integer(key) != integer)
			fail_msg("entry %zu: %s is missing or of the wrong type", index, key);
		if (integer &&
		    (lens_int64_parse(text, &number) || number != json_object_get_int64(value)))
			fail_msg("entry %zu: %s is %s", index, key, text);
		if (!integer)
			assert_string_equal(text, json_object_get_string(value));
	}
	for (size_t i = 0; i < lens_carrier_count(got); i++)
		if (!json_object_object_get_ex(want, lens_carrier_key(got, i), NULL))
			fail_msg("entry %zu: %s should not be there", index,
				 lens_carrier_key(got, i));
}

static void slurm_rows_are_the_published_ones(void **state)
{
	json_object *entries = vectors_load("slurm.json");

	(void)state;
	for (size_t i = 0; i < vectors_array(entries, NULL, &entries); i++) {
		json_object *entry = json_object_array_get_idx(entries, i);
		struct lens_env *env = environment_of(entry);
		struct lens_carrier *derived = derive(env);

		check_attributes(i, derived, vectors_get(entry, "derive"));
		lens_carrier_destroy(derived);
		lens_env_destroy(env);
	}
	json_object_put(entries);
}

/* ATTRIBUTES without what is not among the keys that are taken from a carrier. */
static struct lens_carrier *inherited_keys(const struct lens_carrier *attributes)
{
	struct lens_carrier *out = lens_carrier_create();

	for (size_t i = 0; i < lens_inherited_key_count; i++) {
		const char *key = lens_identity_keys[i];

		assert_int_equal(lens_carrier_set(out, key, lens_carrier_get(attributes, key)), 0);
	}
	return out;
}

static void the_carriers_values_win_where_they_are_valid(void **state)
{
	json_object *entries = vectors_load("slurm.json");

	(void)state;
	for (size_t i = 0; i < vectors_array(entries, NULL, &entries); i++) {
		json_object *entry = json_object_array_get_idx(entries, i), *text = NULL;
		struct lens_env *env = environment_of(entry);
		struct lens_carrier *derived = derive(env), *own, *composed, *detected;

		json_object_object_get_ex(vectors_get(entry, "env"), LENS_ATTRIBUTES_NAME, &text);
		own = carrier_make(text ? json_object_get_string(text) : NULL);
		lens_resource_normalise(own);
		composed = lens_carrier_compose(derived, own, NULL);
		detected = inherited_keys(composed);
		check_attributes(i, detected, vectors_get(entry, "detect"));
		lens_carrier_destroy(derived);
		lens_carrier_destroy(own);
		lens_carrier_destroy(composed);
		lens_carrier_destroy(detected);
		lens_env_destroy(env);
	}
	json_object_put(entries);
}

static void run_uuids_are_the_published_ones(void **state)
{
	json_object *entries = vectors_load("slurm.json");

	(void)state;
	for (size_t i = 0; i < vectors_array(entries, NULL, &entries); i++) {
		json_object *entry = json_object_array_get_idx(entries, i);
		struct lens_env *env = environment_of(entry);
		struct lens_carrier *out = lens_carrier_create();

		assert_int_equal(
			lens_resource_run_uuid(
				out, env, lens_env_get(lens_env_array(env), "TORCHELASTIC_RUN_ID")),
			0);
		expect_text("nv.dl.run.uuid", lens_carrier_get(out, "nv.dl.run.uuid"),
			    vectors_string(entry, "run_uuid"), (int)i);
		lens_carrier_destroy(out);
		lens_env_destroy(env);
	}
	json_object_put(entries);
}

static void strict_rows_take_integers_alone(void **state)
{
	static const char *const keys[] = { "slurm.array.count", "slurm.nnodes", "slurm.ntasks",
					    "slurm.restart_count" };
	json_object *cases = vectors_load("strict_int.json");

	(void)state;
	for (size_t i = 0; i < vectors_array(cases, NULL, &cases); i++) {
		json_object *entry = json_object_array_get_idx(cases, i);

		for (size_t k = 0; k < 4; k++) {
			struct lens_carrier *own = lens_carrier_create();

			lens_carrier_set(own, keys[k], vectors_string(entry, "in"));
			lens_carrier_set(own, "team", "");
			lens_resource_normalise(own);
			if (!lens_carrier_get(own, keys[k]) != !vectors_get(entry, "out"))
				fail_msg("%s=%s", keys[k], vectors_string(entry, "in"));
			assert_string_equal(lens_carrier_get(own, "team"), "");
			lens_carrier_destroy(own);
		}
	}
	json_object_put(cases);
}

static void an_empty_value_gives_way_in_each_inherited_key(void **state)
{
	struct lens_carrier *own = lens_carrier_create();

	(void)state;
	for (size_t i = 0; i < lens_identity_key_count; i++)
		assert_int_equal(lens_carrier_set(own, lens_identity_keys[i], ""), 0);
	lens_resource_normalise(own);
	for (size_t i = 0; i < lens_identity_key_count; i++)
		assert_int_equal(lens_carrier_get(own, lens_identity_keys[i]) == NULL,
				 i < lens_inherited_key_count);
	lens_carrier_destroy(own);
}

static void a_special_step_is_none(void **state)
{
	static const struct {
		const char *step, *head;
	} cases[] = {
		{ NULL, "n1" }, { "", "n1" },           { "-5", "n1" }, { "0", NULL },
		{ "17", NULL }, { "4294967290", "n1" }, { "x", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_env *env = environment("SLURM_JOB_ID=1", "SLURMD_NODENAME=n1");
		struct lens_carrier *out;

		environment_set(env, "SLURM_STEP_ID", cases[i].step);
		out = derive(env);
		expect_text("slurm.head_node.name", lens_carrier_get(out, "slurm.head_node.name"),
			    cases[i].head, (int)i);
		lens_carrier_destroy(out);
		lens_env_destroy(env);
	}
}

/* What lens adds is valid UTF-8 of at most 255 bytes, cut between characters. */
static void values_are_repaired_and_cut(void **state)
{
	struct lens_env *env =
		environment("SLURM_JOB_ID=1", "SLURM_JOB_PARTITION=caf\xe9",
			    "SLURM_JOB_ACCOUNT=\xf0\x9f\x9a\x80", "SLURM_ARRAY_TASK_ID=3");
	char name[401] = "", array[401] = "";
	struct lens_carrier *out;

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		strcat(name, "\xc3\xa9");
		strcat(array, "9\xe9");
	}
	environment_set(env, "SLURM_JOB_NAME", name);
	environment_set(env, "SLURM_ARRAY_JOB_ID", array);
	out = derive(env);
	name[254] = '\0';
	assert_string_equal(lens_carrier_get(out, "slurm.job.name"), name);
	assert_string_equal(lens_carrier_get(out, "slurm.partition"), "caf\xef\xbf\xbd");
	assert_string_equal(lens_carrier_get(out, "slurm.job.account"), "\xf0\x9f\x9a\x80");
	for (size_t i = 0; i < lens_carrier_count(out); i++) {
		const char *value = lens_carrier_value(out, i);
		char *sound = lens_value_dup(value);

		expect_text(lens_carrier_key(out, i), value, sound, __LINE__);
		free(sound);
	}
	lens_carrier_destroy(out);
	lens_env_destroy(env);
}

static void integers_in_otlp(void **state)
{
	static const char *const yes[] = {
		"slurm.array.count",
		"slurm.nnodes",
		"slurm.ntasks",
		"slurm.restart_count",
		"nv.dl.rank",
		"nv.dl.world_size",
		"nv.dl.local_rank",
		"nv.dl.topology.size.tp",
		"nv.dl.topology.size.pp",
		"nv.dl.topology.size.dp",
		"nv.dl.training.config.global_batch_size",
		"nv.dl.training.config.micro_batch_size",
		"nv.dl.training.config.sequence_length",
		"nv.dl.training.target.train_iters",
		"nv.dl.training.target.train_samples",
		"nv.dl.training.target.train_tokens",
		"nv.gpu.index",
		"nv.gpu.memory_total",
	};
	static const char *const no[] = { "slurm.job.id",        "slurm.job.id.raw",
					  "slurm.array.task_id", "slurm.array.job_id",
					  "slurm.segment",       "nemo.run.id",
					  "nv.dl.rank2",         "nv.dl.ran",
					  "NV.DL.RANK",          "" };

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(lens_resource_is_integer(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(lens_resource_is_integer(no[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slurm_rows_are_the_published_ones),
		cmocka_unit_test(the_carriers_values_win_where_they_are_valid),
		cmocka_unit_test(run_uuids_are_the_published_ones),
		cmocka_unit_test(strict_rows_take_integers_alone),
		cmocka_unit_test(an_empty_value_gives_way_in_each_inherited_key),
		cmocka_unit_test(a_special_step_is_none),
		cmocka_unit_test(values_are_repaired_and_cut),
		cmocka_unit_test(integers_in_otlp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
