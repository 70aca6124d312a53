/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/usage.h"

#include "cmd/command.h"

#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

int usage_wrong(const char *command, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "slurm-lens %s: ", command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "; see slurm-lens %s --help\n", command);
	return -1;
}

int usage_refuse(const char *command, const char *option, const char *value, const char *takes)
{
	return usage_wrong(command, "--%s=%s: not %s", option, value, takes);
}

int usage_unknown(const char *command, int option, char *const *argv)
{
	if (option == ':')
		return usage_wrong(command, "%s: its value is missing", argv[optind - 1]);
	if (optopt > UCHAR_MAX)
		return usage_wrong(command, "%s: it takes no value", argv[optind - 1]);
	/* Of several letters behind one `-` the word is not over, and OPTIND is still before it. */
	if (optopt != 0)
		return usage_wrong(command, "unknown option -%c", optopt);
	return usage_wrong(command, "unknown option %s", argv[optind - 1]);
}

int usage_words_none(const char *command, int argc, char *const *argv)
{
	return optind < argc ? usage_wrong(command, "%s: not expected here", argv[optind]) : 0;
}

bool usage_ends(int *status, const char *help, int parsed)
{
	if (parsed == 1) {
		fputs(help, stdout);
		*status = LENS_EXIT_OK;
	} else if (parsed != 0) {
		*status = LENS_EXIT_ENVIRONMENT;
	}
	return parsed != 0;
}
