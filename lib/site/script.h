/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SITE_SCRIPT_H
#define LENS_SITE_SCRIPT_H

#include "lib/core/error.h"

#include <stddef.h>

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

/*
 * Reads the directives of TEXT, an sbatch script, as sbatch does (measured on 22.05): lines
 * that begin with `#SBATCH`, or `#SLURM`, until the first line that is neither empty nor a
 * comment; words between blanks; `'` and `"` quote, `\` escapes all but blanks, within quotes too; a `#`
 * outside of quotes ends the line wherever it stands, as does an empty word. 0, or -1 with ERR
 * (without the name of the file: the line and what is wrong). The caller clears OUT either way.
 */
int lens_script_read(struct lens_script *out, const char *text, struct lens_error *err);
void lens_script_clear(struct lens_script *script);

#endif
