/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/extern.h"

#include "lib/core/note.h"
#include "lib/core/statedir.h"
#include "spank/context.h"
#include "spank/facts.h"
#include "spank/log.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How often, and how long each time, a lent user's id is waited for. */
#define ROOT_TRIES 100
#define ROOT_NS    2000000

struct lens_extern {
	int directory;
	uint32_t job;
	uint32_t nodes;
	bool first; /* this node is the first of the job's, of the component's in a het job */
	char *node;
};

static void destroy(struct lens_extern *ending)
{
	if (!ending)
		return;
	if (ending->directory >= 0)
		close(ending->directory);
	free(ending->node);
	free(ending);
}

/* Whether a prolog has written the attempt's note: then an epilog ends it. */
static bool is_noted(const struct lens_extern *ending)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_note note = { 0 };
	bool noted;

	noted = lens_note_read(ending->directory, ending->job, ending->node, &note, &err) == 0 &&
		!note.journal;
	lens_note_clear(&note);
	return noted;
}

void lens_extern_open(spank_t sp, int argc, char **argv)
{
	const struct lens_config *config = lens_context_load(argc, argv, NULL, NULL);
	struct lens_extern *ending = calloc(1, sizeof(*ending));
	const char *node = getenv("SLURMD_NODENAME");
	uint32_t nodeid = 1;

	if (ending)
		ending->directory = -1;
	if (!config || !ending || !node)
		goto fail;
	/* As in the prolog: a broken one is said by slurmd at its start and by the steps that are
	 * lens's, not for every job. */
	ending->directory = lens_statedir_open(config->state_dir, false, NULL);
	ending->node = strdup(node);
	ending->nodes = lens_facts_nodes(sp);
	if (ending->directory < 0 || !ending->node || lens_facts_job(sp, &ending->job) ||
	    is_noted(ending))
		goto fail;
	ending->first = lens_facts_nodeid(sp, &nodeid) == 0 && nodeid == 0;
	lens_context.ending = ending;
	return;
fail:
	destroy(ending);
	lens_context_clear();
}

static void wait_for_root(void)
{
	const struct timespec pause = { .tv_nsec = ROOT_NS };

	for (int i = 0; i < ROOT_TRIES && geteuid() != 0; i++)
		nanosleep(&pause, NULL);
}

void lens_extern_close(void)
{
	struct lens_extern *ending = lens_context.ending;
	struct lens_carrier *record;

	if (!ending)
		return;
	wait_for_root();
	record = lens_record_create("extern");
	if (record && lens_carrier_set(record, "first", ending->first ? "1" : "0") == 0 &&
	    (ending->nodes == 0 || lens_carrier_set_number(record, "nodes", ending->nodes) == 0) &&
	    lens_note_tell(ending->directory, ending->job, ending->node, record))
		lens_log_debug("job %u: its end was noted by the extern step", ending->job);
	lens_carrier_destroy(record);
	destroy(ending);
	lens_context.ending = NULL;
}
