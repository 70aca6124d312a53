/* SPDX-License-Identifier: Apache-2.0 */
/* The environment and the log, as Slurm's calls reach them. */
#include "tests/spankhost/self.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Slurm's limit of a variable, name, value and two bytes together (src/common/env.c). */
#define SLURM_LIMIT 131072

/* One line of the log, and where it can be read: an error goes to the user's terminal or
 * output wherever Slurm has made that its stderr, information only on the submit side. */
static void say(bool error, const char *text)
{
	bool submit = host_self.context == S_CTX_ALLOCATOR || host_self.context == S_CTX_LOCAL;
	bool user = submit || (error && host_self.stderr_is_users);
	bool inside = host_plugin_turn(false);

	host_record(HOST_LOG, user, text, strlen(text));
	if (user)
		dprintf(2, "%s: %s%s\n", host_self.role, error ? "error: " : "", text);
	host_plugin_turn(inside);
}

#define LOGGER(name, error)                                  \
	void name(const char *format, ...)                   \
	{                                                    \
		char text[4096];                             \
		va_list args;                                \
                                                             \
		va_start(args, format);                      \
		vsnprintf(text, sizeof(text), format, args); \
		va_end(args);                                \
		say(error, text);                            \
	}

/* What the default debug level shows: verbose and below are dropped. */
#define DROPPED(name)                      \
	void name(const char *format, ...) \
	{                                  \
		(void)format;              \
	}

LOGGER(slurm_error, true)
LOGGER(slurm_spank_log, true)
LOGGER(slurm_info, false)
DROPPED(slurm_verbose)
DROPPED(slurm_debug)
DROPPED(slurm_debug2)
DROPPED(slurm_debug3)

static spank_err_t environment_permitted(spank_t spank)
{
	if (!spank || spank->magic != HOST_MAGIC)
		return ESPANK_BAD_ARG;
	return host_self.context == S_CTX_REMOTE ? ESPANK_SUCCESS : ESPANK_NOT_REMOTE;
}

static spank_err_t copy_out(const char *value, char *out, int length)
{
	if (!value)
		return ESPANK_ENV_NOEXIST;
	if (length > 0)
		snprintf(out, (size_t)length, "%s", value);
	return strlen(value) >= (size_t)length ? ESPANK_NOSPACE : ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *out, int length)
{
	spank_err_t rc = environment_permitted(spank);

	if (rc != ESPANK_SUCCESS)
		return rc;
	if (length < 0)
		return ESPANK_BAD_ARG;
	return copy_out(host_env_get(host_self.env, name), out, length);
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	spank_err_t rc = environment_permitted(spank);
	char *text = NULL;
	bool inside;

	if (rc != ESPANK_SUCCESS)
		return rc;
	if (!name || !value)
		return ESPANK_BAD_ARG;
	if (!overwrite && host_env_get(host_self.env, name))
		return ESPANK_ENV_EXISTS;
	inside = host_plugin_turn(false);
	if (asprintf(&text, "%s=%s", name, value) < 0)
		abort();
	host_record(HOST_SETENV, 0, text, strlen(text));
	free(text);
	/* Slurm sets nothing, says so in the user's own output, and answers success. */
	if (strlen(name) + strlen(value) + 2 >= SLURM_LIMIT)
		slurm_error("environment variable %s is too long", name);
	else
		host_env_set(&host_self.env, name, value);
	host_plugin_turn(inside);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
	spank_err_t rc = environment_permitted(spank);

	if (rc != ESPANK_SUCCESS)
		return rc;
	if (!name)
		return ESPANK_BAD_ARG;
	host_record(HOST_SETENV, 0, name, strlen(name));
	host_env_set(&host_self.env, name, NULL);
	return ESPANK_SUCCESS;
}

static spank_err_t control_permitted(spank_t spank)
{
	if (!spank || spank->magic != HOST_MAGIC)
		return ESPANK_BAD_ARG;
	switch (host_self.context) {
	case S_CTX_REMOTE:
		return ESPANK_NOT_LOCAL;
	case S_CTX_SLURMD:
		return ESPANK_NOT_AVAIL;
	case S_CTX_JOB_SCRIPT:
		/* the function that Slurm calls next is only in srun, sbatch and salloc */
		if (host_self.profile->control_kills)
			raise(SIGSEGV);
		return ESPANK_BAD_ARG;
	default:
		return ESPANK_SUCCESS;
	}
}

spank_err_t spank_job_control_setenv(spank_t spank, const char *name, const char *value,
				     int overwrite)
{
	spank_err_t rc = control_permitted(spank);
	bool inside;

	if (rc != ESPANK_SUCCESS)
		return rc;
	if (!name || !value)
		return ESPANK_BAD_ARG;
	inside = host_plugin_turn(false);
	if (overwrite || !host_env_get(host_self.control, name))
		host_env_set(&host_self.control, name, value);
	host_plugin_turn(inside);
	return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_getenv(spank_t spank, const char *name, char *out, int length)
{
	spank_err_t rc = control_permitted(spank);

	if (rc != ESPANK_SUCCESS)
		return rc;
	if (!name || !out || length <= 0)
		return ESPANK_BAD_ARG;
	return copy_out(host_env_get(host_self.control, name), out, length);
}

spank_err_t spank_job_control_unsetenv(spank_t spank, const char *name)
{
	spank_err_t rc = control_permitted(spank);

	if (rc != ESPANK_SUCCESS)
		return rc;
	if (!name)
		return ESPANK_BAD_ARG;
	host_env_set(&host_self.control, name, NULL);
	return ESPANK_SUCCESS;
}
