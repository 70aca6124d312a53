/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_SPANS_H
#define LENS_JOB_SPANS_H

#include "lib/job/attempt.h"
#include "lib/job/resource_fill.h"
#include "lib/job/step.h"
#include "lib/otlp/span.h"

#include <stddef.h>

/*
 * Records (docs/journal.md) to spans: pure functions, the same records give the same spans,
 * so that a resend repeats them.
 *
 * Each adds to BATCH, as one group, the spans FIRST to FIRST + LIMIT - 1 of its
 * sequence and returns how many that were: fewer than LIMIT when it is at its end, -1 when
 * memory ran out. A caller pages through, with a smaller LIMIT where a page was too large.
 */

/* Failing ranks of a step that get a span on each node though they do not export. */
#define LENS_FAILING_SPANS 16

/*
 * slurm.batch; or slurm.step on the step's first node, slurm.step.node on another that
 * has an exporting or failing rank, and slurm.task for each exporting rank and for failing
 * ones. `error.type` is `exit_3` or the signal's name.
 */
int lens_step_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			const struct lens_job_step *step, size_t first, size_t limit);

/*
 * What is known once the attempt has started: slurm.inter_attempt_gap (of a requeued
 * job), slurm.phase.deferred, slurm.phase.queued, slurm.job_start. Empty for a het component that
 * does not lead.
 */
int lens_start_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			 const struct lens_job_attempt *attempt, size_t first, size_t limit);

/*
 * Of an attempt that left the queue without a start, which only accounting knows:
 * slurm.job_attempt and the phases, up to the end of its answer. Not paged. Empty for a het
 * component that does not lead.
 */
int lens_queue_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			 const struct lens_job_attempt *attempt);

/*
 * What is known once it is over: slurm.job_attempt (by the het leader), slurm.job and, where this
 * node saw something run, slurm.job_setup and slurm.job_teardown. `error.type` is the state in
 * lower case.
 */
int lens_job_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
		       const struct lens_job_attempt *attempt, size_t first, size_t limit);

#endif
