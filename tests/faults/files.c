/* SPDX-License-Identifier: Apache-2.0 */
/* Files, descriptors and names that cannot be had. */
#include "tests/faults/faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* NEXT becomes libc's NAME; then the call fails with CODE where it is to. */
#define BEGIN(next, name, kind, code)                          \
	do {                                                   \
		if ((next) == NULL)                            \
			*(void **)&(next) = faults_next(name); \
		if (faults_hit(kind)) {                        \
			errno = (code);                        \
			return -1;                             \
		}                                              \
	} while (0)

/* A disk that becomes full in the middle of a line stays full. */
static int full_fd = -1;

EXPORTED ssize_t write(int fd, const void *bytes, size_t length)
{
	static ssize_t (*next)(int fd, const void *bytes, size_t length);

	BEGIN(next, "write", FAULT_WRITE, ENOSPC);
	faults_line(bytes, length);
	if (faults_armed() && fd == full_fd) {
		errno = ENOSPC;
		return -1;
	}
	if (length > 1 && faults_hit(FAULT_SHORT)) {
		full_fd = fd;
		length /= 2;
	}
	return next(fd, bytes, length);
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
	static ssize_t (*next)(int fd, const void *bytes, size_t length, off_t at);

	BEGIN(next, "pwrite", FAULT_WRITE, ENOSPC);
	if (length > 1 && faults_hit(FAULT_SHORT))
		length /= 2;
	return next(fd, bytes, length, at);
}

EXPORTED ssize_t writev(int fd, const struct iovec *parts, int count)
{
	static ssize_t (*next)(int fd, const struct iovec *parts, int count);

	BEGIN(next, "writev", FAULT_WRITE, ENOSPC);
	return next(fd, parts, count);
}

EXPORTED int ftruncate(int fd, off_t length)
{
	static int (*next)(int fd, off_t length);

	BEGIN(next, "ftruncate", FAULT_WRITE, EIO);
	return next(fd, length);
}

EXPORTED int close(int fd)
{
	static int (*next)(int fd);

	if (next == NULL)
		*(void **)&next = faults_next("close");
	if (fd == full_fd)
		full_fd = -1;
	return next(fd);
}

EXPORTED ssize_t read(int fd, void *bytes, size_t length)
{
	static ssize_t (*next)(int fd, void *bytes, size_t length);

	BEGIN(next, "read", FAULT_READ, EIO);
	return next(fd, bytes, length);
}

EXPORTED ssize_t pread(int fd, void *bytes, size_t length, off_t at)
{
	static ssize_t (*next)(int fd, void *bytes, size_t length, off_t at);

	BEGIN(next, "pread", FAULT_READ, EIO);
	return next(fd, bytes, length, at);
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(args, unsigned int) : 0;
}

EXPORTED int open(const char *path, int flags, ...)
{
	static int (*next)(const char *path, int flags, ...);
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	BEGIN(next, "open", FAULT_OPEN, EMFILE);
	return next(path, flags, mode);
}

EXPORTED int openat(int directory, const char *path, int flags, ...)
{
	static int (*next)(int directory, const char *path, int flags, ...);
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	BEGIN(next, "openat", FAULT_OPEN, EMFILE);
	return next(directory, path, flags, mode);
}

/* What openat becomes with _FORTIFY_SOURCE where the flags are not known beforehand. */
int __openat_2(int directory, const char *path, int flags);

EXPORTED int __openat_2(int directory, const char *path, int flags)
{
	static int (*next)(int directory, const char *path, int flags);

	BEGIN(next, "__openat_2", FAULT_OPEN, EMFILE);
	return next(directory, path, flags);
}

EXPORTED DIR *opendir(const char *path)
{
	static DIR *(*next)(const char *path);

	if (next == NULL)
		*(void **)&next = faults_next("opendir");
	if (!faults_hit(FAULT_OPEN))
		return next(path);
	errno = EMFILE;
	return NULL;
}

EXPORTED DIR *fdopendir(int fd)
{
	static DIR *(*next)(int fd);

	if (next == NULL)
		*(void **)&next = faults_next("fdopendir");
	if (!faults_hit(FAULT_OPEN))
		return next(fd);
	errno = ENOMEM;
	return NULL;
}

EXPORTED FILE *fopen(const char *path, const char *mode)
{
	static FILE *(*next)(const char *path, const char *mode);

	if (next == NULL)
		*(void **)&next = faults_next("fopen");
	if (!faults_hit(FAULT_OPEN))
		return next(path, mode);
	errno = EMFILE;
	return NULL;
}

EXPORTED int pipe2(int ends[2], int flags)
{
	static int (*next)(int ends[2], int flags);

	BEGIN(next, "pipe2", FAULT_OPEN, EMFILE);
	return next(ends, flags);
}

