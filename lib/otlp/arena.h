/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_ARENA_H
#define LENS_OTLP_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Memory that is freed all at once. When it runs out, the arena stays failed, so that a
 * builder of many small pieces checks once, at the end.
 */
struct lens_arena;

struct lens_arena *lens_arena_create(void); /* NULL: no memory */
void lens_arena_destroy(struct lens_arena *arena);
bool lens_arena_failed(const struct lens_arena *arena);
size_t lens_arena_bytes(const struct lens_arena *arena); /* handed out so far */

/* COUNT zeroed objects of SIZE bytes, aligned for any type; owned by the arena. NULL when
 * memory ran out. COUNT 0 is one byte. */
void *lens_arena_alloc(struct lens_arena *arena, size_t count, size_t size);

/* A copy of BYTES with a NUL after it, owned by the arena; NULL when memory ran out. */
char *lens_arena_copy(struct lens_arena *arena, const char *bytes, size_t length);

#endif
