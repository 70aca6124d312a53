/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SITE_SCRIPT_H
#define LENS_SITE_SCRIPT_H

#include "lib/core/error.h"

#include <stddef.h>
#include <stdint.h>

/* A word of an sbatch script's directives. */
struct lens_script_word {
	char *text; /* quotes and escapes taken away */
	unsigned int line;
};

struct lens_script {
	struct lens_script_word *words; /* of all lines: a value may stand on the next one */
	size_t count;
	/* A directive with lens's options below the first command, where sbatch no longer looks;
	 * 0: none. */
	unsigned int late_line;
};

/* From this Slurm on `\` keeps a blank within a word; before, the word ends there. Measured on
 * 24.11 and 22.05; the releases between were not asked. */
#define LENS_SCRIPT_BLANKS_SINCE 0x180b00

/*
 * Reads the directives of TEXT, an sbatch script, as sbatch of SLURM (0x160508 is 22.05.8) does,
 * measured on 22.05 and 24.11: lines that begin with `#SBATCH`, or `#SLURM`, until the first line
 * that is neither empty nor a comment; words between blanks; `'` and `"` quote; `\` escapes,
 * within quotes too; a `#` outside of quotes ends the line wherever it stands, as does an empty
 * word. 0, or -1 with ERR (without the name of the file: the line and what is wrong). The caller
 * clears OUT either way.
 */
int lens_script_read(struct lens_script *out, const char *text, uint32_t slurm,
		     struct lens_error *err);
void lens_script_clear(struct lens_script *script);

#endif
