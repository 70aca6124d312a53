/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/progress.h"

#include "lib/core/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET_MS 500 /* work that is over by then shows nothing */
#define EVERY_MS 100

struct progress {
	const char *what;
	int64_t begin_ms, next_ms; /* nothing before NEXT_MS */
	bool shown;
};

struct stream {
	struct progress *progress;
	int fd;
	uint64_t done, total;
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
	progress->begin_ms = lens_clock_ms();
	progress->next_ms = progress->begin_ms + QUIET_MS;
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

/* Whether it is time to show it again; WHAT is on the line then. */
static bool line_begin(struct progress *progress)
{
	int64_t now;

	if (progress == NULL)
		return false;
	now = lens_clock_ms();
	if (now < progress->next_ms)
		return false;
	progress->next_ms = now + EVERY_MS;
	progress->shown = true;
	fprintf(stderr, "\r\033[K%s: ", progress->what);
	return true;
}

static void share_put(uint64_t done, uint64_t total)
{
	fprintf(stderr, ", %u %%", (unsigned int)((double)done * 100 / (double)total));
}

void progress_set(struct progress *progress, uint64_t done, uint64_t total)
{
	const uint64_t mega = (uint64_t)1 << 20;

	if (!line_begin(progress))
		return;
	if (done > total && total > 0)
		done = total; /* a file that grows meanwhile */
	fprintf(stderr, "%llu MB", (unsigned long long)(done / mega));
	if (total > 0) {
		fprintf(stderr, " of %llu", (unsigned long long)(total / mega));
		share_put(done, total);
	}
	fflush(stderr);
}

void progress_count(struct progress *progress, uint64_t done, uint64_t total)
{
	if (total == 0 || !line_begin(progress))
		return;
	fprintf(stderr, "%llu of %llu", (unsigned long long)done, (unsigned long long)total);
	share_put(done, total);
	fflush(stderr);
}

static void stream_show(const struct stream *stream)
{
	struct progress *progress = stream->progress;

	if (stream->done > 0) {
		progress_set(progress, stream->done, stream->total);
	} else if (line_begin(progress)) {
		fprintf(stderr, "%lld s", (long long)(lens_clock_ms() - progress->begin_ms) / 1000);
		fflush(stderr);
	}
}

static ssize_t stream_read(void *cookie, char *buffer, size_t size)
{
	struct stream *stream = cookie;
	struct pollfd ready = { .fd = stream->fd, .events = POLLIN };
	ssize_t length;

	while (poll(&ready, 1, EVERY_MS) == 0)
		stream_show(stream);
	do {
		length = read(stream->fd, buffer, size);
	} while (length == -1 && errno == EINTR);
	if (length > 0)
		stream->done += (uint64_t)length;
	stream_show(stream);
	return length;
}

static int stream_close(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *progress_stream(struct progress *progress, int fd, uint64_t total)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	FILE *file = NULL;

	if (stream == NULL)
		return NULL;
	*stream = (struct stream){ .progress = progress, .fd = fd, .total = total };
	file = fopencookie(stream, "r",
			   (cookie_io_functions_t){ .read = stream_read, .close = stream_close });
	if (file == NULL)
		free(stream);
	return file;
}
