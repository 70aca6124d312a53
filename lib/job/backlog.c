/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog.h"

#include "lib/core/text.h"
#include "lib/job/backlog_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lens_backlog *lens_backlog_create(int directory, const struct lens_job_site *site,
					 const struct lens_backlog_hooks *hooks)
{
	struct lens_backlog *backlog = calloc(1, sizeof(*backlog));

	if (backlog == NULL)
		return NULL;
	backlog->outbox = backlog_outbox_create();
	backlog->own_memory = lens_memory_create();
	backlog->memory = backlog->own_memory;
	if (backlog->outbox == NULL || backlog->memory == NULL) {
		backlog_outbox_destroy(backlog->outbox);
		lens_memory_destroy(backlog->own_memory);
		free(backlog);
		return NULL;
	}
	backlog->directory = directory;
	backlog->site = *site;
	backlog->hooks = *hooks;
	return backlog;
}

void lens_backlog_destroy(struct lens_backlog *backlog)
{
	if (backlog == NULL)
		return;
	backlog_ask_destroy(backlog);
	backlog_outbox_destroy(backlog->outbox);
	lens_memory_destroy(backlog->own_memory);
	free(backlog->names.items);
	free(backlog->live);
	free(backlog->before);
	free(backlog);
}

void lens_backlog_remember(struct lens_backlog *backlog, struct lens_memory *memory)
{
	lens_memory_destroy(backlog->own_memory);
	backlog->own_memory = NULL;
	backlog->memory = memory;
}

void lens_backlog_limit(struct lens_backlog *backlog, uint64_t max_spool)
{
	backlog->max_spool = max_spool;
	backlog->over_spool = true;
}

void backlog_log(struct lens_backlog *backlog, const char *format, ...)
{
	char text[768];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	backlog->hooks.log(backlog->hooks.context, text);
}

int64_t backlog_now(struct lens_backlog *backlog)
{
	return backlog->hooks.now_ms(backlog->hooks.context);
}

void backlog_due(struct lens_backlog *backlog, int64_t at_ms)
{
	struct lens_backlog_result *result = backlog->result;

	if (result->due_ms == -1 || at_ms < result->due_ms)
		result->due_ms = at_ms;
}

void backlog_visit(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	switch (name->kind) {
	case LENS_STATE_JOURNAL:
		backlog_journal_visit(backlog, name);
		break;
	case LENS_STATE_NOTE:
		backlog_note_visit(backlog, name);
		break;
	case LENS_STATE_ENDED:
		backlog_ended_visit(backlog, name);
		break;
	}
}

static bool stopping(const struct lens_backlog *backlog)
{
	return backlog->hooks.stopping(backlog->hooks.context);
}

static bool may_go_on(const struct lens_backlog *backlog)
{
	return backlog->may_send && !backlog->result->refused &&
	       !backlog_outbox_pending(backlog->outbox) && !stopping(backlog);
}

/* Visits the names from FIRST on; with SENDING only while requests can be made. */
static void walk(struct lens_backlog *backlog, size_t first, bool sending)
{
	const struct backlog_names *names = &backlog->names;

	for (backlog->at = first; backlog->at < names->count && !stopping(backlog); backlog->at++) {
		/* A note asks what is left of the journals. */
		if (backlog->at > 0 && names->items[backlog->at - 1].kind == LENS_STATE_JOURNAL &&
		    names->items[backlog->at].kind != LENS_STATE_JOURNAL)
			backlog_flush(backlog);
		if (sending && !may_go_on(backlog))
			break;
		backlog_visit(backlog, &names->items[backlog->at]);
	}
	if (backlog->at < names->count) /* what was not reached comes first the next time */
		backlog_outbox_resume_at(backlog->outbox, backlog->at);
	backlog->at = names->count;
	backlog_flush(backlog);
}

/* Goes on where there was no room, as long as the receiver takes it at once. */
static void walk_on(struct lens_backlog *backlog)
{
	while (may_go_on(backlog)) {
		size_t resume = backlog_outbox_resume(backlog->outbox);

		if (resume == SIZE_MAX)
			break;
		backlog->result->unsent = backlog->faulty;
		walk(backlog, resume, true);
	}
}

static void result_begin(struct lens_backlog *backlog, struct lens_backlog_result *result)
{
	memset(result, 0, sizeof(*result));
	result->due_ms = -1;
	result->retry_after_ms = -1;
	backlog->result = result;
	backlog->faulty = false;
}

int lens_backlog_run(struct lens_backlog *backlog, bool may_send,
		     struct lens_backlog_result *result, struct lens_error *err)
{
	result_begin(backlog, result);
	backlog->may_send = may_send;
	backlog_live_turn(backlog);
	free(backlog->names.items);
	backlog->names = (struct backlog_names){ 0 };
	backlog_outbox_resume(backlog->outbox);
	result->pending = backlog_outbox_pending(backlog->outbox);
	/* Questions that nobody looks after would be due for ever. */
	if (!backlog_spool_writable(backlog)) {
		backlog_ask_destroy(backlog);
		return 0;
	}
	if (backlog_list(backlog->directory, &backlog->names, err) == -1) {
		backlog_ask_destroy(backlog);
		return -1;
	}
	walk(backlog, 0, false);
	if (!stopping(backlog)) {
		backlog_ask_sweep(backlog);
		if (may_send) /* else journals were not asked */
			backlog_sent_sweep(backlog);
		backlog_spool_limit(backlog);
	}
	walk_on(backlog);
	result->pending = backlog_outbox_pending(backlog->outbox);
	return 0;
}

void lens_backlog_answer(struct lens_backlog *backlog, const struct lens_export_result *answer,
			 bool may_send, struct lens_backlog_result *result)
{
	result_begin(backlog, result);
	backlog->may_send = may_send;
	backlog->at = backlog->names.count;
	backlog_outbox_answer(backlog, answer);
	/* What was under way cannot have arrived: where the run had to spare it, the limit holds for
	 * it now. What has grown since is an event, and so a run's. */
	if (result->refused && backlog->over_spool)
		backlog_spool_limit(backlog);
	walk_on(backlog);
	result->pending = backlog_outbox_pending(backlog->outbox);
	/* Notes may have waited for the journals that are gone now. */
	if (!result->pending && !result->refused)
		backlog_due(backlog, backlog_now(backlog));
}
