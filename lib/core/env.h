/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_ENV_H
#define LENS_CORE_ENV_H

/*
 * Environments as exec takes them: `NAME=value` strings, ended by NULL. A NULL
 * array is an empty one.
 */

/* The value of NAME, borrowed from ENV; NULL when it is not set. */
const char *lens_env_get(char *const *env, const char *name);

/* As lens_env_get, but an empty value counts as not set. */
const char *lens_env_get_nonempty(char *const *env, const char *name);

/* An own, growing environment. */
struct lens_env;

/*
 * ENV, to change; a name that is there twice keeps its first value. Its strings are borrowed: what
 * is not set anew has to outlive it. NULL: no memory.
 */
struct lens_env *lens_env_create(char *const *env);
/* A copy, which borrows ENV's own strings too. NULL: no memory. */
struct lens_env *lens_env_copy(const struct lens_env *env);
void lens_env_destroy(struct lens_env *env);

/* As lens_env_get and lens_env_get_nonempty, found by a table. Borrowed until ENV goes. */
const char *lens_env_value(const struct lens_env *env, const char *name);
const char *lens_env_value_nonempty(const struct lens_env *env, const char *name);

/* Sets or, with a NULL VALUE, takes out NAME. 0, or -1 when memory ran out. */
int lens_env_set(struct lens_env *env, const char *name, const char *value);

/* The array, borrowed until the next lens_env_set. */
char *const *lens_env_array(const struct lens_env *env);

#endif
