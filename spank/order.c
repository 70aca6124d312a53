/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/order.h"

#include "lib/core/text.h"
#include "spank/log.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

/* The objects that Slurm has loaded, in the order in which it did. */
struct walk {
	bool after_us;
	struct lens_text later; /* names of plugins that come after lens */
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

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	const char *slash;

	(void)size;
	if (!walk->after_us) {
		walk->after_us = holds(info, &address_of_ours);
		return 0;
	}
	if (!info->dlpi_name || !*info->dlpi_name || !hooks_task_init(info->dlpi_name))
		return 0;
	slash = strrchr(info->dlpi_name, '/');
	if (walk->later.length)
		lens_text_adds(&walk->later, ", ");
	lens_text_adds(&walk->later, slash ? slash + 1 : info->dlpi_name);
	return 0;
}

void lens_order_check(void)
{
	struct walk walk = { 0 };

	dl_iterate_phdr(visit, &walk);
	if (walk.later.length)
		lens_log(
			"%s after lens in plugstack.conf: a container plugin there replaces what lens tells its tasks; put lens's line last",
			walk.later.data);
	lens_text_clear(&walk.later);
}
