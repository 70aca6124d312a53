/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/progress.h"

#include "lib/core/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET_MS 500 /* work that is over by then shows nothing */
#define EVERY_MS 100

struct progress {
	const char *what;
	int64_t next_ms; /* nothing before */
	bool shown;
};

struct progress *progress_create(const char *what)
{
	const char *terminal = getenv("TERM");
	struct progress *progress;

	if (isatty(STDERR_FILENO) == 0 || terminal == NULL || strcmp(terminal, "dumb") == 0)
		return NULL;
	progress = calloc(1, sizeof(*progress));
	if (progress == NULL)
		return NULL;
	progress->what = what;
	progress->next_ms = lens_clock_ms() + QUIET_MS;
	return progress;
}

void progress_clear(struct progress *progress)
{
	if (progress == NULL || !progress->shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->shown = false;
}

void progress_destroy(struct progress *progress)
{
	int saved = errno;

	progress_clear(progress);
	free(progress);
	errno = saved;
}

void progress_set(struct progress *progress, uint64_t done, uint64_t total)
{
	const uint64_t mega = (uint64_t)1 << 20;
	int64_t now;

	if (progress == NULL)
		return;
	now = lens_clock_ms();
	if (now < progress->next_ms)
		return;
	progress->next_ms = now + EVERY_MS;
	progress->shown = true;
	if (done > total && total > 0)
		done = total; /* a file that grows meanwhile */
	fprintf(stderr, "\r\033[K%s: %llu MB", progress->what, (unsigned long long)(done / mega));
	if (total > 0)
		fprintf(stderr, " of %llu, %u %%", (unsigned long long)(total / mega),
			(unsigned int)((double)done * 100 / (double)total));
	fflush(stderr);
}
