/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/usage.h"

#include "cmd/command.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int usage_wrong(const char *command, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "slurm-lens %s: ", command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "; `slurm-lens %s --help` says more\n", command);
	return -1;
}

int usage_unknown(const char *command, int option, char *const *argv)
{
	return usage_wrong(command, "%s: %s", argv[optind - 1],
			   option == ':' ? "its value is missing" : "no such option");
}

int usage_format(bool *json, const char *command, const char *value)
{
	*json = strcmp(value, "json") == 0;
	return *json || strcmp(value, "text") == 0
		       ? 0
		       : usage_wrong(command, "%s: --format takes text or json", value);
}

bool usage_ends(int *status, const char *command, const char *help, int parsed)
{
	if (parsed == 1) {
		fputs(help, stdout);
		*status = LENS_EXIT_OK;
	} else if (parsed != 0) {
		fprintf(stderr, "Try `slurm-lens %s --help`.\n", command);
		*status = LENS_EXIT_ENVIRONMENT;
	}
	return parsed != 0;
}
