/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/core/mark.h"

/* An environment with TEXT as its mark: whatever it says, the rest is still there. */
static void clean(const char *text)
{
	size_t room = strlen(text) + sizeof(LENS_MARK_NAME) + 1;
	char *variable = malloc(room);
	char *env[] = { (char *)"PATH=/bin", (char *)"NEMO_LENS_ENABLED=1",
			(char *)"OTEL_RESOURCE_ATTRIBUTES=slurm.job.id=7,slurm.job.id.raw=7,team=x",
			variable, NULL };
	struct lens_env *cleaned;

	must(variable);
	snprintf(variable, room, "%s=%s", LENS_MARK_NAME, text);
	cleaned = lens_mark_clean(env, 9, NULL);
	must(cleaned);
	must(!lens_env_get(lens_env_array(cleaned), LENS_MARK_NAME));
	lens_env_destroy(cleaned);
	free(variable);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	struct lens_mark *mark = lens_mark_parse(text), *again;
	char *line = mark ? lens_mark_format(mark) : NULL;

	if (mark) {
		must(line);
		again = lens_mark_parse(line);
		must(again);
		must(lens_mark_job(again) == lens_mark_job(mark));
		must(lens_mark_attempt(again) == lens_mark_attempt(mark));
		lens_mark_destroy(again);
	}
	lens_mark_destroy(mark);
	free(line);
	clean(text);
	free(text);
	return 0;
}
