/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_CGROUP_H
#define LENS_CORE_CGROUP_H

#include "lib/core/text.h"

#include <stdint.h>

/*
 * How many processes of a step the kernel has killed for want of memory, by the counters of
 * the step's own cgroup: `oom_kill` of v2's memory.events, or of v1's memory.oom_control of the
 * step's group and of its tasks' (measured on 22.05 with v1).
 */

/*
 * Adds to OUT the file that counts for JOB's step, below /sys/fs/cgroup, by TEXT, the
 * content of slurmstepd's /proc/self/cgroup: slurmstepd sits in `.../job_<id>/step_<n>` (v1) or in
 * `slurm` below it (v2; task/cgroup of 22.05, 24.11 and 26.05). 0; -1 when the process is in no
 * such group (no task/cgroup), or memory ran out.
 */
int lens_cgroup_counter_path(struct lens_text *out, const char *text, uint32_t job);

/* The count in TEXT, such a file's content. 0, or -1 when there is none. */
int lens_cgroup_counter_parse(uint64_t *out, const char *text);

/* Both for this process. Opens nothing but files of the kernel's. 0 or -1. */
int lens_cgroup_oom_kills(uint64_t *out, uint32_t job);

#endif
