/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/path.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As many as the kernel follows (path_resolution(7)). */
#define LINKS_MAX 40

/*
 * A walk along a path, one component after the other. realpath(3) would not do: whoever
 * may replace a symbolic link on the way decides where the path leads, so the directory
 * that holds a link is checked like any other.
 */
struct walk {
	char seen[PATH_MAX];  /* checked so far, without symbolic links; "" is the root */
	char ahead[PATH_MAX]; /* what is still to be looked up */
	struct stat status;   /* of `seen` */
	uid_t owner;
	unsigned int links;
	struct lens_error *err;
};

static const char *walk_place(const struct walk *walk)
{
	return walk->seen[0] != '\0' ? walk->seen : "/";
}

static int check_owner(const struct walk *walk, const struct stat *status, const char *place)
{
	if (status->st_uid == 0 || status->st_uid == walk->owner)
		return 0;
	return lens_error_set(
		walk->err, "%s belongs to uid %u, who could change it: use a place that is root's",
		place, (unsigned int)status->st_uid);
}

/* Whether others could put something else into the directory that the walk stands in. */
static int check_directory(const struct walk *walk)
{
	const struct stat *status = &walk->status;

	if (!S_ISDIR(status->st_mode))
		return lens_error_set(walk->err, "%s is not a directory", walk_place(walk));
	if ((status->st_mode & (S_IWGRP | S_IWOTH)) == 0 || (status->st_mode & S_ISVTX) != 0)
		return 0;
	return lens_error_set(walk->err, "%s can be written by others (mode %04o): chmod go-w %s",
			      walk_place(walk), (unsigned int)(status->st_mode & 07777),
			      walk_place(walk));
}

static int walk_stat(struct walk *walk)
{
	if (lstat(walk_place(walk), &walk->status) != 0)
		return lens_error_set(walk->err, "%s: %m", walk_place(walk));
	return check_owner(walk, &walk->status, walk_place(walk));
}

/* Puts the target of the link at `seen` in front of `ahead` and steps back. */
static int walk_follow(struct walk *walk)
{
	char target[PATH_MAX], joined[PATH_MAX];
	ssize_t length;
	int count;

	if (++walk->links > LINKS_MAX)
		return lens_error_set(walk->err, "%s: too many symbolic links", walk->seen);
	length = readlink(walk->seen, target, sizeof(target) - 1);
	if (length < 0)
		return lens_error_set(walk->err, "%s: %m", walk->seen);
	target[length] = '\0';
	count = snprintf(joined, sizeof(joined), "%s/%s", target, walk->ahead);
	if (count < 0 || (size_t)count >= sizeof(joined))
		return lens_error_set(walk->err, "%s leads to a path that is too long", walk->seen);
	memcpy(walk->ahead, joined, (size_t)count + 1);
	if (target[0] == '/')
		walk->seen[0] = '\0';
	else
		*strrchr(walk->seen, '/') = '\0';
	return walk_stat(walk);
}

/* Takes the next component off `ahead`; false at the end. */
static bool walk_next(struct walk *walk, char *name)
{
	size_t skip = strspn(walk->ahead, "/");
	size_t length = strcspn(walk->ahead + skip, "/");

	memcpy(name, walk->ahead + skip, length);
	name[length] = '\0';
	memmove(walk->ahead, walk->ahead + skip + length, strlen(walk->ahead + skip + length) + 1);
	return length > 0;
}

static int walk_step(struct walk *walk, const char *name)
{
	size_t used = strlen(walk->seen);
	char *slash;
	int count;

	if (check_directory(walk) != 0)
		return -1;
	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		slash = strrchr(walk->seen, '/');
		if (slash != NULL)
			*slash = '\0';
		return walk_stat(walk);
	}
	count = snprintf(walk->seen + used, sizeof(walk->seen) - used, "/%s", name);
	if (count < 0 || (size_t)count >= sizeof(walk->seen) - used)
		return lens_error_set(walk->err, "the path is too long");
	if (walk_stat(walk) != 0)
		return -1;
	return S_ISLNK(walk->status.st_mode) ? walk_follow(walk) : 0;
}

static int walk_path(struct walk *walk, const char *path, size_t length, uid_t owner,
		     struct lens_error *err)
{
	char name[PATH_MAX];

	walk->owner = owner;
	walk->err = err;
	walk->links = 0;
	walk->seen[0] = '\0';
	if (path[0] != '/')
		return lens_error_set(err, "%s is not an absolute path: write it from the root",
				      path);
	if (length >= sizeof(walk->ahead))
		return lens_error_set(err, "the path is too long");
	memcpy(walk->ahead, path, length);
	walk->ahead[length] = '\0';
	if (walk_stat(walk) != 0)
		return -1;
	while (walk_next(walk, name))
		if (walk_step(walk, name) != 0)
			return -1;
	return 0;
}

int lens_path_check(const char *path, uid_t owner, struct lens_error *err)
{
	struct walk walk;

	return walk_path(&walk, path, strlen(path), owner, err);
}

int lens_path_check_parents(const char *path, uid_t owner, struct lens_error *err)
{
	size_t length = strlen(path);
	struct walk walk;

	while (length > 1 && path[length - 1] == '/')
		length--;
	while (length > 1 && path[length - 1] != '/')
		length--;
	if (walk_path(&walk, path, length, owner, err) != 0)
		return -1;
	return check_directory(&walk);
}

int lens_path_check_program(const char *path, struct lens_error *err)
{
	uid_t real, effective, saved;
	struct walk walk;

	/* In a hook the effective user may be the job's while root is kept aside: the
	 * program runs as root then, so root's standard holds. */
	if (getresuid(&real, &effective, &saved) != 0)
		return lens_error_set(err, "getresuid: %m");
	if (real == 0 || saved == 0)
		effective = 0;
	if (walk_path(&walk, path, strlen(path), effective, err) != 0)
		return -1;
	if (!S_ISREG(walk.status.st_mode))
		return lens_error_set(err, "%s is not a regular file", path);
	if ((walk.status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return lens_error_set(err, "%s can be written by others (mode %04o): chmod go-w %s",
				      path, (unsigned int)(walk.status.st_mode & 07777), path);
	if ((walk.status.st_mode & S_IXUSR) == 0)
		return lens_error_set(err, "%s is not executable: chmod 0755 %s", path, path);
	return 0;
}
