/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/statedir.h"
#include "lib/core/fd.h"
#include "lib/core/number.h"
#include "lib/core/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * File systems that other machines write too, by the magic of statfs(2) (linux/magic.h and
 * the file systems' own sources): neither locks nor O_APPEND can be trusted there, and a
 * hook would wait for a server that is away.
 */
static const struct {
	unsigned int magic;
	const char *name;
} network_types[] = {
	{ 0x00006969, "nfs" },      { 0x0000517b, "smb" },    { 0xff534d42, "cifs" },
	{ 0xfe534d42, "smb2" },     { 0x0bd00bd0, "lustre" }, { 0x47504653, "gpfs" },
	{ 0x19830326, "beegfs" },   { 0x65735546, "fuse" },   { 0x5346414f, "afs" },
	{ 0x6b414653, "afs" },      { 0x00c36400, "ceph" },   { 0x01021997, "9p" },
	{ 0x73757245, "coda" },     { 0x0000564c, "ncp" },    { 0x01161970, "gfs2" },
	{ 0x7461636f, "ocfs2" },    { 0xaad7aaea, "panfs" },  { 0x786f4256, "vboxsf" },
	{ 0x20030528, "orangefs" }, { 0x013111a8, "ibrix" },
};

static int check_local(int directory, const char *path, struct lens_error *err)
{
	struct statfs status;

	if (fstatfs(directory, &status) != 0)
		return lens_error_set(err, "StateDir %s: %m", path);
	for (size_t i = 0; i < sizeof(network_types) / sizeof(network_types[0]); i++)
		if ((unsigned int)status.f_type == network_types[i].magic)
			return lens_error_set(err,
					      "StateDir %s is on a network file system (%s): "
					      "name a directory on a local disk",
					      path, network_types[i].name);
	return 0;
}

static int check_own(int directory, const char *path, struct lens_error *err)
{
	struct stat status;

	if (fstat(directory, &status) != 0)
		return lens_error_set(err, "StateDir %s: %m", path);
	if (status.st_uid != geteuid())
		return lens_error_set(err, "StateDir %s belongs to uid %u: chown %u %s", path,
				      (unsigned int)status.st_uid, (unsigned int)geteuid(), path);
	if ((status.st_mode & 0777) != 0700)
		return lens_error_set(err, "StateDir %s has mode %04o: chmod 0700 %s", path,
				      (unsigned int)(status.st_mode & 0777), path);
	return 0;
}

/* The parent and the last component of PATH; the caller frees *PARENT and *NAME. */
static int split_path(const char *path, char **parent, char **name, struct lens_error *err)
{
	size_t end = strlen(path), start;

	if (path[0] != '/')
		return lens_error_set(err,
				      "StateDir %s is not an absolute path: write it from the "
				      "root",
				      path);
	while (end > 1 && path[end - 1] == '/')
		end--;
	start = end;
	while (start > 0 && path[start - 1] != '/')
		start--;
	*parent = strndup(path, start);
	*name = strndup(path + start, end - start);
	if (*parent == NULL || *name == NULL)
		return lens_error_set(err, "StateDir %s: no memory", path);
	if (**name == '\0' || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0)
		return lens_error_set(err,
				      "StateDir %s does not name a directory of its own: name "
				      "one, /var/spool/slurm-lens say",
				      path);
	return 0;
}

static int open_parent(const char *path, const char *parent, struct lens_error *err)
{
	struct lens_error reason = LENS_ERROR_INIT;
	int fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return lens_error_set(err, "StateDir %s: there is no %s: mkdir -p -m 0755 %s", path,
				      parent, parent);
	if (fd < 0)
		return lens_error_set(err, "StateDir %s: %s: %m", path, parent);
	if (lens_path_check_parents(path, geteuid(), &reason) != 0) {
		lens_fd_close(fd);
		return lens_error_set(err, "StateDir %s: %s", path, reason.text);
	}
	return fd;
}

static int open_last(int parent, const char *name, const char *path, bool create,
		     struct lens_error *err)
{
	bool made = create && mkdirat(parent, name, 0700) == 0;
	struct stat status;
	int fd;

