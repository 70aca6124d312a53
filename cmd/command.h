/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_COMMAND_H
#define LENS_CMD_COMMAND_H

/* What every subcommand exits with. */
enum lens_exit {
	LENS_EXIT_OK = 0,
	LENS_EXIT_NO = 1,          /* the answer is no */
	LENS_EXIT_ENVIRONMENT = 2, /* wrong usage, or something around it is not as it must be */
};

/* One per file cmd/<name>.c; ARGV[0] is the subcommand's name. Returns an enum lens_exit;
 * emit, when it ran a command, what that one ended with. */
int lens_agent_main(int argc, char **argv);
int lens_attrs_main(int argc, char **argv);
int lens_check_main(int argc, char **argv);
int lens_emit_main(int argc, char **argv);
int lens_ranks_main(int argc, char **argv);
int lens_reckon_main(int argc, char **argv);
int lens_sender_main(int argc, char **argv);
int lens_show_main(int argc, char **argv);
int lens_status_main(int argc, char **argv);

/* What requests to a receiver say sent them; needs config.h. */
#define LENS_USER_AGENT "OTel-OTLP-Exporter-slurm-lens/" PACKAGE_VERSION

#endif
