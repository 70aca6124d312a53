/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include "lib/otlp/retry.h"

#include <inttypes.h>
#include <stdlib.h>

#define ASKING_MAX 4 /* questions under way: a backlog shall not be a storm on slurmctld */

/* One attempt's question, from the first wish to ask to the answer. */
struct backlog_question {
	struct backlog_question *next;
	struct lens_state_name note;
	uint32_t attempt;
	bool end;
	bool wanted; /* since the last sweep */
	bool fault;  /* it was answered, which could not be noted */
	void *asked; /* under way */
	unsigned int failures;
	int64_t since_ms, next_ms;
};

static struct backlog_question *question_of(struct lens_backlog *backlog,
					    const struct lens_state_name *note, uint32_t attempt,
					    bool end)
{
	struct backlog_question *question;

	for (question = backlog->questions; question != NULL; question = question->next) {
		if (question->note.job == note->job && question->note.node == note->node &&
		    question->attempt == attempt && question->end == end)
			return question;
	}
	question = calloc(1, sizeof(*question));
	if (question == NULL)
		return NULL;
	question->note = *note;
	question->attempt = attempt;
	question->end = end;
	question->since_ms = backlog_now(backlog);
	question->next = backlog->questions;
	backlog->questions = question;
	return question;
}

static void question_end(struct lens_backlog *backlog, struct backlog_question *question)
{
	if (question->asked != NULL)
		backlog->hooks.forget(backlog->hooks.context, question->asked);
	question->asked = NULL;
}

static void question_remove(struct lens_backlog *backlog, struct backlog_question *question)
{
	struct backlog_question **link = &backlog->questions;

	while (*link != question)
		link = &(*link)->next;
	*link = question->next;
	question_end(backlog, question);
	free(question);
}

static size_t asking_count(const struct lens_backlog *backlog)
{
	size_t count = 0;

	for (const struct backlog_question *q = backlog->questions; q != NULL; q = q->next)
		count += q->asked != NULL;
	return count;
}

static enum backlog_reply no_answer(struct lens_backlog *backlog, struct backlog_question *question,
				    const struct lens_error *err)
{
	int64_t now = backlog_now(backlog);

	question_end(backlog, question);
	/* One line an outage and attempt; the tries in between would only repeat it. */
	if (question->failures == 0)
		backlog_log(backlog, "job %" PRIu32 ": %s; asking again", question->note.job,
			    err->text);
	question->failures++;
	if (question->end && now - question->since_ms >= LENS_SILENCE_MS) {
		backlog_log(backlog,
			    "job %" PRIu32 ": slurmctld has not told its end for %d minutes; what "
			    "has ended here is told as this node knows it",
			    question->note.job, LENS_SILENCE_MS / 60000);
		question_remove(backlog, question);
		return BACKLOG_SILENCE;
	}
	question->next_ms = now + lens_retry_backoff_ms(question->failures, (uint32_t)random());
	backlog->result->unanswered++;
	backlog_due(backlog, question->next_ms);
	return BACKLOG_WAIT;
}

static enum backlog_reply ask_now(struct lens_backlog *backlog, struct backlog_question *question)
{
	struct lens_error err = LENS_ERROR_INIT;

	if (question->next_ms > backlog_now(backlog)) {
		backlog->result->unanswered += !question->fault;
		backlog_due(backlog, question->next_ms);
		return BACKLOG_WAIT;
	}
	if (asking_count(backlog) >= ASKING_MAX) {
		backlog->result->asking++; /* the end of another one brings the next run */
		return BACKLOG_WAIT;
	}
	question->fault = false;
	question->asked = backlog->hooks.ask(backlog->hooks.context, question->note.job, &err);
	if (question->asked == NULL)
		return no_answer(backlog, question, &err);
	backlog->result->asking++;
	return BACKLOG_WAIT;
}

enum backlog_reply backlog_ask(struct lens_backlog *backlog, const struct lens_state_name *note,
			       uint32_t attempt, bool end, struct lens_job_answer *out)
{
	struct backlog_question *question = question_of(backlog, note, attempt, end);
	struct lens_error err = LENS_ERROR_INIT;

	if (question == NULL) {
		backlog->result->unanswered++;
		backlog_due(backlog, backlog_now(backlog) + 1000);
		return BACKLOG_WAIT;
	}
	question->wanted = true;
	if (question->asked == NULL)
		return ask_now(backlog, question);
	switch (backlog->hooks.reply(backlog->hooks.context, question->asked, out, &err)) {
	case LENS_REPLY_ANSWER:
		question_remove(backlog, question);
		return BACKLOG_ANSWER;
	case LENS_REPLY_NONE:
		return no_answer(backlog, question, &err);
	case LENS_REPLY_PENDING:
		break;
	}
	backlog->result->asking++;
	return BACKLOG_WAIT;
}

static void ask_later(struct lens_backlog *backlog, struct backlog_question *question,
		      int64_t delay_ms, bool fault)
{
	int64_t at_ms = backlog_now(backlog) + delay_ms;

	if (question != NULL) {
		question->wanted = true;
		question->fault = fault;
		question->next_ms = at_ms;
	}
	backlog->result->unanswered += !fault;
	backlog_due(backlog, at_ms);
}

void backlog_ask_again(struct lens_backlog *backlog, const struct lens_state_name *note,
		       uint32_t attempt, int64_t delay_ms)
{
	ask_later(backlog, question_of(backlog, note, attempt, true), delay_ms, false);
}

void backlog_ask_fault(struct lens_backlog *backlog, const struct lens_state_name *note,
		       uint32_t attempt, bool end)
{
	ask_later(backlog, question_of(backlog, note, attempt, end), BACKLOG_FAULT_MS, true);
}

void backlog_ask_sweep(struct lens_backlog *backlog)
{
	struct backlog_question *question = backlog->questions;

	while (question != NULL) {
		struct backlog_question *next = question->next;

		if (!question->wanted)
			question_remove(backlog, question);
		else
			question->wanted = false;
		question = next;
	}
}

void backlog_ask_destroy(struct lens_backlog *backlog)
{
	while (backlog->questions != NULL)
		question_remove(backlog, backlog->questions);
}
