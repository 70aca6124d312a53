/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/command.h"
#include "cmd/usage.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int help_main(int argc, char **argv);

static const struct {
	const char *name;
	const char *help; /* NULL: not for people */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "agent", "send what the plugin left on this node", lens_agent_main },
	{ "attrs", "say which resource attributes a task would get", lens_attrs_main },
	{ "check", "look at all that a site needs before it goes live", lens_check_main },
	{ "emit", "send spans of your own, or a command's", lens_emit_main },
	{ "ranks", "say which ranks would export", lens_ranks_main },
	{ "reckon", "make the spans of a job from accounting", lens_reckon_main },
	{ "sender", NULL, lens_sender_main },
	{ "show", "show a job's spans as a waterfall", lens_show_main },
	{ "status", "say how the agent is and what waits", lens_status_main },
	{ "help", "say this", help_main },
};

static void usage(FILE *out)
{
	fputs("Usage: slurm-lens COMMAND [OPTION...]\n\nCommands:\n", out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].help != NULL)
			fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\n`slurm-lens COMMAND --help` says more. `slurm-lens --version` names the version.\n"
	      "Exit status: 0 ok, 1 the answer is no, 2 usage or environment.\n",
	      out);
}

static int help_main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--help") != 0) {
		usage_wrong("help", *argv[1] == '-' ? "unknown option %s" : "%s: not expected here",
			    argv[1]);
		return LENS_EXIT_ENVIRONMENT;
	}
	usage(stdout);
	return LENS_EXIT_OK;
}

/* An answer that a full disk swallowed was not given. */
static int end_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "slurm-lens: standard output: %s\n", strerror(errno));
	return LENS_EXIT_ENVIRONMENT;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return LENS_EXIT_ENVIRONMENT;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		usage(stdout);
		return LENS_EXIT_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("slurm-lens " PACKAGE_VERSION);
		return LENS_EXIT_OK;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return end_output(commands[i].run(argc - 1, argv + 1));
	}
	if (argv[1][0] == '-') {
		fprintf(stderr, "slurm-lens: unknown option %s; see slurm-lens --help\n", argv[1]);
		return LENS_EXIT_ENVIRONMENT;
	}
	fprintf(stderr, "slurm-lens: no command `%s`; `slurm-lens help` lists them\n", argv[1]);
	return LENS_EXIT_ENVIRONMENT;
}
