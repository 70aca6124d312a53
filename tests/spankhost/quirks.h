/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_SPANKHOST_QUIRKS_H
#define LENS_TESTS_SPANKHOST_QUIRKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Compares the probe's logs in the directory LOGS with what the table, the file TABLE, has for
 * SCENARIO on RELEASE. Each difference is a line on OUT. Rows about user ids are left
 * out without IDS (the caller was not root). Returns the number of differences; -1
 * when the table or the logs cannot be read. *ROWS (may be NULL): rows that were looked at.
 */
int quirks_compare(const char *table, const char *release, const char *scenario, const char *logs,
		   bool ids, size_t *rows, FILE *out);

#endif
