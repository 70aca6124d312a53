/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_AGENT_LOG_H
#define LENS_CMD_AGENT_LOG_H

/*
 * Where the agent says what happens: one line an event. For a person at a terminal on
 * standard error; else to syslog (facility daemon) and to agent.log in the state
 * directory, which is kept below two times AGENT_LOG_MAX bytes; until that is open, to
 * standard error as well. A line that says the same as
 * the one before is counted, not written again.
 */
struct agent_log;

#define AGENT_LOG_MAX (1024L * 1024)

/* COMMAND, `agent` say: to standard error, in its name; NULL: not for a person. Returns NULL: no
 * memory. */
struct agent_log *agent_log_create(const char *command);
void agent_log_destroy(struct agent_log *log);

/* From here on lines also go to agent.log below DIRECTORY (unless to a terminal). */
void agent_log_open(struct agent_log *log, int directory);

/* A LOG of NULL takes nothing. */
void agent_log_say(struct agent_log *log, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
