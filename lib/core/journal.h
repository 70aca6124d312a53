/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_JOURNAL_H
#define LENS_CORE_JOURNAL_H

#include "lib/core/carrier.h"
#include "lib/core/error.h"
#include "lib/core/statedir.h"

#include <stdbool.h>

/*
 * The journal of one slurmstepd: opened once, before any task is forked; its task
 * children write through the inherited descriptor. An fcntl(F_SETLK) write lock marks
 * the living writer: the kernel drops it with the process, and a forked task does not
 * keep it (measured on 22.05, 24.11 and 26.05). So a process never opens its own
 * journal twice: any close would drop the lock.
 */
struct lens_journal;

/*
 * Creates the file NAME (kind JOURNAL) below DIRECTORY, 0600, O_EXCL (a left-over of an
 * earlier process with our pid is opened and gone on with), locked. NULL with ERR. The
 * descriptor is close-on-exec and above 2.
 */
struct lens_journal *lens_journal_create(int directory, const struct lens_state_name *name,
					 struct lens_error *err);

/* Appends RECORD in one write. 0, or -1 with errno. Safe in a forked task, as any user. */
int lens_journal_append(struct lens_journal *journal, const struct lens_carrier *record);

/* Closes; the file stays for the agent. */
void lens_journal_destroy(struct lens_journal *journal);

/* Whether another process holds the writer's lock of the journal open at FD. */
bool lens_journal_has_writer(int fd);

#endif
