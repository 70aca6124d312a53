/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/site/plugin_file.h"

#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

#define BASE 0x1000 /* where the object's bytes are in memory */

/* A small shared object: headers, symbols, their names, their values. */
struct image {
	ElfW(Ehdr) header;
	ElfW(Phdr) segment;
	ElfW(Shdr) sections[3]; /* none, .dynsym, .dynstr */
	ElfW(Sym) symbols[8];
	char names[256];
	char values[256];
	unsigned int symbol_count, names_used, values_used;
};

static void symbol_add(struct image *image, const char *name, const void *value, size_t size)
{
	ElfW(Sym) *symbol = &image->symbols[image->symbol_count++];

	symbol->st_name = image->names_used;
	symbol->st_shndx = value != NULL ? 1 : SHN_UNDEF;
	symbol->st_value = BASE + offsetof(struct image, values) + image->values_used;
	strcpy(image->names + image->names_used, name);
	image->names_used += (unsigned int)strlen(name) + 1;
	if (value != NULL)
		memcpy(image->values + image->values_used, value, size);
	image->values_used += (unsigned int)size;
}

static struct image image_make(uint32_t version, const char *type, const char *name)
{
	struct image image = { 0 };

	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	image.header.e_type = ET_DYN;
	image.header.e_phoff = offsetof(struct image, segment);
	image.header.e_phnum = 1;
	image.header.e_phentsize = sizeof(image.segment);
	image.header.e_shoff = offsetof(struct image, sections);
	image.header.e_shnum = 3;
	image.header.e_shentsize = sizeof(image.sections[0]);
	image.segment.p_type = PT_LOAD;
	image.segment.p_vaddr = BASE;
	image.segment.p_filesz = sizeof(image);
	image.sections[1].sh_type = SHT_DYNSYM;
	image.sections[1].sh_offset = offsetof(struct image, symbols);
	image.sections[1].sh_size = sizeof(image.symbols);
	image.sections[1].sh_link = 2;
	image.sections[2].sh_type = SHT_STRTAB;
	image.sections[2].sh_offset = offsetof(struct image, names);
	image.sections[2].sh_size = sizeof(image.names);
	symbol_add(&image, "", NULL, 0);
	symbol_add(&image, "plugin_version", &version, sizeof(version));
	symbol_add(&image, "plugin_type", type, strlen(type) + 1);
	symbol_add(&image, "plugin_name", name, strlen(name) + 1);
	return image;
}

static const char *image_write(const struct scratch *scratch, const char *name,
			       const struct image *image)
{
	int fd = openat(scratch->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, image, sizeof(*image)), sizeof(*image));
	close(fd);
	return scratch_path(scratch, name);
}

static void what_a_plugin_says_of_itself(void **state)
{
	struct image image = image_make(0x160508, "spank", "lens");
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_plugin_file file;

	symbol_add(&image, "spank_lens_version", "1.2.3", 6);
	symbol_add(&image, "slurm_spank_task_init", NULL, 0); /* wanted, not had */
	assert_int_equal(lens_plugin_file_read(&file, image_write(*state, "a.so", &image), &err),
			 0);
	assert_int_equal(file.slurm, 0x160508);
	assert_string_equal(file.type, "spank");
	assert_string_equal(file.name, "lens");
	assert_string_equal(file.version, "1.2.3");
	assert_false(file.task_init);
	symbol_add(&image, "slurm_spank_task_init_privileged", "", 1);
	assert_int_equal(lens_plugin_file_read(&file, image_write(*state, "a.so", &image), &err),
			 0);
	assert_true(file.task_init);
}

static void assert_no_object(const struct scratch *scratch, const char *name)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_plugin_file file;

	assert_int_equal(lens_plugin_file_read(&file, scratch_path(scratch, name), &err), -1);
	assert_non_null(strstr(err.text, name));
}

static void what_is_no_plugin_is_refused(void **state)
{
	struct image image = image_make(1, "spank", "lens");

	assert_no_object(*state, "missing");
	scratch_write(*state, "text", "#!/bin/sh\n");
	assert_no_object(*state, "text");
	scratch_write(*state, "empty", "");
	assert_no_object(*state, "empty");
	image.header.e_type = ET_EXEC;
	image_write(*state, "program", &image);
	assert_no_object(*state, "program");
	image = image_make(1, "spank", "lens");
	image.header.e_ident[EI_CLASS] = ELFCLASSNONE;
	image_write(*state, "class", &image);
	assert_no_object(*state, "class");
}

/* Each byte, wrong in turn, is read without a fault and never as what it is not: valgrind and
 * the sanitizers look on. */
static void broken_objects_do_no_harm(void **state)
{
	static const unsigned char wrong[] = { 0x00, 0x7f, 0xff };
	const struct image good = image_make(0x160508, "spank", "lens");
	struct lens_plugin_file file;

	for (size_t i = 0; i < offsetof(struct image, values); i++) {
		struct image image = good;

		((unsigned char *)&image)[i] = wrong[i % sizeof(wrong)];
		lens_plugin_file_read(&file, image_write(*state, "broken.so", &image), NULL);
		assert_true(strlen(file.name) < sizeof(file.name));
	}
}

static void slurms_own_plugins_tell_its_version(void **state)
{
	struct image image = image_make(0x180b05, "spank", "other");
	char directories[600];

	mkdir(scratch_path(*state, "a"), 0755);
	mkdir(scratch_path(*state, "b"), 0755);
	snprintf(directories, sizeof(directories), "%s:%s:/nowhere", scratch_path(*state, "a"),
		 scratch_path(*state, "b"));
	image_write(*state, "a/spank.so", &image);
	scratch_write(*state, "a/lens.la", "text");
	scratch_write(*state, "a/text.so", "text");
	assert_int_equal(lens_plugin_dir_slurm(directories), 0);
	image = image_make(0x160508, "auth/munge", "Munge");
	image_write(*state, "b/auth_munge.so", &image);
	assert_int_equal(lens_plugin_dir_slurm(directories), 0x160508);
	assert_int_equal(lens_plugin_dir_slurm(""), 0);
}

static void versions_are_read_and_compared(void **state)
{
	char text[LENS_SLURM_VERSION];

	(void)state;
	lens_slurm_version_format(text, 0x160508);
	assert_string_equal(text, "22.05.8");
	assert_int_equal(lens_slurm_version_parse("22.05.8"), 0x160508);
	assert_int_equal(lens_slurm_version_parse("26.05.5-1"), 0x1a0505);
	assert_int_equal(lens_slurm_version_parse("24.11"), 0);
	assert_int_equal(lens_slurm_version_parse("999.1.1"), 0);
	assert_int_equal(lens_slurm_version_parse(""), 0);
	assert_true(lens_plugin_fits(0x160508, 0x160502));
	assert_false(lens_plugin_fits(0x160508, 0x170208));
	assert_false(lens_plugin_fits(0x160508, 0x160608));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(what_a_plugin_says_of_itself),
		scratch_test(what_is_no_plugin_is_refused),
		scratch_test(broken_objects_do_no_harm),
		scratch_test(slurms_own_plugins_tell_its_version),
		cmocka_unit_test(versions_are_read_and_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
