/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded before the run time of AddressSanitizer: no fork while another thread is inside its
 * allocator. slurmstepd has threads, forks its tasks and allocates in them before they execute; libc's
 * malloc is made for that, the run time's (gcc 12) leaves its locks to the child as they were.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* The run time's own, under the names that it has for those who stand before it. */
extern void *__interceptor_malloc(size_t size);
extern void *__interceptor_calloc(size_t count, size_t size);
extern void *__interceptor_realloc(void *block, size_t size);
extern void *__interceptor_reallocarray(void *block, size_t count, size_t size);
extern void __interceptor_free(void *block);
extern char *__interceptor_strdup(const char *string);
extern char *__interceptor_strndup(const char *string, size_t length);
extern int __interceptor_posix_memalign(void **block, size_t alignment, size_t size);

static int inside;                                                    /* threads in the allocator */
static int forking;                                                   /* a thread is to fork */
static __thread bool self __attribute__((tls_model("initial-exec"))); /* it is this one */

static void enter(void)
{
	for (;;) {
		while (!self && __atomic_load_n(&forking, __ATOMIC_SEQ_CST))
			sched_yield();
		__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
		if (self || !__atomic_load_n(&forking, __ATOMIC_SEQ_CST))
			return;
		__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	}
}

static void leave(void)
{
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

EXPORTED pid_t fork(void)
{
	static pid_t (*next)(void);
	int none = 0;
	pid_t pid;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "fork");
	while (!__atomic_compare_exchange_n(&forking, &none, 1, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST)) {
		none = 0;
		sched_yield();
	}
	self = true;
	while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) > 0)
		sched_yield();
	pid = next();
	self = false;
	__atomic_store_n(&forking, 0, __ATOMIC_SEQ_CST);
	return pid;
}

/* CALL of the allocator's, whose RESULT is returned. */
#define INSIDE(type, call)     \
	do {                   \
		type result;   \
		enter();       \
		result = call; \
		leave();       \
		return result; \
	} while (0)

EXPORTED void *malloc(size_t size)
{
	INSIDE(void *, __interceptor_malloc(size));
}

EXPORTED void *calloc(size_t count, size_t size)
{
	INSIDE(void *, __interceptor_calloc(count, size));
}

EXPORTED void *realloc(void *block, size_t size)
{
	INSIDE(void *, __interceptor_realloc(block, size));
}

EXPORTED void *reallocarray(void *block, size_t count, size_t size)
{
	INSIDE(void *, __interceptor_reallocarray(block, count, size));
}

EXPORTED char *strdup(const char *string)
{
	INSIDE(char *, __interceptor_strdup(string));
}

EXPORTED char *strndup(const char *string, size_t length)
{
	INSIDE(char *, __interceptor_strndup(string, length));
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size)
{
	INSIDE(int, __interceptor_posix_memalign(block, alignment, size));
}

EXPORTED void free(void *block)
{
	enter();
	__interceptor_free(block);
	leave();
}
