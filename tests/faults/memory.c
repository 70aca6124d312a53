/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out, and who keeps some. */
#include "tests/faults/faults.h"

#include <errno.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* glibc's own, under the names that it keeps for those who stand before it. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

#define EXPORTED __attribute__((visibility("default")))

/* Blocks that were allocated while armed: an open hash table, of one process. */
#define SLOTS (1u << 16)
#define GONE  ((void *)1)
static void *slots[SLOTS];
static size_t held;

static size_t slot_of(const void *block)
{
	return (size_t)(((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

static void hold(void *block)
{
	size_t at = slot_of(block);

	if (block == NULL || !faults_armed())
		return;
	if (held == SLOTS / 2)
		abort();
	while (slots[at] != NULL && slots[at] != GONE)
		at = (at + 1) % SLOTS;
	slots[at] = block;
	held++;
}

static void release(const void *block)
{
	size_t at = slot_of(block);

	for (size_t i = 0; block != NULL && held > 0 && slots[at] != NULL && i < SLOTS; i++) {
		if (slots[at] == block) {
			slots[at] = GONE;
			held--;
			return;
		}
		at = (at + 1) % SLOTS;
	}
}

size_t faults_left(void)
{
	return held;
}

EXPORTED void *malloc(size_t size)
{
	void *block;

	if (faults_hit(FAULT_MEMORY)) {
		errno = ENOMEM;
		return NULL;
	}
	block = __libc_malloc(size);
	hold(block);
	return block;
}

EXPORTED void *calloc(size_t count, size_t size)
{
	void *block;

	if (faults_hit(FAULT_MEMORY)) {
		errno = ENOMEM;
		return NULL;
	}
	block = __libc_calloc(count, size);
	hold(block);
	return block;
}

EXPORTED void *realloc(void *old, size_t size)
{
	void *block;

	if (faults_hit(FAULT_MEMORY)) {
		errno = ENOMEM;
		return NULL;
	}
	release(old);
	block = __libc_realloc(old, size);
	hold(block);
	return block;
}

EXPORTED void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

EXPORTED void free(void *block)
{
	int saved = errno;

	release(block);
	__libc_free(block);
	errno = saved;
}

/* The environment belongs to libc: what it allocates for it is nobody's leak. */
EXPORTED int setenv(const char *name, const char *value, int overwrite)
{
	static int (*next)(const char *name, const char *value, int overwrite);
	bool before = faults_armed();
	int rc;

	if (faults_hit(FAULT_MEMORY)) {
		errno = ENOMEM;
		return -1;
	}
	if (next == NULL)
		*(void **)&next = faults_next("setenv");
	faults_arm(false);
	rc = next(name, value, overwrite);
	faults_arm(before);
	return rc;
}

/* The loader keeps with an object what it finds out about it. */
EXPORTED void *dlopen(const char *path, int flags)
{
	static void *(*next)(const char *path, int flags);
	bool before = faults_armed();
	void *handle;

	if (faults_hit(FAULT_MEMORY))
		return NULL;
	if (next == NULL)
		*(void **)&next = faults_next("dlopen");
	faults_arm(false);
	handle = next(path, flags);
	faults_arm(before);
	return handle;
}
