/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_CLEANING_H
#define LENS_CORE_CLEANING_H

#include "lib/core/mark.h"

/*
 * What lens_mark_clean did to one environment, to do the same to others: the tasks of a step have
 * the mark and lens's variables as the step had them, and need not read them anew each.
 */
struct lens_cleaning;

/* Of ENV, from which lens_mark_clean made CLEAN and MARK (NULL: it had none). Nothing is borrowed;
 * NULL when memory ran out. */
struct lens_cleaning *lens_cleaning_create(char *const *env, const struct lens_env *clean,
					   const struct lens_mark *mark);
void lens_cleaning_destroy(struct lens_cleaning *cleaning);

/*
 * ENV as lens_mark_clean would make it. NULL where a variable on which that rests has not the value
 * that it had (or CLEANING is NULL, or memory ran out): then lens_mark_clean has to. The caller
 * destroys.
 */
struct lens_env *lens_cleaning_repeat(const struct lens_cleaning *cleaning, char *const *env);

#endif
