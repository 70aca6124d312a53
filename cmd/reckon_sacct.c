/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/reckon.h"

#include "cmd/progress.h"
#include "cmd/reckon_run.h"
#include "lib/core/text.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOBS_A_CALL 500 /* a command line has its limits */
#define DELIMITER   20

/*
 * A job's name may hold anything, and its user must not be able to write rows: what stands between
 * the columns is made anew each time.
 */
static int delimiter_make(char out[DELIMITER], struct lens_error *err)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return lens_error_set(err, "no random number: %m");
	snprintf(out, DELIMITER, "~%016" PRIx64 "~", random);
	return 0;
}

/* Whether NAME is among the words of LIST, in any case. */
static bool word_listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strcasestr(list, name); at != NULL; at = strcasestr(at + 1, name)) {
		if ((at == list || isspace((unsigned char)at[-1])) &&
		    (at[length] == '\0' || isspace((unsigned char)at[length])))
			return true;
	}
	return false;
}

/* --format with the columns that this sacct has. The caller frees; NULL with ERR. */
static char *format_make(struct lens_error *err)
{
	static const char *const newer[] = { "Restarts", "SLUID" };
	const char *const argv[] = { "sacct", "--helpformat", NULL };
	struct lens_text text = LENS_TEXT_INIT;
	char *list = reckon_run_read(argv, err);
	char *format;

	if (list == NULL)
		return NULL;
	lens_text_adds(&text, "--format=" LENS_ACCOUNTING_COLUMNS);
	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
		if (word_listed(list, newer[i]))
			lens_text_addf(&text, ",%s", newer[i]);
	}
	free(list);
	format = lens_text_take(&text);
	if (format == NULL)
		lens_error_set(err, "out of memory");
	return format;
}

/* As lens_accounting_read, from FD; WHAT is shown while it takes long. */
static int shown_read(struct lens_accounting *out, int fd, const char *what, const char *name,
		      const char *delimiter, struct lens_error *err)
{
	struct progress *progress = progress_create(what);
	struct stat status;
	uint64_t size =
		fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
	FILE *in = progress_stream(progress, fd, size);
	int rc = in != NULL ? lens_accounting_read(out, in, name, delimiter, err)
			    : lens_error_set(err, "out of memory");

	if (in != NULL)
		fclose(in);
	progress_destroy(progress);
	return rc;
}

int reckon_saved_read(struct lens_accounting *out, const char *from, struct lens_error *err)
{
	bool standard = strcmp(from, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(from, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd == -1)
		return lens_error_set(err, "%s: %m", from);
	rc = shown_read(out, fd, "reading", standard ? "standard input" : from, NULL, err);
	if (!standard)
		close(fd);
	return rc;
}

/* JOBS: `36,36_3`. */
static int jobs_read(struct lens_accounting *out, const char *jobs, const char *format,
		     const char *cluster, struct lens_error *err)
{
	char delimiter[DELIMITER], separator[DELIMITER + 16];
	const char *const argv[] = {
		"sacct",       "--allusers", "--duplicates",
		"--parsable2", separator,    format,
		"--jobs",      jobs,         cluster != NULL ? "--clusters" : NULL,
		cluster,       NULL
	};
	struct reckon_run *run;
	int rc;

	if (delimiter_make(delimiter, err) == -1)
		return -1;
	snprintf(separator, sizeof(separator), "--delimiter=%s", delimiter);
	run = reckon_run_start(argv, err);
	if (run == NULL)
		return -1;
	rc = shown_read(out, fileno(reckon_run_output(run)), "asking accounting", "sacct",
			delimiter, err);
	/* What sacct itself says is nearer to the cause. */
	return reckon_run_end(run, err) == -1 ? -1 : rc;
}

/* A job to ask for: a het job is asked for as a whole, for the steps that its components share. */
static void job_add(struct lens_text *text, const struct lens_account_wish *wish)
{
	lens_text_addf(text, "%s%" PRIu32, text->length > 0 ? "," : "", wish->job);
	if (wish->array_task != LENS_RECORD_NONE)
		lens_text_addf(text, "_%" PRIu32, wish->array_task);
}

static int wishes_read(struct lens_accounting *out, const struct lens_account_wish *wishes,
		       size_t count, const char *format, const char *cluster,
		       struct lens_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i += JOBS_A_CALL) {
		struct lens_text text = LENS_TEXT_INIT;
		char *jobs;

		for (size_t k = i; k < count && k < i + JOBS_A_CALL; k++)
			job_add(&text, &wishes[k]);
		jobs = lens_text_take(&text);
		rc = jobs != NULL ? jobs_read(out, jobs, format, cluster, err)
				  : lens_error_set(err, "out of memory");
		free(jobs);
	}
	return rc;
}

static bool leader_listed(const struct lens_accounting *accounting, uint32_t leader)
{
	for (size_t i = 0; i < lens_accounting_count(accounting); i++) {
		if (lens_accounting_at(accounting, i)->job == leader)
			return true;
	}
	return false;
}

/* A component that was asked for by its own number comes alone: its leader is asked for too. */
static int leaders_read(struct lens_accounting *out, const char *format, const char *cluster,
			struct lens_error *err)
{
	size_t count = lens_accounting_count(out);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		const struct lens_account_record *record = lens_accounting_at(out, i);
		struct lens_account_wish wish = { .job = record->leader,
						  .array_task = LENS_RECORD_NONE };

		if (record->het && !leader_listed(out, record->leader))
			rc = wishes_read(out, &wish, 1, format, cluster, err);
	}
	return rc;
}

int reckon_sacct_read(struct lens_accounting *out, const struct reckon_options *options,
		      struct lens_error *err)
{
	char *format = format_make(err);
	int rc = -1;

	if (format != NULL && wishes_read(out, options->wishes, options->wish_count, format,
					  options->cluster, err) == 0)
		rc = leaders_read(out, format, options->cluster, err);
	free(format);
	return rc;
}

/* `PurgeJobAfter = 12months*` in LIST: how many seconds that is at the least; -1 not known, 0
 * never. */
static int64_t purge_read(const char *list)
{
	static const struct {
		const char *unit;
		int64_t seconds;
	} units[] = { { "hour", 3600 }, { "day", 86400 }, { "month", 28 * 86400 } };
	const char *line = strstr(list, "PurgeJobAfter");
	char word[32] = "", unit[32] = "";
	unsigned int number;

	if (line == NULL || sscanf(line, "PurgeJobAfter = %31s %31s", word, unit) < 1)
		return -1;
	if (strcmp(word, "NONE") == 0)
		return 0;
	if (sscanf(word, "%6u%31s", &number, unit) < 1)
		return -1;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strncasecmp(unit, units[i].unit, strlen(units[i].unit)) == 0)
			return number * units[i].seconds;
	}
	return -1;
}

int64_t reckon_kept_since(void)
{
	const char *const argv[] = { "sacctmgr", "--readonly", "show", "configuration", NULL };
	struct lens_error err;
	char *list = reckon_run_read(argv, &err);
	int64_t seconds = list != NULL ? purge_read(list) : -1;

	free(list);
	if (seconds == -1)
		return INT64_MAX;
	return seconds == 0 ? INT64_MIN : time(NULL) - seconds;
}
