/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_WATCH_H
#define LENS_CMD_SHOW_WATCH_H

/* Waits for something to happen in a directory. */
struct show_watch;

enum show_watch_event {
	SHOW_WATCH_CHANGED, /* something may have; also now and then, for network file systems */
	SHOW_WATCH_RESIZED, /* the terminal */
	SHOW_WATCH_END,     /* SIGINT, SIGTERM or SIGHUP; or nobody reads standard output */
};

/* Blocks these signals for as long as it lives. DIRECTORY may be still to come. NULL: no memory
 * or no descriptors. */
struct show_watch *show_watch_create(const char *directory);
void show_watch_destroy(struct show_watch *watch);

/* At most about five times a second CHANGED. */
enum show_watch_event show_watch_wait(struct show_watch *watch);

#endif
