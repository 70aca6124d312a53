/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/order.h"

#include "lib/core/text.h"
#include "spank/log.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

/* The objects that were loaded after this one, in Slurm's order. */
struct walk {
	bool after_us;
	struct lens_text paths; /* each ended by a NUL */
};

static const char address_of_ours;

static bool holds(const struct dl_phdr_info *info, const void *address)
{
	uintptr_t wanted = (uintptr_t)address;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && wanted >= start &&
		    wanted - start < segment->p_memsz)
			return true;
	}
	return false;
}

/* Only collects: the loader is locked here, and a dlopen could wait for ever. */
static int collect(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;

	(void)size;
	if (!walk->after_us)
		walk->after_us = holds(info, &address_of_ours);
	else if (info->dlpi_name && *info->dlpi_name)
		lens_text_add(&walk->paths, info->dlpi_name, strlen(info->dlpi_name) + 1);
	return 0;
}

/* Whether the object at PATH is a SPANK plugin that acts when a task starts. */
static bool hooks_task_init(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	bool hooks;

	if (!handle)
		return false;
	hooks = dlsym(handle, "slurm_spank_task_init") ||
		dlsym(handle, "slurm_spank_task_init_privileged");
	dlclose(handle);
	return hooks;
}

void lens_order_check(void)
{
	struct lens_text later = LENS_TEXT_INIT;
	struct walk walk = { 0 };

	dl_iterate_phdr(collect, &walk);
	for (size_t i = 0; i < walk.paths.length; i += strlen(walk.paths.data + i) + 1) {
		const char *path = walk.paths.data + i;
		const char *slash = strrchr(path, '/');

		if (!hooks_task_init(path))
			continue;
		if (later.length)
			lens_text_adds(&later, ", ");
		lens_text_adds(&later, slash ? slash + 1 : path);
	}
	if (later.length)
		lens_log(
			"%s after lens in plugstack.conf: a container plugin there replaces what lens tells its tasks; put lens's line last",
			later.data);
	lens_text_clear(&later);
	lens_text_clear(&walk.paths);
}
