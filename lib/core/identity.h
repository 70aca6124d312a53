/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_IDENTITY_H
#define LENS_CORE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Every id is derived, so that any process on any node knows its parent without
 * asking, and a resend repeats the ids. docs/identity.md has the formulas.
 */
struct lens_trace_id {
	uint8_t bytes[16];
};

struct lens_span_id {
	uint8_t bytes[8];
};

#define LENS_TRACE_HEX 33
#define LENS_SPAN_HEX  17
#define LENS_UUID_TEXT 37

/*
 * The trace of one attempt of a job. REALM and CLUSTER may be NULL (empty). JOB_ID is
 * the raw id of the het leader; an array element's own. Never all zero. 0, or -1 when
 * memory ran out.
 */
int lens_trace_id_derive(struct lens_trace_id *out, const char *realm, const char *cluster,
			 uint32_t job_id, uint32_t attempt);

/* The span NAME at PLACE ("" for none) in the job's own TRACE. 0, or -1 when memory ran out. */
int lens_span_id_derive(struct lens_span_id *out, const struct lens_trace_id *trace,
			const char *name, const char *place);

void lens_trace_id_hex(char out[LENS_TRACE_HEX], const struct lens_trace_id *id);
void lens_span_id_hex(char out[LENS_SPAN_HEX], const struct lens_span_id *id);

/* Lower-case hex of exactly the right length, not all zero: 0, else -1. */
int lens_trace_id_parse(struct lens_trace_id *out, const char *hex);
int lens_span_id_parse(struct lens_span_id *out, const char *hex);

/*
 * What the two UUIDs are made of, as text from the environment or NULL. The
 * published rule of NeMo Lens: an array, whose elements share both, is known by
 * array_task_id; `nocluster` and `nojob` stand for what is missing.
 */
struct lens_uuid_source {
	const char *cluster;
	const char *job_id;
	const char *array_job_id;
	const char *array_task_id;
	const char *restart_count;              /* NULL: 0 */
	const char *torchelastic_restart_count; /* TORCHELASTIC_RESTART_COUNT; NULL: none */
	const char *run_id;                     /* without any Slurm id: for run.uuid only */
};

/* nv.dl.job.uuid. 0, or -1 when memory ran out. */
int lens_job_uuid_derive(char out[LENS_UUID_TEXT], const struct lens_uuid_source *source);

/* nv.dl.run.uuid. 0; -1 when memory ran out or there is neither a Slurm id nor a run id. */
int lens_run_uuid_derive(char out[LENS_UUID_TEXT], const struct lens_uuid_source *source);

#endif
