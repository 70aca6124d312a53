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
	free(backlog->live);
	free(backlog);
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

static void visit_kind(struct lens_backlog *backlog, const struct backlog_names *names,
		       enum lens_state_kind kind,
		       void (*visit)(struct lens_backlog *, const struct lens_state_name *))
{
	for (size_t i = 0; i < names->count; i++) {
		if (names->items[i].kind != kind)
			continue;
		if (backlog->hooks.stopping(backlog->hooks.context))
			return;
		visit(backlog, &names->items[i]);
	}
}

int lens_backlog_run(struct lens_backlog *backlog, bool may_send,
		     struct lens_backlog_result *result, struct lens_error *err)
{
	struct backlog_names names = { 0 };

	memset(result, 0, sizeof(*result));
	result->due_ms = -1;
	result->retry_after_ms = -1;
	backlog->result = result;
	backlog->may_send = may_send;
	backlog->live_count = 0;
	if (backlog_list(backlog->directory, &names, err) == -1)
		return -1;
	/* Journals first: a note asks what is left of them. */
	visit_kind(backlog, &names, LENS_STATE_JOURNAL, backlog_journal_visit);
	visit_kind(backlog, &names, LENS_STATE_NOTE, backlog_note_visit);
	visit_kind(backlog, &names, LENS_STATE_ENDED, backlog_ended_visit);
	if (!backlog->hooks.stopping(backlog->hooks.context))
		backlog_ask_sweep(backlog);
	free(names.items);
	return 0;
}
