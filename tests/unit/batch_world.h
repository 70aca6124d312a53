/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TEST_BATCH_WORLD_H
#define LENS_TEST_BATCH_WORLD_H

/* A backlog whose requests are under way until the test says what came of them. For one
 * test program; the includes are its own. */

#define BATCH     4294967291U
#define SPANS_MAX 4096

struct world {
	struct scratch *scratch;
	struct lens_backlog *backlog;
	struct lens_backlog_result result;
	unsigned int requests;
	size_t count, groups, bytes;  /* of the request under way */
	char (*ids)[17];              /* of its spans, in order */
	char (*accepted)[17];         /* of all that were accepted */
	size_t accepted_count, asked; /* asked: questions */
	bool slow;                    /* slurmctld does not answer yet */
};

static bool keep(void *context, const struct lens_batch *batch, struct lens_export_result *result)
{
	struct world *world = context;
	struct json_object *groups = sample_groups(batch);

	(void)result;
	assert_int_equal(world->count, 0); /* one at a time */
	world->requests++;
	world->groups = json_object_array_length(groups);
	world->bytes = lens_batch_bytes(batch);
	for (size_t k = 0; k < world->groups; k++) {
		struct json_object *spans = sample_spans(json_object_array_get_idx(groups, k));

		for (size_t i = 0; i < json_object_array_length(spans); i++) {
			assert_true(world->count < LENS_BATCH_SPANS);
			strcpy(world->ids[world->count++],
			       sample_field(json_object_array_get_idx(spans, i), "spanId"));
		}
	}
	assert_int_equal(world->count, lens_batch_span_count(batch));
	json_object_put(groups);
	return true;
}

static void *ask(void *context, uint32_t job, struct lens_error *err)
{
	struct world *world = context;

	(void)job;
	(void)err;
	world->asked++;
	return world;
}

static enum lens_reply reply(void *context, void *question, struct lens_job_answer *out,
			     struct lens_error *err)
{
	struct lens_carrier *record = lens_carrier_create();
	const struct world *world = context;

	(void)question;
	(void)err;
	if (world->slow) {
		lens_carrier_destroy(record);
		return LENS_REPLY_PENDING;
	}
	lens_carrier_parse(record,
			   "found=1,job=12345,attempt=0,state=COMPLETED,completing=1,submit=90,"
			   "eligible=90,start=100,end=110",
			   NULL);
	assert_int_equal(lens_job_answer_read(out, record), 0);
	lens_carrier_destroy(record);
	return LENS_REPLY_ANSWER;
}

static void forget(void *context, void *question)
{
	(void)context;
	(void)question;
}

static int64_t now(void *context)
{
	(void)context;
	return 1000000;
}

static bool stopping(void *context)
{
	(void)context;
	return false;
}

static void silent(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	void *scratch = NULL;
	struct lens_backlog_hooks hooks = {
		.context = world,
		.send = keep,
		.ask = ask,
		.reply = reply,
		.forget = forget,
		.now_ms = now,
		.stopping = stopping,
		.log = silent,
	};

	if (world == NULL || scratch_setup(&scratch) != 0)
		return -1;
	world->scratch = scratch;
	world->ids = calloc(LENS_BATCH_SPANS, sizeof(*world->ids));
	world->accepted = calloc(SPANS_MAX, sizeof(*world->accepted));
	world->backlog = lens_backlog_create(world->scratch->fd, &sample_site, &hooks);
	*state = world;
	return world->backlog == NULL || world->ids == NULL || world->accepted == NULL ? -1 : 0;
}

static int teardown(void **state)
{
	struct world *world = *state;
	void *scratch = world->scratch;

	lens_backlog_destroy(world->backlog);
	free(world->ids);
	free(world->accepted);
	free(world);
	return scratch_teardown(&scratch);
}

static void run(struct world *world)
{
	struct lens_error err = LENS_ERROR_INIT;

	assert_int_equal(lens_backlog_run(world->backlog, true, &world->result, &err), 0);
}

static void answer(struct world *world, enum lens_verdict verdict)
{
	struct lens_export_result result = { .verdict = verdict, .retry_after_ms = 9000 };

	assert_true(world->result.pending);
	if (verdict == LENS_VERDICT_DONE) {
		assert_true(world->accepted_count + world->count <= SPANS_MAX);
		memcpy(world->accepted + world->accepted_count, world->ids,
		       world->count * sizeof(*world->ids));
		world->accepted_count += world->count;
	}
	world->count = 0;
	lens_backlog_answer(world->backlog, &result, true, &world->result);
}

/* Until nothing is left; runs follow where they are asked for. */
static void drain(struct world *world)
{
	for (int round = 0; round < 1000; round++) {
		while (world->result.pending)
			answer(world, LENS_VERDICT_DONE);
		if (world->result.due_ms == -1 || world->result.due_ms > now(NULL))
			return;
		run(world);
	}
	fail_msg("it never comes to an end");
}

static int id_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void assert_each_once(struct world *world, size_t count)
{
	assert_int_equal(world->accepted_count, count);
	qsort(world->accepted, count, sizeof(*world->accepted), id_order);
	for (size_t i = 1; i < count; i++)
		assert_string_not_equal(world->accepted[i - 1], world->accepted[i]);
}

static const char *name_of(struct lens_state_name name)
{
	static char texts[4][LENS_STATE_NAME];
	static unsigned int next;
	char *text = texts[next++ % 4];

	name.node = lens_name_number("n1");
	lens_state_name_format(text, &name);
	return text;
}

#define JOURNAL(j, s)                     \
	name_of((struct lens_state_name){ \
		.kind = LENS_STATE_JOURNAL, .job = (j), .step = (s), .pid = 42 })
#define NOTE  name_of((struct lens_state_name){ .kind = LENS_STATE_NOTE, .job = 12345 })
#define ENDED name_of((struct lens_state_name){ .kind = LENS_STATE_ENDED, .job = 12345 })

/* The journal of a batch script: one span. */
static void journal_batch(struct world *world, uint32_t job, const char *resource)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_text_addf(&text,
		       "v=1,t=100700000000,m=500,e=step_open,job=%u,leader=%u,attempt=0,"
		       "cluster=mini,node=n1,step=4294967291,kind=batch,resource=%s\n"
		       "v=1,t=110700000000,m=10000000500,e=step_end\n",
		       job, job, resource);
	scratch_write(world->scratch, JOURNAL(job, BATCH), text.data);
	lens_text_clear(&text);
}

/* The journal of a step on another node: a span for each of COUNT tasks. */
static void journal_tasks(struct world *world, uint32_t step, int count)
{
	struct lens_text text = LENS_TEXT_INIT;

	for (int rank = -1; rank < count; rank++) {
		if (rank == -1)
			lens_text_addf(&text,
				       "v=1,t=1,m=1,e=step_open,job=12345,leader=12345,attempt=0,"
				       "cluster=mini,node=n1,step=%u,kind=step\n",
				       step);
		else
			lens_text_addf(&text,
				       "v=1,t=2,m=2,e=task_open,rank=%d,local=%d,nodeid=0,pid=%d,"
				       "export=1\n",
				       rank, rank, rank + 10);
	}
	lens_text_adds(&text, "v=1,t=3,m=3,e=step_end\n");
	scratch_write(world->scratch, JOURNAL(12345, step), text.data);
	lens_text_clear(&text);
}

#endif
