/* SPDX-License-Identifier: Apache-2.0 */
/* What the surroundings of a process tell, and the pod that slurmd may run in. */
#include "lib/core/resource.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/environment.h"

static struct lens_carrier *local(const struct lens_env *env, const char *host,
				  const char *fallback)
{
	struct lens_carrier *out = lens_carrier_create();

	assert_int_equal(lens_resource_local(out, env, host, fallback), 0);
	return out;
}

static void devices_are_counted(void **state)
{
	static const struct {
		const char *devices, *count;
	} cases[] = {
		{ NULL, NULL },
		{ "", "0" },
		{ "0", "1" },
		{ "0,1,2,3", "4" },
		{ " ,, ", "0" },
		{ "0,1,", "2" },
		{ "GPU-8f2a,GPU-77", "2" },
		{ "MIG-1/2/3", "1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_env *env = environment(NULL);
		struct lens_carrier *out;

		environment_set(env, "CUDA_VISIBLE_DEVICES", cases[i].devices);
		out = local(env, NULL, NULL);
		expect_text("host.gpu.count", lens_carrier_get(out, "host.gpu.count"),
			    cases[i].count, (int)i);
		assert_null(lens_carrier_get(out, "host.name"));
		lens_carrier_destroy(out);
		lens_env_destroy(env);
	}
}

static void the_environment_has_a_name(void **state)
{
	static const struct {
		const char *first, *second, *fallback, *out;
	} cases[] = {
		{ "prod", "dev", "site", "prod" },
		{ NULL, "dev", "site", "dev" },
		{ "", "dev", "site", "dev" },
		{ NULL, "", "site", "site" },
		{ NULL, NULL, "", NULL },
		{ NULL, NULL, NULL, NULL },
		/* Slurm's own in a batch script. */
		{ NULL, "BATCH", "site", "site" },
		{ NULL, "BATCH", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_env *env = environment(NULL);
		struct lens_carrier *out;

		environment_set(env, "DEPLOYMENT_ENV", cases[i].first);
		environment_set(env, "ENVIRONMENT", cases[i].second);
		out = local(env, "h", cases[i].fallback);
		expect_text("deployment.environment",
			    lens_carrier_get(out, "deployment.environment"), cases[i].out, (int)i);
		assert_string_equal(lens_carrier_get(out, "host.name"), "h");
		lens_carrier_destroy(out);
		lens_env_destroy(env);
	}
}

static void the_image_that_the_launch_names(void **state)
{
	struct lens_env *env = environment("PYXIS_CONTAINER_IMAGE=a/b:1");
	struct lens_carrier *out = local(env, NULL, NULL);

	(void)state;
	assert_string_equal(lens_carrier_get(out, "nv.dl.launch.container.image"), "a/b:1");
	lens_carrier_destroy(out);
	environment_set(env, "SLURM_CONTAINER", "/bundle");
	out = local(env, NULL, NULL);
	assert_string_equal(lens_carrier_get(out, "nv.dl.launch.container.image"), "/bundle");
	lens_carrier_destroy(out);
	lens_env_destroy(env);
}

static struct lens_carrier *kubernetes(const struct lens_env *env, bool in_pod)
{
	struct lens_carrier *out = lens_carrier_create();

	assert_int_equal(lens_resource_kubernetes(out, lens_env_array(env), in_pod), 0);
	return out;
}

static void rows_of_a_pod_only_in_a_pod(void **state)
{
	struct lens_env *env =
		environment("K8S_NAMESPACE=ns", "K8S_POD_UID=u", "HOSTNAME=h", "K8S_NODE_NAME=node",
			    "K8S_CONTAINER_NAME=c", "K8S_JOB_NAME=j");
	struct lens_carrier *out = kubernetes(env, false);

	(void)state;
	assert_int_equal(lens_carrier_count(out), 0);
	lens_carrier_destroy(out);
	out = kubernetes(env, true);
	assert_int_equal(lens_carrier_count(out), 6);
	assert_string_equal(lens_carrier_get(out, "k8s.namespace.name"), "ns");
	assert_string_equal(lens_carrier_get(out, "k8s.pod.name"), "h");
	assert_string_equal(lens_carrier_get(out, "k8s.pod.uid"), "u");
	assert_string_equal(lens_carrier_get(out, "k8s.node.name"), "node");
	assert_string_equal(lens_carrier_get(out, "k8s.container.name"), "c");
	assert_string_equal(lens_carrier_get(out, "k8s.job.name"), "j");
	lens_carrier_destroy(out);
	environment_set(env, "KUBERNETES_SERVICE_HOST", "10.0.0.1");
	environment_set(env, "K8S_POD_NAME", "p");
	out = kubernetes(env, false);
	assert_string_equal(lens_carrier_get(out, "k8s.pod.name"), "p");
	lens_carrier_destroy(out);
	/* HOSTNAME stands in for what is not set at all. */
	environment_set(env, "K8S_POD_NAME", "");
	out = kubernetes(env, false);
	assert_null(lens_carrier_get(out, "k8s.pod.name"));
	lens_carrier_destroy(out);
	lens_env_destroy(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_are_counted),
		cmocka_unit_test(the_environment_has_a_name),
		cmocka_unit_test(the_image_that_the_launch_names),
		cmocka_unit_test(rows_of_a_pod_only_in_a_pod),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
