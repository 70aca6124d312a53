/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_UNIT_JOB_WORLD_H
#define LENS_TESTS_UNIT_JOB_WORLD_H

#include "lib/core/hash.h"
#include "lib/core/record.h"
#include "lib/core/statedir.h"
#include "lib/core/step_id.h"
#include "lib/job/backlog.h"

#include "tests/unit/job_sample.h"
#include "tests/unit/scratch.h"

#include <time.h>

/* A receiver, a slurmctld and a clock, as the test sets them. */
struct world {
	struct scratch *scratch;
	struct lens_backlog *backlog;
	struct lens_backlog_result result;
	int64_t now_ms;
	enum lens_verdict verdict; /* of the receiver */
	size_t split_above;        /* a larger batch is too large; 0 none is */
	unsigned int requests;
	char spans[32768];        /* the names that arrived, in order, `a,b,` */
	struct json_object *last; /* what arrived last */
	enum lens_reply reply;
	const char *answer; /* slurmctld's, a record's keys */
	unsigned int asked, under_way;
	char log[4096];
};

static inline void names_add(struct world *world)
{
	for (size_t i = 0; i < json_object_array_length(world->last); i++) {
		struct json_object *spans = sample_spans(json_object_array_get_idx(world->last, i));

		for (size_t k = 0; k < json_object_array_length(spans); k++) {
			strcat(world->spans,
			       sample_field(json_object_array_get_idx(spans, k), "name"));
			strcat(world->spans, ",");
		}
	}
}

static inline bool fake_send(void *context, const struct lens_batch *batch,
			     struct lens_export_result *result)
{
	struct world *world = context;

	world->requests++;
	*result = (struct lens_export_result){ .verdict = world->verdict,
					       .retry_after_ms = 7000,
					       .message = "says the test" };
	assert_true(lens_batch_span_count(batch) > 0);
	assert_true(lens_batch_span_count(batch) <= LENS_BATCH_SPANS);
	if (world->split_above != 0 && lens_batch_span_count(batch) > world->split_above)
		result->verdict = LENS_VERDICT_SPLIT;
	if (result->verdict != LENS_VERDICT_DONE)
		return false;
	result->message[0] = '\0';
	json_object_put(world->last);
	world->last = sample_groups(batch);
	names_add(world);
	return false;
}

static inline void *fake_ask(void *context, uint32_t job, struct lens_error *err)
{
	struct world *world = context;

	(void)err;
	assert_int_equal(job, 12345);
	world->asked++;
	world->under_way++;
	return world;
}

static inline enum lens_reply fake_reply(void *context, void *question, struct lens_job_answer *out,
					 struct lens_error *err)
{
	struct world *world = context;
	struct lens_carrier *record = lens_carrier_create();

	assert_ptr_equal(question, world);
	lens_carrier_parse(record, world->answer, NULL);
	if (world->reply == LENS_REPLY_ANSWER)
		assert_int_equal(lens_job_answer_read(out, record), 0);
	if (world->reply == LENS_REPLY_NONE)
		lens_error_set(err, "no answer in this test");
	lens_carrier_destroy(record);
	return world->reply;
}

static inline void fake_forget(void *context, void *question)
{
	struct world *world = context;

	assert_ptr_equal(question, world);
	world->under_way--;
}

static inline int64_t fake_now(void *context)
{
	return ((struct world *)context)->now_ms;
}

static inline bool fake_stopping(void *context)
{
	(void)context;
	return false;
}

static inline void fake_log(void *context, const char *text)
{
	struct world *world = context;

	strncat(world->log, text, sizeof(world->log) - strlen(world->log) - 2);
	strcat(world->log, "\n");
}

/* So long that what is written afterwards has a later time: files are stamped in steps. */
static inline void stamp_passes(void)
{
	const struct timespec step = { .tv_nsec = 20000000 };

	nanosleep(&step, NULL);
}

static inline void backlog_begin(struct world *world)
{
	struct lens_backlog_hooks hooks = {
		.context = world,
		.send = fake_send,
		.ask = fake_ask,
		.reply = fake_reply,
		.forget = fake_forget,
		.now_ms = fake_now,
		.stopping = fake_stopping,
		.log = fake_log,
	};

	world->backlog = lens_backlog_create(world->scratch->fd, &sample_site, &hooks);
	assert_non_null(world->backlog);
}

static inline int world_setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	void *scratch = NULL;

	if (world == NULL || scratch_setup(&scratch) != 0)
		return -1;
	world->scratch = scratch;
	world->now_ms = 1000000;
	world->reply = LENS_REPLY_ANSWER;
	world->answer = "found=1,job=12345,attempt=0,state=RUNNING,submit=90,eligible=90,start=100";
	backlog_begin(world);
	*state = world;
	return 0;
}

static inline int world_teardown(void **state)
{
	struct world *world = *state;
	void *scratch = world->scratch;
	int failed;

	lens_backlog_destroy(world->backlog);
	failed = world->under_way != 0;
	json_object_put(world->last);
	free(world);
	return scratch_teardown(&scratch) != 0 || failed;
}

static inline void run(struct world *world)
{
	struct lens_error err = LENS_ERROR_INIT;

	assert_int_equal(lens_backlog_run(world->backlog, true, &world->result, &err), 0);
}

/* Two runs: the first one asks, the second has the answer. */
static inline void run_twice(struct world *world)
{
	run(world);
	run(world);
}

static inline const char *name_of(struct lens_state_name name)
{
	static char texts[16][LENS_STATE_NAME];
	static unsigned int next;
	char *text = texts[next++ % 16];

	name.job = 12345;
	name.node = lens_name_number("n1");
	lens_state_name_format(text, &name);
	return text;
}

#define BATCH    LENS_STEP_BATCH
#define NOTE     name_of((struct lens_state_name){ .kind = LENS_STATE_NOTE })
#define ENDED(a) name_of((struct lens_state_name){ .kind = LENS_STATE_ENDED, .attempt = (a) })
#define JOURNAL(s) \
	name_of((struct lens_state_name){ .kind = LENS_STATE_JOURNAL, .step = (s), .pid = 42 })

#define NOTE_LINE(more)                                                                            \
	"v=1,t=100500000000,m=1,e=note,job=12345,leader=12345,attempt=0,cluster=mini,node=n1" more \
	"\n"
#define EPILOG_LINE(more) "v=1,t=110900000000,m=9,e=epilog,attempt=0,nodelist=n1" more "\n"
#define BATCH_LINES                                                                           \
	"v=1,t=100700000000,m=500,e=step_open,job=12345,leader=12345,attempt=0,cluster=mini," \
	"node=n1,step=4294967291,kind=batch,resource=team%3Da\n"                              \
	"v=1,t=100700000100,m=600,e=task_open,rank=0,local=0,nodeid=0,pid=7,export=1\n"
#define BATCH_END                                                                     \
	"v=1,t=110700000000,m=10000000500,e=task_end,rank=0,local=0,pid=7,status=0\n" \
	"v=1,t=110700000000,m=10000000500,e=step_end\n"

#define COMPLETED                                                   \
	"found=1,job=12345,attempt=0,state=COMPLETED,completing=1," \
	"submit=90,eligible=90,start=100,end=110"

#define world_test(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

#endif
