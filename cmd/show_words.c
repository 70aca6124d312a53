/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *own_text(const struct show_span *span, const char *key)
{
	const char *text = lens_kept_text(&span->kept->attributes, key);

	return text != NULL && *text != '\0' ? text : NULL;
}

/* BEFORE and the attribute, when there is one. */
static void own_add(struct lens_text *out, const struct show_span *span, const char *before,
		    const char *key)
{
	const char *text = own_text(span, key);

	if (text == NULL)
		return;
	lens_text_adds(out, before);
	lens_text_adds(out, text);
}

void show_label_add(struct lens_text *out, const struct show_span *span)
{
	lens_text_adds(out, *span->kept->name != '\0' ? span->kept->name : "(no name)");
	switch (span->kind) {
	case SHOW_STEP:
		own_add(out, span, " ", "slurm.step.id");
		own_add(out, span, " ", "slurm.step.name");
		break;
	case SHOW_STEP_NODE:
		own_add(out, span, " ", "slurm.node.name");
		break;
	case SHOW_TASK:
		if (own_text(span, "nv.dl.rank") != NULL)
			own_add(out, span, " rank ", "nv.dl.rank");
		else
			own_add(out, span, " ", "slurm.procid");
		own_add(out, span, " ", "slurm.node.name");
		break;
	case SHOW_BATCH:
		own_add(out, span, " ", "slurm.node.name");
		break;
	default:
		break;
	}
}

static void comma_add(struct lens_text *out, size_t begin)
{
	if (out->length > begin)
		lens_text_adds(out, ", ");
}

static void error_add(struct lens_text *out, const struct show_span *span)
{
	const char *type = own_text(span, "error.type");

	lens_text_adds(out, "ERROR");
	if (type != NULL)
		lens_text_addf(out, " %s", type);
	else if (*span->kept->message != '\0')
		lens_text_addf(out, " %s", span->kept->message);
	else
		own_add(out, span, " ", "slurm.exit_code");
}

void show_outcome_add(struct lens_text *out, const struct show_span *span)
{
	const char *oom = own_text(span, "slurm.oom_killed");
	const char *suspended = own_text(span, "slurm.suspended_seconds");
	size_t begin = out->length;

	if (span->kind == SHOW_ATTEMPT || span->kind == SHOW_JOB)
		own_add(out, span, "", "slurm.state");
	if (span->kept->status == LENS_STATUS_ERROR) {
		comma_add(out, begin);
		error_add(out, span);
	}
	if (span->truncated) {
		comma_add(out, begin);
		lens_text_adds(out, "truncated");
	}
	if (oom != NULL && strcmp(oom, "true") == 0) {
		comma_add(out, begin);
		lens_text_adds(out, "out of memory");
	}
	if (suspended != NULL && strcmp(suspended, "0") != 0) {
		comma_add(out, begin);
		lens_text_addf(out, "suspended %s s", suspended);
	}
	if (span->orphan) {
		comma_add(out, begin);
		lens_text_adds(out, "parent missing");
	}
}

/* Two numbers of three digits at most are what a person keeps in mind. */
void show_duration_add(struct lens_text *out, uint64_t ns)
{
	const uint64_t second = UINT64_C(1000000000);
	uint64_t s = ns / second, ms = ns / 1000000;

	if (ns == 0)
		lens_text_adds(out, "0 s");
	else if (ns < 1000)
		lens_text_addf(out, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		lens_text_addf(out, "%" PRIu64 " us", ns / 1000);
	else if (ns < second)
		lens_text_addf(out, "%" PRIu64 " ms", ms);
	else if (s < 10)
		lens_text_addf(out, "%" PRIu64 ".%02" PRIu64 " s", s, ms % 1000 / 10);
	else if (s < 60)
		lens_text_addf(out, "%" PRIu64 ".%" PRIu64 " s", s, ms % 1000 / 100);
	else if (s < 3600)
		lens_text_addf(out, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
	else if (s < 86400)
		lens_text_addf(out, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s % 3600 / 60);
	else
		lens_text_addf(out, "%" PRIu64 " d %02" PRIu64 " h", s / 86400, s % 86400 / 3600);
}

void show_time_add(struct lens_text *out, uint64_t ns)
{
	time_t seconds = (time_t)(ns / UINT64_C(1000000000));
	struct tm parts;
	char text[64];

	if (localtime_r(&seconds, &parts) != NULL &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &parts) > 0)
		lens_text_adds(out, text);
	else
		lens_text_addf(out, "%" PRIu64 " ns", ns);
}

void show_section_add(struct lens_text *out, const struct show_section *section)
{
	const char *service = show_span_text(section->first, "service.name");

	if (section->attempt >= 0)
		lens_text_addf(out, "attempt %" PRId64 ", ", section->attempt);
	else
		lens_text_addf(out, "%s, ", service != NULL ? service : "trace");
	if (section->whole != NULL && own_text(section->whole, "slurm.state") != NULL)
		lens_text_addf(out, "%s, ", own_text(section->whole, "slurm.state"));
	else if (section->whole == NULL && section->attempt >= 0)
		lens_text_adds(out, "not over, ");
	show_duration_add(out, section->end_ns - section->start_ns);
	if (section->errors > 0)
		lens_text_addf(out, ", %zu error%s", section->errors,
			       section->errors == 1 ? "" : "s");
}

/* The first that a span of the picture says: slurmctld may not have answered for all of them. */
static const char *picture_text(const struct show_picture *picture, const char *key)
{
	for (size_t i = 0; i < picture->span_count; i++) {
		const char *text =
			lens_kept_text(&picture->spans[i].kept->resource->attributes, key);

		if (text != NULL && *text != '\0')
			return text;
	}
	return NULL;
}

void show_title_add(struct lens_text *out, const struct show_picture *picture)
{
	const struct {
		const char *key, *before;
	} more[] = {
		{ "slurm.job.name", " " },
		{ "slurm.job.user", ", " },
		{ "slurm.partition", ", partition " },
		{ "slurm.cluster.name", ", cluster " },
	};
	const char *job = picture_text(picture, "slurm.job.id");
	const char *service = picture_text(picture, "service.name");

	if (job == NULL) {
		lens_text_addf(out, "Trace of %s", service != NULL ? service : "no service");
		return;
	}
	lens_text_addf(out, "Job %s", job);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		const char *text = picture_text(picture, more[i].key);

		if (text != NULL)
			lens_text_addf(out, "%s%s", more[i].before, text);
	}
}
