/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_FAULTS_PLAN_H
#define LENS_TESTS_FAULTS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the preloaded faults.so is to make fail: the calls of one kind, of which the one with
 * the number `at` (from 1), or all from it on, does what it does on a bad day. The plan lies
 * in memory that a process shares with those that it forks, so that a call has one number
 * whichever of them makes it.
 *
 * A program is told in its environment: LENS_FAULTS=KIND:NUMBER, or KIND:NUMBER+ for all from there on; every
 * program that it executes counts anew. Each fault adds a line to the file that LENS_FAULTS_HIT
 * names. A test that was started with faults.so (faults_plan() is there) sets the plan itself
 * and says by faults_arm() when it counts.
 */
enum fault_kind {
	FAULT_MEMORY, /* malloc, calloc, realloc, reallocarray, setenv, dlopen: ENOMEM */
	FAULT_WRITE,  /* write, pwrite, writev, ftruncate: ENOSPC */
	FAULT_SHORT,  /* write: half of it, then ENOSPC for the rest of that file's life */
	FAULT_OPEN,   /* open, openat, fopen, opendir, pipe2, socketpair, dup2, ...: EMFILE */
	FAULT_READ,   /* read, pread: EIO */
	FAULT_FORK,   /* fork, setsid, execve: EAGAIN */
	FAULT_CLOCK,  /* clock_gettime: EINVAL, nothing filled in */
	FAULT_NAME,   /* rename, unlink, mkdir and their *at: EIO */
	FAULT_SYNC,   /* fsync, fdatasync: EIO */
	FAULT_STAT,   /* stat, fstat, fstatat, lstat, fstatfs: EIO */
	FAULT_LOCK,   /* fcntl with a lock: ENOLCK */
	FAULT_KINDS,
};

#define FAULT_NAMES                                                                          \
	{                                                                                    \
		"memory", "write", "short", "open", "read", "fork", "clock", "name", "sync", \
			"stat", "lock",                                                      \
	}

#define FAULT_LINES (4u * 1024 * 1024)

struct fault_plan {
	enum fault_kind kind;
	uint32_t at; /* 0: none */
	bool onwards;
	uint32_t seen; /* calls of the kind, while armed */
	uint32_t hits; /* of those, how many were made to fail */
	/* What was to be written, each write's bytes and a NUL: what a file may hold. */
	size_t lines_length;
	char lines[FAULT_LINES];
};

/* For dlsym: they are there only where faults.so is preloaded. */
#define FAULTS_PLAN "faults_plan"
#define FAULTS_ARM  "faults_arm"
#define FAULTS_LEFT "faults_left"
typedef struct fault_plan *faults_plan_fn(void);
typedef void faults_arm_fn(bool armed); /* counts from here on, in this process */
typedef size_t faults_left_fn(void);    /* blocks allocated while armed, not freed yet */

#endif
