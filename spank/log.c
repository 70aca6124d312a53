/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/log.h"

#include <slurm/spank.h>
#include <stdarg.h>
#include <stdio.h>

void lens_log(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	slurm_info("lens: %s", text);
}

void lens_log_debug(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	slurm_debug("lens: %s", text);
}

void lens_problems_add(void *context, const char *text)
{
	struct lens_problems *problems = context;

	if (problems->count++ == 0)
		lens_error_set(&problems->first, "%s", text);
}

void lens_problems_log(const struct lens_problems *problems, const char *prefix)
{
	if (problems->count == 0)
		return;
	if (problems->count == 1)
		lens_log("%s%s", prefix, problems->first.text);
	else
		lens_log("%s%s (and %zu more)", prefix, problems->first.text, problems->count - 1);
}
