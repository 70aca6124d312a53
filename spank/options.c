/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/options.h"

#include "lib/core/env.h"
#include "lib/core/text.h"
#include "spank/context.h"
#include "spank/log.h"

#include <stdlib.h>
#include <string.h>

#define RECOVER_PREFIX "SLURM_SPANK__SLURM_SPANK_OPTION_lens_"

/*
 * Called on the submit side (REMOTE 0), where a bad value stops the submission, and in
 * slurmstepd, where the value comes past that check from whoever set the environment: it
 * is checked again and a bad one is only said. Slurm 22.05 calls twice.
 */
static int option_given(int index, const char *value, int remote)
{
	struct lens_error err = LENS_ERROR_INIT;

	if (index < 0 || (size_t)index >= lens_option_count)
		return remote ? 0 : -1;
	if (lens_options_set(&lens_context.options, lens_option_specs[index].name, value, &err) ==
	    0)
		return 0;
	if (remote) {
		lens_log("%s; ignored", err.text);
		return 0;
	}
	slurm_error("%s", err.text);
	return -1;
}

void lens_options_register(spank_t sp)
{
	if (lens_context.options_ready)
		return;
	lens_options_init(&lens_context.options);
	lens_context.options_ready = true;
	for (size_t i = 0; i < lens_option_count; i++) {
		const struct lens_option_spec *spec = &lens_option_specs[i];
		struct spank_option option = {
			.name = (char *)spec->name,
			.arginfo = (char *)spec->argument,
			.usage = (char *)spec->help,
			.has_arg = spec->argument ? (spec->argument_optional ? 2 : 1) : 0,
			.val = (int)i,
			.cb = option_given,
		};

		if (spank_option_register(sp, &option) != ESPANK_SUCCESS)
			lens_log(
				"--%s could not be registered: another plugin may have an option of that name",
				spec->name);
	}
}

/* The variable that holds option NAME; the caller frees. */
static char *recover_name(const char *name)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_text_adds(&text, RECOVER_PREFIX);
	for (; *name; name++)
		lens_text_add(&text, *name == '-' ? "_" : name, 1);
	return lens_text_take(&text);
}

void lens_options_recover(char *const *env)
{
	const struct lens_options *options = &lens_context.options;

	if (options->lens != LENS_OPTION_UNSET || options->any)
		return;
	for (size_t i = 0; i < lens_option_count; i++) {
		char *name = recover_name(lens_option_specs[i].name);
		const char *value = name ? lens_env_get(env, name) : NULL;

		if (value)
			option_given((int)i, value, 1);
		free(name);
	}
}
