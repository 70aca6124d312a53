/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the plugin: from the command line and the environment, to the nodes. */
#include "tests/spankhost/self.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_PREFIX  "SLURM_SPANK_"
#define SCRIPT_PREFIX "SPANK_"

/* PREFIX, then how Slurm names the option NAME in an environment. */
void host_option_variable(char out[128], const char *name, const char *prefix)
{
	size_t at = (size_t)snprintf(out, 128, "%s_SLURM_SPANK_OPTION_%s_%s", prefix,
				     host_plugin_name, name);

	for (char *c = out + at - strlen(name); *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
}

struct host_option *host_option_find(const char *name)
{
	for (size_t i = 0; i < host_self.option_count; i++)
		if (strcmp(host_self.options[i].name, name) == 0)
			return &host_self.options[i];
	return NULL;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	struct host_option *own = &host_self.options[host_self.option_count];

	if (!spank || host_self.hook != HOOK_INIT)
		return ESPANK_BAD_ARG;
	if (!option || !option->name || !option->usage)
		return ESPANK_BAD_ARG;
	if (host_self.option_count == sizeof(host_self.options) / sizeof(*own))
		return ESPANK_NOSPACE;
	snprintf(own->name, sizeof(own->name), "%s", option->name);
	own->has_arg = option->has_arg;
	own->val = option->val;
	own->callback = option->cb;
	host_self.option_count++;
	return ESPANK_SUCCESS;
}

spank_err_t spank_option_getopt(spank_t spank, struct spank_option *option, char **argument)
{
	struct host_option *own;
	char name[128];
	const char *value;

	if (argument)
		*argument = NULL;
	switch (host_self.hook) {
	case HOOK_INIT:
	case HOOK_INIT_POST_OPT:
	case HOOK_TASK_POST_FORK:
	case HOOK_SLURMD_EXIT:
	case HOOK_EXIT:
		return ESPANK_NOT_AVAIL;
	default:
		break;
	}
	if (!spank || !option || !option->name || (option->has_arg && !argument))
		return ESPANK_BAD_ARG;
	own = host_option_find(option->name);
	if (own) {
		if (own->found && option->has_arg)
			*argument = own->argument;
		return own->found ? ESPANK_SUCCESS : ESPANK_ERROR;
	}
	/* prolog and epilog, where nothing was registered */
	host_option_variable(name, option->name, "");
	value = getenv(name);
	if (!value) {
		host_option_variable(name, option->name, SCRIPT_PREFIX);
		value = getenv(name);
	}
	if (value && option->has_arg)
		*argument = strdup(value);
	return value ? ESPANK_SUCCESS : ESPANK_ERROR;
}

int host_option_call(struct host_option *option, const char *argument, int remote)
{
	int rc;

	host_plugin_turn(true);
	rc = option->callback ? option->callback(option->val, argument, remote) : 0;
	host_plugin_turn(false);
	if (rc != 0)
		return rc;
	if (option->has_arg) {
		free(option->argument);
		option->argument = argument ? strdup(argument) : NULL;
	}
	option->found = true;
	return 0;
}

/* What an outer job's options left in the environment comes first, then the command line. */
int host_options_from_user(const char *const *given)
{
	char name[128];

	for (size_t i = 0; i < host_self.option_count; i++) {
		const char *value;

		host_option_variable(name, host_self.options[i].name, LOCAL_PREFIX);
		value = getenv(name);
		if (value && host_option_call(&host_self.options[i], value, 0)) {
			slurm_error("Invalid argument (%s) for environment variable: %s", value,
				    name);
			return -1;
		}
	}
	for (; given && *given; given++) {
		size_t length = strcspn(*given, "=");
		const char *value = (*given)[length] ? *given + length + 1 : NULL;
		struct host_option *option;

		snprintf(name, sizeof(name), "%.*s", (int)length, *given);
		option = host_option_find(name);
		if (!option) {
			slurm_error("unrecognized option '--%s'", name);
			return -1;
		}
		if (host_option_call(option, value, 0)) {
			slurm_error("Invalid --%s argument: %s", name, value ? value : "(null)");
			return -1;
		}
	}
	return 0;
}

/* Before init_post_opt: into the process's own environment and the job control environment. The
 * second gets "(null)" for an option without a value. */
void host_options_hand_on(void)
{
	for (size_t i = 0; i < host_self.option_count; i++) {
		const struct host_option *option = &host_self.options[i];
		char name[128];

		if (!option->found)
			continue;
		host_option_variable(name, option->name, "");
		setenv(name, option->argument ? option->argument : "", 1);
		host_env_set(&host_self.control, name,
			     option->argument ? option->argument : "(null)");
	}
}

static bool is_option_variable(const char *string)
{
	static const char prefix[] = "_SLURM_SPANK_OPTION_";

	if (strncmp(string, SCRIPT_PREFIX, sizeof(SCRIPT_PREFIX) - 1) == 0)
		string += sizeof(SCRIPT_PREFIX) - 1;
	return strncmp(string, prefix, sizeof(prefix) - 1) == 0;
}

/* Takes what is left of options out of the environment, as Slurm does it: the one that follows
 * one taken out is passed over, and so reaches the tasks. */
static void variables_clear(void)
{
	for (char **e = host_self.env; *e; e++) {
		char name[256];

		if (!is_option_variable(*e))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*e, "="), *e);
		host_env_set(&host_self.env, name, NULL);
		if (!*e)
			break;
	}
}

/* In slurmstepd: packed ones, then the environment's, and out of it. */
void host_options_remote(void)
{
	const struct host_step *step = host_self.step;
	bool seen[32] = { false };
	char name[128];

	for (size_t i = 0; step && i < step->packed_count; i++) {
		struct host_option *option = host_option_find(step->packed[i].name);

		if (!option)
			continue;
		host_option_call(option, step->packed[i].value, 1);
		seen[option - host_self.options] = !host_self.profile->option_twice;
	}
	for (size_t i = 0; i < host_self.option_count; i++) {
		const char *value;

		host_option_variable(name, host_self.options[i].name, "");
		value = host_env_get(host_self.env, name);
		if (!value || seen[i])
			continue;
		host_option_call(&host_self.options[i], value, 1);
		host_env_set(&host_self.env, name, NULL);
	}
	variables_clear();
}
