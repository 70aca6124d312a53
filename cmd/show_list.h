/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_LIST_H
#define LENS_CMD_SHOW_LIST_H

#include "cmd/show_index.h"
#include "cmd/terminal.h"

/* Adds the jobs of INDEX as a table, the traces of no job below. */
void show_list_add(struct lens_text *out, const struct terminal *terminal,
		   const struct show_index *index);

#endif
