/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_ENV_DIFF_H
#define LENS_CORE_ENV_DIFF_H

/* NAME is to be set to VALUE or, when VALUE is NULL, taken out. 0, or -1 to stop. */
typedef int lens_env_change_fn(void *context, const char *name, const char *value);

/*
 * Calls CHANGE for each variable that turns FROM into TO; FROM may be the environment that
 * CHANGE changes. Of a name that is in FROM twice the first counts. Fast when TO is FROM with
 * values replaced in place, names taken out and new names at its end, as a lens_env grown from
 * FROM is. 0, or -1 when CHANGE said so or memory ran out.
 */
int lens_env_diff(char *const *from, char *const *to, lens_env_change_fn *change, void *context);

#endif
