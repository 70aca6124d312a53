/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/reckon.h"

#include "cmd/progress.h"
#include "cmd/site_arguments.h"
#include "lib/core/show.h"
#include "lib/core/text.h"
#include "lib/job/reckon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS_A_BATCH 256

struct reckoning {
	struct reckon_options options;
	struct lens_config *config;
	struct lens_accounting *accounting;
	struct lens_reckon *reckon;
	struct lens_job_site site;
	struct reckon_output *output;
	bool *found;       /* which wishes have a record */
	bool failed;       /* something that was asked for is not out */
	size_t spans, put; /* in all; of the job that is at hand */
	struct progress *progress;
	size_t steps, steps_put; /* of all jobs, for PROGRESS */
};

__attribute__((format(printf, 2, 3))) static void say(struct reckoning *reckoning,
						      const char *format, ...)
{
	va_list list;

	/* What is printed already comes first, where both go to one place. */
	fflush(stdout);
	progress_clear(reckoning->progress);
	fputs("slurm-lens reckon: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	putc('\n', stderr);
}

static void problem_say(void *context, const char *text)
{
	say(context, "%s", text);
}

/* The job as a person names it. */
static const char *job_name(const struct lens_account_record *record)
{
	static char name[64];

	if (record->het)
		snprintf(name, sizeof(name), "%" PRIu32 "+%" PRIu32, record->leader,
			 record->offset);
	else if (record->array_task != LENS_RECORD_NONE)
		snprintf(name, sizeof(name), "%" PRIu32 "_%" PRIu32, record->array_job,
			 record->array_task);
	else
		snprintf(name, sizeof(name), "%" PRIu32, record->job);
	return name;
}

static int config_load(struct reckoning *reckoning, struct lens_error *err)
{
	struct reckon_options *options = &reckoning->options;

	switch (site_config_load(&reckoning->config, &options->common, problem_say, reckoning)) {
	case -1:
		return lens_error_set(err, "out of memory");
	case -2: /* Without the Realm that was meant all ids would be others. */
		return lens_error_set(err, "nothing is made of settings that are wrong");
	}
	reckoning->site = (struct lens_job_site){
		.realm = options->realm != NULL ? options->realm : reckoning->config->realm,
		.service_name = reckoning->config->service_name,
		.version = PACKAGE_VERSION,
	};
	return 0;
}

static bool wished(struct reckoning *reckoning, const struct lens_account_record *record)
{
	const struct reckon_options *options = &reckoning->options;
	bool any = options->wish_count == 0;

	if (options->cluster != NULL && strcmp(options->cluster, record->cluster) != 0)
		return false;
	for (size_t i = 0; i < options->wish_count; i++) {
		if (lens_account_wish_matches(&options->wishes[i], record)) {
			reckoning->found[i] = true;
			any = true;
		}
	}
	return any;
}

static int number(struct reckoning *reckoning, int64_t kept_since, struct lens_error *err)
{
	struct lens_reckon_wish wish = { .oldest_attempt = reckoning->options.attempt,
					 .kept_since = kept_since };

	lens_reckon_destroy(reckoning->reckon);
	reckoning->reckon = lens_reckon_create(reckoning->accounting, &wish);
	return reckoning->reckon != NULL ? 0 : lens_error_set(err, "out of memory");
}

/* Numbers the attempts. What slurmdbd has purged is asked only where it matters. */
static int attempts_number(struct reckoning *reckoning, struct lens_error *err)
{
	if (number(reckoning, INT64_MAX, err) == -1)
		return -1;
	for (size_t i = 0; i < lens_reckon_count(reckoning->reckon); i++) {
		const struct lens_reckon_attempt *attempt = lens_reckon_at(reckoning->reckon, i);

		if (!wished(reckoning, attempt->first))
			continue;
		if (attempt->number == LENS_RECKON_TOLD &&
		    reckoning->options.attempt != LENS_RECORD_NONE)
			return lens_error_set(
				err, "--attempt: accounting itself numbers the attempts of job %s",
				job_name(attempt->first));
		if (attempt->number == LENS_RECKON_UNKNOWN && reckoning->options.from == NULL)
			return number(reckoning, reckon_kept_since(), err);
	}
	return 0;
}

static int batch_put(struct reckoning *reckoning, struct lens_batch *batch, int count,
		     struct lens_error *err)
{
	int rc = count == -1 ? lens_error_set(err, "out of memory")
			     : reckon_output_put(reckoning->output, batch, err);

	lens_batch_destroy(batch);
	reckoning->put += count > 0 ? (size_t)count : 0;
	progress_count(reckoning->progress, reckoning->steps_put, reckoning->steps);
	return rc;
}

static int spans_put(struct reckoning *reckoning, const struct lens_reckon_attempt *attempt,
		     struct lens_error *err)
{
	struct lens_batch *batch = lens_batch_create("slurm-lens", PACKAGE_VERSION);
	int count = -1;

	if (batch != NULL)
		count = lens_reckon_job_spans_add(batch, &reckoning->site, attempt);
	if (batch_put(reckoning, batch, count, err) == -1)
		return -1;
	reckoning->steps_put++;
	for (size_t first = 0; first < attempt->step_count; first += STEPS_A_BATCH) {
		batch = lens_batch_create("slurm-lens", PACKAGE_VERSION);
		count = batch == NULL ? -1
				      : lens_reckon_step_spans_add(batch, &reckoning->site, attempt,
								   first, STEPS_A_BATCH);
		if (batch_put(reckoning, batch, count, err) == -1)
			return -1;
		reckoning->steps_put += STEPS_A_BATCH < attempt->step_count - first
						? STEPS_A_BATCH
						: attempt->step_count - first;
	}
	return 0;
}

/* 0, or -1 with ERR where going on is of no use. */
static int attempt_tell(struct reckoning *reckoning, const struct lens_reckon_attempt *attempt,
			struct lens_error *err)
{
	const char *name = job_name(attempt->first);

	if (attempt->number == LENS_RECKON_REUSED) {
		say(reckoning, "job %s: left out: an older job of the same number", name);
		return 0;
	}
	if (attempt->number == LENS_RECKON_UNKNOWN) {
		say(reckoning,
		    "job %s: accounting may have purged its first attempts, and this Slurm does "
		    "not number them: give --attempt with the number of the oldest record (0: the "
		    "first)",
		    name);
		reckoning->failed = true;
		return 0;
	}
	reckoning->put = 0;
	if (spans_put(reckoning, attempt, err) == -1)
		return -1;
	reckoning->spans += reckoning->put;
	if (reckoning->put == 0 && !lens_reckon_started(attempt) && !lens_reckon_ended(attempt)) {
		say(reckoning, "job %s waits in the queue: nothing to tell yet", name);
		reckoning->failed = true;
	} else if (!lens_reckon_ended(attempt)) {
		say(reckoning, "job %s is not over: what is complete", name);
	}
	return 0;
}

static int reckon(struct reckoning *reckoning, struct lens_error *err)
{
	const struct reckon_options *options = &reckoning->options;
	int rc;

	reckoning->accounting = lens_accounting_create();
	reckoning->found = calloc(options->wish_count + 1, sizeof(*reckoning->found));
	if (reckoning->accounting == NULL || reckoning->found == NULL)
		return lens_error_set(err, "out of memory");
	if (config_load(reckoning, err) == -1)
		return -1;
	reckoning->output = reckon_output_create(options, reckoning->config, err);
	if (reckoning->output == NULL)
		return -1;
	rc = options->from != NULL ? reckon_saved_read(reckoning->accounting, options->from, err)
				   : reckon_sacct_read(reckoning->accounting, options, err);
	return rc == -1 ? -1 : attempts_number(reckoning, err);
}

/* Spans on a terminal show by themselves how far it is. Jobs count as a step, too. */
static void progress_begin(struct reckoning *reckoning)
{
	const struct reckon_options *options = &reckoning->options;

	if (options->send || options->file != NULL || isatty(STDOUT_FILENO) != 1)
		reckoning->progress = progress_create("jobs and steps");
	for (size_t i = 0; i < lens_reckon_count(reckoning->reckon); i++) {
		const struct lens_reckon_attempt *attempt = lens_reckon_at(reckoning->reckon, i);

		if (wished(reckoning, attempt->first))
			reckoning->steps += 1 + attempt->step_count;
	}
}

/* All that was wished for; what is not there is said at the end. */
static int all_tell(struct reckoning *reckoning, struct lens_error *err)
{
	const struct reckon_options *options = &reckoning->options;
	struct lens_shown shown;

	progress_begin(reckoning);
	for (size_t i = 0; i < lens_reckon_count(reckoning->reckon); i++) {
		const struct lens_reckon_attempt *attempt = lens_reckon_at(reckoning->reckon, i);

		if (wished(reckoning, attempt->first) &&
		    attempt_tell(reckoning, attempt, err) == -1)
			return -1;
	}
	for (size_t i = 0; i < options->wish_count; i++) {
		if (reckoning->found[i])
			continue;
		say(reckoning, "job %s: accounting has no record of it that you may see",
		    lens_shown_value(&shown, options->words[i]));
		reckoning->failed = true;
	}
	if (reckoning->spans == 0 && !reckoning->failed) {
		say(reckoning, "no span: there is no complete job in it");
		reckoning->failed = true;
	}
	return 0;
}

int lens_reckon_main(int argc, char **argv)
{
	struct reckoning reckoning = { 0 };
	struct lens_error err = LENS_ERROR_INIT;
	int status = LENS_EXIT_ENVIRONMENT;

	if (reckon_options_parse(&reckoning.options, argc, argv) == -1)
		goto out;
	if (reckoning.options.common.help) {
		fputs(reckon_options_help(), stdout);
		status = LENS_EXIT_OK;
	} else if (reckon(&reckoning, &err) == -1) {
		say(&reckoning, "%s", err.text);
	} else if (all_tell(&reckoning, &err) == -1) {
		say(&reckoning, "%s", err.text);
		status = LENS_EXIT_NO;
	} else {
		status = reckoning.failed ? LENS_EXIT_NO : LENS_EXIT_OK;
	}
out:
	progress_destroy(reckoning.progress);
	reckon_output_destroy(reckoning.output);
	lens_reckon_destroy(reckoning.reckon);
	lens_accounting_destroy(reckoning.accounting);
	lens_config_destroy(reckoning.config);
	free(reckoning.found);
	reckon_options_clear(&reckoning.options);
	return status;
}
