/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent_log.h"

#include "lib/core/text.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define LOG_NAME "agent.log"
#define LINE     1024

struct agent_log {
	const char *command; /* NULL: to a file and syslog */
	int directory;       /* -1: no file */
	bool opened;         /* agent_log_open was there */
	int fd;
	char last[LINE];
	unsigned long repeated;
};

struct agent_log *agent_log_create(const char *command)
{
	struct agent_log *log = calloc(1, sizeof(*log));

	if (log == NULL)
		return NULL;
	log->command = command;
	log->directory = -1;
	log->fd = -1;
	if (command == NULL)
		openlog("slurm-lens", LOG_PID, LOG_DAEMON);
	return log;
}

static void file_open(struct agent_log *log)
{
	log->fd = openat(log->directory, LOG_NAME,
			 O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

void agent_log_open(struct agent_log *log, int directory)
{
	if (log->command != NULL)
		return;
	log->directory = directory;
	log->opened = true;
	file_open(log);
}

static void file_rotate(struct agent_log *log)
{
	struct stat status;

	if (fstat(log->fd, &status) == -1 || status.st_size < AGENT_LOG_MAX)
		return;
	close(log->fd);
	renameat(log->directory, LOG_NAME, log->directory, LOG_NAME ".1");
	file_open(log);
}

static void file_write(struct agent_log *log, const char *line)
{
	struct lens_text text = LENS_TEXT_INIT;
	char stamp[32] = "";
	time_t now = time(NULL);
	struct tm parts;

	if (log->fd == -1)
		return;
	file_rotate(log);
	if (gmtime_r(&now, &parts) != NULL)
		strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &parts);
	lens_text_addf(&text, "%s [%d] %s\n", stamp, (int)getpid(), line);
	/* A log that cannot be written is no reason to stop; syslog has the line too. */
	if (!text.failed && write(log->fd, text.data, text.length) == -1)
		close(log->fd), log->fd = -1;
	lens_text_clear(&text);
}

static void line_write(struct agent_log *log, const char *line)
{
	if (log->command != NULL) {
		fprintf(stderr, "slurm-lens %s: %s\n", log->command, line);
		return;
	}
	syslog(LOG_NOTICE, "%s", line);
	/* Who started it shall learn why it ends at once: there may be no syslog. */
	if (!log->opened)
		fprintf(stderr, "slurm-lens agent: %s\n", line);
	file_write(log, line);
}

static void repeated_flush(struct agent_log *log)
{
	char line[64];

	if (log->repeated > 0) {
		snprintf(line, sizeof(line), "(the line above %lu more times)", log->repeated);
		line_write(log, line);
	}
	log->repeated = 0;
}

void agent_log_say(struct agent_log *log, const char *format, ...)
{
	char line[LINE];
	va_list arguments;

	if (log == NULL)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	for (char *c = line; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	if (strcmp(line, log->last) == 0) {
		log->repeated++;
		return;
	}
	repeated_flush(log);
	memcpy(log->last, line, sizeof(line));
	line_write(log, line);
}

void agent_log_destroy(struct agent_log *log)
{
	if (log == NULL)
		return;
	repeated_flush(log);
	if (log->fd != -1)
		close(log->fd);
	if (log->command == NULL)
		closelog();
	free(log);
}
