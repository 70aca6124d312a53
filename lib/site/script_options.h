/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SITE_SCRIPT_OPTIONS_H
#define LENS_SITE_SCRIPT_OPTIONS_H

#include "lib/core/options.h"
#include "lib/site/script.h"

#include <stdint.h>

/* What an sbatch script asks for, as far as it concerns lens. */
struct lens_script_options {
	struct lens_options lens;
	bool given; /* an option of lens is there */
	/* Of the job, the components of a het job together; 0: they leave it to Slurm. */
	uint32_t tasks;
	uint32_t nodes;
	unsigned int components; /* 1: no het job */
};

/* Called for each thing that is wrong, with the LINE of the script. */
typedef void lens_script_problem_fn(void *context, unsigned int line, const char *text);

/*
 * Reads the options as getopt_long(3) in sbatch does: `--name=value` and `--name value`, names
 * cut short where they are unambiguous among lens's own; an option without a value of its own
 * takes the next word whatever it is. Options of others are passed over. The caller clears
 * OUT. 0, or -1 when there was a problem.
 */
int lens_script_options_read(struct lens_script_options *out, const struct lens_script *script,
			     lens_script_problem_fn *problem, void *context);
void lens_script_options_clear(struct lens_script_options *options);

#endif