EXPORTED int inotify_init1(int flags)
{
	static int (*next)(int flags);

	BEGIN(next, "inotify_init1", FAULT_OPEN, EMFILE);
	return next(flags);
}

EXPORTED int signalfd(int fd, const sigset_t *mask, int flags)
{
	static int (*next)(int fd, const sigset_t *mask, int flags);

	BEGIN(next, "signalfd", FAULT_OPEN, EMFILE);
	return next(fd, mask, flags);
}

EXPORTED int socketpair(int domain, int type, int protocol, int ends[2])
{
	static int (*next)(int domain, int type, int protocol, int ends[2]);

	BEGIN(next, "socketpair", FAULT_OPEN, EMFILE);
	return next(domain, type, protocol, ends);
}

EXPORTED int dup2(int from, int to)
{
	static int (*next)(int from, int to);

	BEGIN(next, "dup2", FAULT_OPEN, EMFILE);
	return next(from, to);
}

EXPORTED int dup3(int from, int to, int flags)
{
	static int (*next)(int from, int to, int flags);

	BEGIN(next, "dup3", FAULT_OPEN, EMFILE);
	return next(from, to, flags);
}

/* The third argument is a number or a pointer: one word either way. */
EXPORTED int fcntl(int fd, int command, ...)
{
	static int (*next)(int fd, int command, ...);
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		BEGIN(next, "fcntl", FAULT_OPEN, EMFILE);
	else if (command == F_SETLK || command == F_GETLK || command == F_SETLKW)
		BEGIN(next, "fcntl", FAULT_LOCK, ENOLCK);
	else if (next == NULL)
		*(void **)&next = faults_next("fcntl");
	return next(fd, command, argument);
}

EXPORTED int rename(const char *from, const char *to)
{
	static int (*next)(const char *from, const char *to);

	BEGIN(next, "rename", FAULT_NAME, EIO);
	return next(from, to);
}

EXPORTED int renameat(int old, const char *from, int new, const char *to)
{
	static int (*next)(int old, const char *from, int new, const char *to);

	BEGIN(next, "renameat", FAULT_NAME, EIO);
	return next(old, from, new, to);
}

EXPORTED int renameat2(int old, const char *from, int new, const char *to, unsigned int flags)
{
	static int (*next)(int old, const char *from, int new, const char *to, unsigned int flags);

	BEGIN(next, "renameat2", FAULT_NAME, EIO);
	return next(old, from, new, to, flags);
}

EXPORTED int unlink(const char *path)
{
	static int (*next)(const char *path);

	BEGIN(next, "unlink", FAULT_NAME, EIO);
	return next(path);
}

EXPORTED int unlinkat(int directory, const char *path, int flags)
{
	static int (*next)(int directory, const char *path, int flags);

	BEGIN(next, "unlinkat", FAULT_NAME, EIO);
	return next(directory, path, flags);
}

EXPORTED int mkdir(const char *path, mode_t mode)
{
	static int (*next)(const char *path, mode_t mode);

	BEGIN(next, "mkdir", FAULT_NAME, EIO);
	return next(path, mode);
}

EXPORTED int mkdirat(int directory, const char *path, mode_t mode)
{
	static int (*next)(int directory, const char *path, mode_t mode);

	BEGIN(next, "mkdirat", FAULT_NAME, EIO);
	return next(directory, path, mode);
}

EXPORTED int fsync(int fd)
{
	static int (*next)(int fd);

	BEGIN(next, "fsync", FAULT_SYNC, EIO);
	return next(fd);
}

EXPORTED int fdatasync(int fd)
{
	static int (*next)(int fd);

	BEGIN(next, "fdatasync", FAULT_SYNC, EIO);
	return next(fd);
}

EXPORTED int fstat(int fd, struct stat *status)
{
	static int (*next)(int fd, struct stat *status);

	BEGIN(next, "fstat", FAULT_STAT, EIO);
	return next(fd, status);
}

EXPORTED int fstatat(int directory, const char *path, struct stat *status, int flags)
{
	static int (*next)(int directory, const char *path, struct stat *status, int flags);

	BEGIN(next, "fstatat", FAULT_STAT, EIO);
	return next(directory, path, status, flags);
}

EXPORTED int stat(const char *path, struct stat *status)
{
	static int (*next)(const char *path, struct stat *status);

	BEGIN(next, "stat", FAULT_STAT, EIO);
	return next(path, status);
}

EXPORTED int lstat(const char *path, struct stat *status)
{
	static int (*next)(const char *path, struct stat *status);

	BEGIN(next, "lstat", FAULT_STAT, EIO);
	return next(path, status);
}

EXPORTED int fstatfs(int fd, struct statfs *status)
{
	static int (*next)(int fd, struct statfs *status);

	BEGIN(next, "fstatfs", FAULT_STAT, EIO);
	return next(fd, status);
}