	if (create && !made && errno != EEXIST)
		return lens_error_set(err, "StateDir %s cannot be made: %m", path);
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return lens_error_set(err,
				      "there is no StateDir %s: restart slurmd, which makes it "
				      "(or mkdir -m 0700 %s)",
				      path, path);
	if (fd < 0 && fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(status.st_mode))
		return lens_error_set(err,
				      "StateDir %s is a symbolic link: name the directory "
				      "that it leads to",
				      path);
	if (fd < 0)
		return lens_error_set(err, "StateDir %s: %m", path);
	/* The umask may have taken more than it should. */
	if (made && fchmod(fd, 0700) != 0) {
		lens_error_set(err, "StateDir %s: %m", path);
		lens_fd_close(fd);
		return -1;
	}
	return fd;
}

int lens_statedir_open(const char *path, bool create, struct lens_error *err)
{
	char *parent_path = NULL, *name = NULL;
	int parent = -1, fd = -1;

	if (split_path(path, &parent_path, &name, err) != 0)
		goto out;
	parent = open_parent(path, parent_path, err);
	if (parent < 0)
		goto out;
	fd = open_last(parent, name, path, create, err);
	if (fd < 0)
		goto out;
	if (check_own(fd, path, err) != 0 || check_local(fd, path, err) != 0) {
		lens_fd_close(fd);
		fd = -1;
		goto out;
	}
	fd = lens_fd_raise(fd, F_DUPFD_CLOEXEC);
	if (fd < 0)
		lens_error_set(err, "StateDir %s: %m", path);
out:
	lens_fd_close(parent);
	free(parent_path);
	free(name);
	return fd;
}

/* The numbers of a name, in order; returns how many. */
static size_t name_fields(const struct lens_state_name *name, uint32_t fields[4])
{
	fields[0] = name->job;
	fields[1] = name->node;
	switch (name->kind) {
	case LENS_STATE_NOTE:
		return 2;
	case LENS_STATE_ENDED:
		fields[2] = name->attempt;
		return 3;
	case LENS_STATE_JOURNAL:
		break;
	}
	fields[1] = name->step;
	fields[2] = name->node;
	fields[3] = name->pid;
	return 4;
}

void lens_state_name_format(char out[LENS_STATE_NAME], const struct lens_state_name *name)
{
	uint32_t fields[4];
	size_t count = name_fields(name, fields), used = 0;

	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(out + used, LENS_STATE_NAME - used, "%s%u",
					 i > 0 ? "." : "", (unsigned int)fields[i]);
}

/* The canonical decimal at *TEXT, which ends at a dot or the end; moves *TEXT behind it. */
static int parse_field(const char **text, uint32_t *out)
{
	char digits[11];
	size_t length = strcspn(*text, ".");

	if (length == 0 || length >= sizeof(digits) || (length > 1 && **text == '0'))
		return -1;
	memcpy(digits, *text, length);
	digits[length] = '\0';
	*text += length;
	return lens_uint32_parse(digits, out);
}

int lens_state_name_parse(struct lens_state_name *out, const char *text)
{
	struct lens_state_name name = { .kind = LENS_STATE_NOTE };
	uint32_t fields[4];
	size_t count = 0;

	do {
		if (count == 4 || parse_field(&text, &fields[count]) != 0)
			return -1;
		count++;
	} while (*text == '.' && *++text != '\0');
	if (*text != '\0' || text[-1] == '.' || count < 2)
		return -1;
	name.job = fields[0];
	if (count == 4) {
		name.kind = LENS_STATE_JOURNAL;
		name.step = fields[1];
		name.node = fields[2];
		name.pid = fields[3];
	} else {
		name.node = fields[1];
	}
	if (count == 3) {
		name.kind = LENS_STATE_ENDED;
		name.attempt = fields[2];
	}
	*out = name;
	return 0;
}

int lens_statedir_each(int directory, lens_statedir_visit_fn *visit, void *context)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0;
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct lens_state_name name;
	const struct dirent *entry;

	if (list == NULL) {
		lens_fd_close(fd);
		return -1;
	}
	while (result == 0 && (entry = readdir(list)) != NULL) {
		if (lens_state_name_parse(&name, entry->d_name) == 0)
			result = visit(context, &name, entry->d_name);
	}
	closedir(list);
	return result;
}
