/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/config_file.h"
#include "lib/core/fd.h"
#include "lib/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1024 * 1024)

struct reading {
	struct lens_config *config;
	const char *path;
	unsigned int line;
	unsigned int problems;
	lens_config_problem_fn *problem;
	void *context;
};

/* What failed with CODE says nothing about the file. */
static void fault_note(const struct reading *reading, int code)
{
	if (code == ENOMEM || code == EMFILE || code == ENFILE || code == EIO)
		reading->config->incomplete = true;
}

static void file_problem(const struct reading *reading, const char *text)
{
	struct lens_error line;

	lens_error_set(&line, "lens.conf %s: %s", reading->path, text);
	reading->problem(reading->context, line.text);
}

static void line_problem(struct reading *reading, const char *text)
{
	struct lens_error line;

	if (++reading->problems > reading->config->problem_max)
		return;
	lens_error_set(&line, "lens.conf %s:%u: %s", reading->path, reading->line, text);
	reading->problem(reading->context, line.text);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* TEXT without the white space around it, cut in place. */
static char *trim(char *text)
{
	size_t length;

	while (is_blank(*text))
		text++;
	length = strlen(text);
	while (length > 0 && is_blank(text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* Ends LINE where its comment begins; `\#` becomes `#`. */
static void cut_comment(char *line)
{
	char *out = line;

	for (; *line != '\0' && *line != '#'; line++) {
		if (line[0] == '\\' && line[1] == '#')
			line++;
		*out++ = *line;
	}
	*out = '\0';
}

static void read_line(struct reading *reading, char *line)
{
	struct lens_error err = LENS_ERROR_INIT;
	char *equals;

	cut_comment(line);
	line = trim(line);
	if (*line == '\0')
		return;
	equals = strchr(line, '=');
	if (equals == NULL || equals == line) {
		line_problem(reading, "no key and `=` in it: write Key=Value");
		return;
	}
	*equals = '\0';
	if (lens_config_set(reading->config, trim(line), trim(equals + 1), &err) != 0)
		line_problem(reading, err.text);
}

static void read_lines(struct reading *reading, char *text)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some editors put it before UTF-8 */
	struct lens_error more;
	char *next;

	if (strncmp(text, mark, strlen(mark)) == 0)
		text += strlen(mark);
	for (; text != NULL; text = next) {
		next = strchr(text, '\n');
		if (next != NULL)
			*next++ = '\0';
		reading->line++;
		read_line(reading, text);
	}
	if (reading->problems > reading->config->problem_max) {
		lens_error_set(&more, "%u more lines are wrong",
			       reading->problems - reading->config->problem_max);
		file_problem(reading, more.text);
	}
}

static void read_open(struct reading *reading, int fd)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_error err = LENS_ERROR_INIT;
	struct stat status;

	if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)) {
		file_problem(reading, "it is no regular file; not read");
		return;
	}
	if (lens_fd_read(fd, &text, FILE_MAX) != 0) {
		fault_note(reading, errno);
		if (errno == EFBIG)
			lens_error_set(&err, "it is larger than 1 MiB; not read");
		else
			lens_error_set(&err, "it cannot be read: %m");
		file_problem(reading, err.text);
	} else if (text.length > 0 && strlen(text.data) != text.length) {
		file_problem(reading, "it is no text file (a NUL byte in it); not read");
	} else if (text.length > 0) {
		read_lines(reading, text.data);
	}
	lens_text_clear(&text);
}

void lens_config_file_read(struct lens_config *config, const char *path, bool named,
			   lens_config_problem_fn *problem, void *context)
{
	struct reading reading = {
		.config = config, .path = path, .problem = problem, .context = context
	};
	struct lens_error err = LENS_ERROR_INIT;
	int fd;

	/* Without O_NONBLOCK a FIFO would hold up the hook that reads it. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT && !named)
			return;
		fault_note(&reading, errno);
		lens_error_set(&err, "it cannot be read: %m");
		file_problem(&reading, err.text);
		return;
	}
	read_open(&reading, fd);
	lens_fd_close(fd);
}
