/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/site/plugin_file.h"

#include "lib/core/text.h"
#include "lib/site/file.h"

#include <dirent.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (64 * 1024 * 1024)

/* A shared object in memory. Whatever it says of places in itself is checked. */
struct object {
	const char *bytes;
	size_t length;
	ElfW(Ehdr) header;
};

/* The COUNT records of SIZE bytes at OFFSET, or NULL when they are not all in the file. */
static const char *range(const struct object *object, uint64_t offset, uint64_t count,
			 uint64_t size)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || offset > object->length ||
	    bytes > object->length - offset)
		return NULL;
	return object->bytes + offset;
}

static int object_open(struct object *object, const struct lens_text *text)
{
	const ElfW(Ehdr) *header = &object->header;
	const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;

	object->bytes = text->data;
	object->length = text->length;
	if (text->length < sizeof(object->header))
		return -1;
	memcpy(&object->header, text->data, sizeof(object->header));
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
			       header->e_ident[EI_CLASS] == class && header->e_type == ET_DYN &&
			       header->e_shentsize == sizeof(ElfW(Shdr)) &&
			       header->e_phentsize == sizeof(ElfW(Phdr))
		       ? 0
		       : -1;
}

/* The section INDEX; -1 when there is none. */
static int section_read(const struct object *object, size_t index, ElfW(Shdr) * out)
{
	const char *at =
		range(object, object->header.e_shoff, object->header.e_shnum, sizeof(ElfW(Shdr)));

	if (at == NULL || index >= object->header.e_shnum)
		return -1;
	memcpy(out, at + index * sizeof(*out), sizeof(*out));
	return 0;
}

/* What is in memory at ADDRESS once it is loaded, and how many BYTES of the file follow; NULL:
 * nothing of the file. */
static const char *address_find(const struct object *object, uint64_t address, size_t *bytes)
{
	const char *at =
		range(object, object->header.e_phoff, object->header.e_phnum, sizeof(ElfW(Phdr)));
	ElfW(Phdr) segment;

	for (size_t i = 0; at != NULL && i < object->header.e_phnum; i++) {
		memcpy(&segment, at + i * sizeof(segment), sizeof(segment));
		if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz ||
		    range(object, segment.p_offset, segment.p_filesz, 1) == NULL)
			continue;
		*bytes = (size_t)(segment.p_filesz - (address - segment.p_vaddr));
		return object->bytes + segment.p_offset + (address - segment.p_vaddr);
	}
	return NULL;
}

static void text_take(char *out, size_t size, const char *at, size_t bytes)
{
	snprintf(out, size, "%.*s", (int)(bytes < size ? bytes : size), at);
}

static void symbol_take(struct lens_plugin_file *out, const struct object *object, const char *name,
			uint64_t address)
{
	size_t bytes = 0;
	const char *at;

	if (strcmp(name, "slurm_spank_task_init") == 0 ||
	    strcmp(name, "slurm_spank_task_init_privileged") == 0) {
		out->task_init = true;
		return;
	}
	if (strcmp(name, "plugin_version") != 0 && strcmp(name, "plugin_name") != 0 &&
	    strcmp(name, "plugin_type") != 0 && strcmp(name, "spank_lens_version") != 0)
		return;
	at = address_find(object, address, &bytes);
	if (at == NULL)
		return;
	if (strcmp(name, "plugin_version") == 0 && bytes >= sizeof(out->slurm))
		memcpy(&out->slurm, at, sizeof(out->slurm));
	else if (strcmp(name, "plugin_name") == 0)
		text_take(out->name, sizeof(out->name), at, bytes);
	else if (strcmp(name, "plugin_type") == 0)
		text_take(out->type, sizeof(out->type), at, bytes);
	else if (strcmp(name, "spank_lens_version") == 0)
		text_take(out->version, sizeof(out->version), at, bytes);
}

static void symbols_read(struct lens_plugin_file *out, const struct object *object,
			 const ElfW(Shdr) * table)
{
	uint64_t count = table->sh_size / sizeof(ElfW(Sym));
	const char *at = range(object, table->sh_offset, count, sizeof(ElfW(Sym)));
	const char *names;
	ElfW(Shdr) strings;
	ElfW(Sym) symbol;

	if (at == NULL || section_read(object, table->sh_link, &strings) != 0)
		return;
	names = range(object, strings.sh_offset, strings.sh_size, 1);
	if (names == NULL)
		return;
	for (uint64_t i = 0; i < count; i++) {
		memcpy(&symbol, at + i * sizeof(symbol), sizeof(symbol));
		if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= strings.sh_size ||
		    memchr(names + symbol.st_name, '\0', strings.sh_size - symbol.st_name) == NULL)
			continue;
		symbol_take(out, object, names + symbol.st_name, symbol.st_value);
	}
}

int lens_plugin_file_read(struct lens_plugin_file *out, const char *path, struct lens_error *err)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct object object;
	ElfW(Shdr) section;
	int rc;

	*out = (struct lens_plugin_file){ 0 };
	rc = lens_file_read(&text, path, FILE_MAX, err);
	if (rc == 0 && object_open(&object, &text) != 0)
		rc = lens_error_set(err, "%s is no shared object for this machine", path);
	for (size_t i = 0; rc == 0 && i < object.header.e_shnum; i++) {
		if (section_read(&object, i, &section) == 0 && section.sh_type == SHT_DYNSYM)
			symbols_read(out, &object, &section);
	}
	lens_text_clear(&text);
	return rc;
}

/* What FILE in DIRECTORY was built for, if it is a plugin of Slurm's own; else 0. */
static uint32_t own_version(const char *directory, const char *file)
{
	struct lens_plugin_file found = { 0 };
	struct lens_text path = LENS_TEXT_INIT;
	size_t length = strlen(file);
	char *text;

	if (length < 4 || strcmp(file + length - 3, ".so") != 0)
		return 0;
	lens_text_addf(&path, "%s/%s", directory, file);
	text = lens_text_take(&path);
	if (text == NULL || lens_plugin_file_read(&found, text, NULL) != 0 ||
	    strcmp(found.type, "spank") == 0)
		found.slurm = 0;
	free(text);
	return found.slurm;
}

static uint32_t directory_version(const char *directory)
{
	DIR *list = opendir(directory);
	const struct dirent *entry;
	uint32_t version = 0;

	while (list != NULL && version == 0 && (entry = readdir(list)) != NULL)
		version = own_version(directory, entry->d_name);
	if (list != NULL)
		closedir(list);
	return version;
}

uint32_t lens_plugin_dir_slurm(const char *plugin_dir)
{
	char *copy = strdup(plugin_dir), *rest = NULL;
	const char *directory = copy != NULL ? strtok_r(copy, ":", &rest) : NULL;
	uint32_t version = 0;

	for (; version == 0 && directory != NULL; directory = strtok_r(NULL, ":", &rest))
		version = directory_version(directory);
	free(copy);
	return version;
}

bool lens_plugin_fits(uint32_t built, uint32_t runs)
{
	return built >> 8 == runs >> 8;
}

void lens_slurm_version_format(char out[LENS_SLURM_VERSION], uint32_t version)
{
	snprintf(out, LENS_SLURM_VERSION, "%u.%02u.%u", (version >> 16) & 0xff,
		 (version >> 8) & 0xff, version & 0xff);
}

uint32_t lens_slurm_version_parse(const char *text)
{
	unsigned int major, minor, micro;

	if (sscanf(text, "%3u.%3u.%3u", &major, &minor, &micro) != 3 || major > 255 ||
	    minor > 255 || micro > 255)
		return 0;
	return major << 16 | minor << 8 | micro;
}
