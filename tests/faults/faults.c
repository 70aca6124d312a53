/* SPDX-License-Identifier: Apache-2.0 */
/* Stands before libc: makes calls fail as plan.h says. */
#include "tests/faults/faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct fault_plan *plan;
static const char *hit_path;
static bool armed;

struct fault_plan *faults_plan(void)
{
	return plan;
}

void faults_arm(bool on)
{
	armed = on;
}

bool faults_armed(void)
{
	return armed;
}

/* Says it in the file that the test reads; past the calls below. */
static void tell_hit(enum fault_kind kind)
{
	static const char *const names[] = FAULT_NAMES;
	long fd;

	if (hit_path == NULL)
		return;
	fd = syscall(SYS_openat, AT_FDCWD, hit_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
		     0666);
	if (fd < 0)
		return;
	syscall(SYS_write, fd, names[kind], strlen(names[kind]));
	syscall(SYS_write, fd, "\n", 1);
	syscall(SYS_close, fd);
}

bool faults_hit(enum fault_kind kind)
{
	uint32_t number;

	if (!armed || plan == NULL || plan->at == 0 || plan->kind != kind)
		return false;
	number = __atomic_add_fetch(&plan->seen, 1, __ATOMIC_SEQ_CST);
	if (number != plan->at && !(plan->onwards && number > plan->at))
		return false;
	__atomic_add_fetch(&plan->hits, 1, __ATOMIC_SEQ_CST);
	tell_hit(kind);
	return true;
}

void *faults_next(const char *name)
{
	bool before = armed;
	void *found;

	armed = false; /* dlsym may allocate */
	found = dlsym(RTLD_NEXT, name);
	armed = before;
	if (found == NULL)
		abort();
	return found;
}

void faults_line(const void *bytes, size_t length)
{
	size_t at;

	if (!armed || plan == NULL)
		return;
	at = __atomic_fetch_add(&plan->lines_length, length + 1, __ATOMIC_SEQ_CST);
	if (at + length + 1 > FAULT_LINES)
		abort();
	memcpy(plan->lines + at, bytes, length);
	plan->lines[at + length] = '\0';
}

/* LENS_FAULTS=KIND:NUMBER[+] */
static void plan_read(const char *text)
{
	static const char *const names[] = FAULT_NAMES;
	const char *colon = strchr(text, ':');
	char *end;

	for (size_t i = 0; colon != NULL && i < FAULT_KINDS; i++) {
		if (strlen(names[i]) != (size_t)(colon - text) ||
		    strncmp(names[i], text, (size_t)(colon - text)) != 0)
			continue;
		plan->kind = (enum fault_kind)i;
		plan->at = (uint32_t)strtoul(colon + 1, &end, 10);
		plan->onwards = *end == '+';
		armed = true;
		return;
	}
	/* a test that believes it breaks something would pass */
	abort();
}

static void __attribute__((constructor)) begin(void)
{
	const char *text = getenv("LENS_FAULTS");

	plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (plan == MAP_FAILED)
		abort();
	hit_path = getenv("LENS_FAULTS_HIT");
	if (text != NULL)
		plan_read(text);
}
