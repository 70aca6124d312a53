/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/arena.h"

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 16384

struct block {
	struct block *next;
	size_t used;
	size_t capacity;
	alignas(max_align_t) unsigned char bytes[];
};

struct lens_arena {
	struct block *blocks; /* the newest first; only it is filled further */
	size_t bytes;
	bool failed;
};

struct lens_arena *lens_arena_create(void)
{
	return calloc(1, sizeof(struct lens_arena));
}

void lens_arena_destroy(struct lens_arena *arena)
{
	int saved = errno;
	struct block *block;

	if (!arena)
		return;
	while ((block = arena->blocks)) {
		arena->blocks = block->next;
		free(block);
	}
	free(arena);
	errno = saved;
}

bool lens_arena_failed(const struct lens_arena *arena)
{
	return arena->failed;
}

size_t lens_arena_bytes(const struct lens_arena *arena)
{
	return arena->bytes;
}

static struct block *block_add(struct lens_arena *arena, size_t bytes)
{
	size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
	struct block *block = NULL;

	if (capacity <= SIZE_MAX - sizeof(*block))
		block = calloc(1, sizeof(*block) + capacity);
	if (!block) {
		arena->failed = true;
		return NULL;
	}
	block->capacity = capacity;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *lens_arena_alloc(struct lens_arena *arena, size_t count, size_t size)
{
	const size_t align = alignof(max_align_t);
	struct block *block = arena->blocks;
	size_t bytes;
	void *memory;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - align) {
		arena->failed = true;
		return NULL;
	}
	bytes = bytes ? (bytes + align - 1) / align * align : align;
	if (!block || block->capacity - block->used < bytes)
		block = block_add(arena, bytes);
	if (!block)
		return NULL;
	memory = block->bytes + block->used;
	block->used += bytes;
	arena->bytes += bytes;
	return memory;
}

char *lens_arena_copy(struct lens_arena *arena, const char *bytes, size_t length)
{
	char *copy;

	if (length == SIZE_MAX) {
		arena->failed = true;
		return NULL;
	}
	copy = lens_arena_alloc(arena, length + 1, 1);
	if (copy && length)
		memcpy(copy, bytes, length);
	return copy;
}
