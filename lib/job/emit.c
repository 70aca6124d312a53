/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/emit.h"

static const char *const purposes[] = { "goodput" };

struct lens_span *lens_emit_span(struct lens_emit *emit, const char *name, const char *place)
{
	struct lens_attributes *attributes;
	struct lens_span_id id;
	struct lens_span *span;
	size_t index = emit->index++;

	if (index < emit->first || index - emit->first >= emit->limit)
		return NULL;
	emit->added++;
	if (lens_span_id_derive(&id, &emit->own, name, place) == -1) {
		emit->failed = true;
		return NULL;
	}
	span = lens_group_add_span(emit->group, &emit->wire, &id, name);
	attributes = lens_span_attributes(span);
	lens_attributes_string(attributes, "slurm.source",
			       emit->source != NULL ? emit->source : "slurmstepd");
	lens_attributes_string(attributes, "slurm.confidence",
			       emit->factual ? "factual" : "synthesized");
	lens_attributes_string(attributes, "lens.group", "job");
	lens_attributes_string(attributes, "lens.span_category", "goodput");
	lens_attributes_strings(attributes, "purpose", purposes, 1);
	lens_attributes_int(attributes, "slurm.attempt", emit->attempt);
	return span;
}

void lens_emit_parent(struct lens_emit *emit, struct lens_span *span, const char *name,
		      const char *place)
{
	struct lens_span_id id;

	if (lens_span_id_derive(&id, &emit->own, name, place) == -1)
		emit->failed = true;
	else
		lens_span_set_parent(span, &id);
}

void lens_emit_error(struct lens_span *span, const char *type, const char *message)
{
	lens_span_set_error(span, message);
	lens_attributes_string(lens_span_attributes(span), "error.type", type);
}
