/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/identity.h"

#include "lib/core/encoding.h"
#include "lib/core/hash.h"
#include "lib/core/text.h"

#include <stdlib.h>
#include <string.h>

static bool is_zero(const uint8_t *bytes, size_t length)
{
	uint8_t all = 0;

	for (size_t i = 0; i < length; i++)
		all |= bytes[i];
	return all == 0;
}

/* An id of LENGTH bytes from TEXT, which is emptied. Not a UUID: its fixed bits would
 * break samplers that look at the low bits. 0, or -1 when memory ran out. */
static int id_hash(uint8_t *out, size_t length, struct lens_text *text)
{
	uint8_t digest[LENS_SHA256_BYTES];
	char *line = lens_text_take(text);

	if (!line)
		return -1;
	lens_sha256(digest, line, strlen(line));
	free(line);
	memcpy(out, is_zero(digest, length) ? digest + length : digest, length);
	return 0;
}

/* The last trace id that was derived: a step's tasks are forked with theirs. */
static struct {
	struct lens_trace_id id;
	char text[256];
} last;

/* Derives it from TEXT, which is emptied; a long text is not kept, and so hashed each time. 0, or -1 when
 * memory ran out. */
static int last_derive(struct lens_text *text)
{
	*last.text = '\0';
	if (!text->failed && text->length < sizeof(last.text))
		memcpy(last.text, text->data, text->length + 1);
	if (id_hash(last.id.bytes, sizeof(last.id.bytes), text) == 0)
		return 0;
	*last.text = '\0';
	return -1;
}

int lens_trace_id_derive(struct lens_trace_id *out, const char *realm, const char *cluster,
			 uint32_t job_id, uint32_t attempt)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_text_adds(&text, "slurm-lens/trace/1\n");
	lens_text_adds(&text, realm ? realm : "");
	lens_text_adds(&text, "\n");
	lens_text_adds(&text, cluster ? cluster : "");
	lens_text_adds(&text, "\n");
	lens_text_add_number(&text, job_id);
	lens_text_adds(&text, "\n");
	lens_text_add_number(&text, attempt);
	if ((text.failed || strcmp(text.data, last.text) != 0) && last_derive(&text) < 0)
		return -1;
	lens_text_clear(&text);
	*out = last.id;
	return 0;
}

int lens_span_id_derive(struct lens_span_id *out, const struct lens_trace_id *trace,
			const char *name, const char *place)
{
	struct lens_text text = LENS_TEXT_INIT;
	char hex[LENS_TRACE_HEX];

	lens_trace_id_hex(hex, trace);
	lens_text_adds(&text, "slurm-lens/span/1\n");
	lens_text_adds(&text, hex);
	lens_text_adds(&text, "\n");
	lens_text_adds(&text, name);
	lens_text_adds(&text, "\n");
	lens_text_adds(&text, place);
	return id_hash(out->bytes, sizeof(out->bytes), &text);
}

void lens_trace_id_hex(char out[LENS_TRACE_HEX], const struct lens_trace_id *id)
{
	lens_hex_encode(out, id->bytes, sizeof(id->bytes));
}

void lens_span_id_hex(char out[LENS_SPAN_HEX], const struct lens_span_id *id)
{
	lens_hex_encode(out, id->bytes, sizeof(id->bytes));
}

/* HEX as an id of LENGTH (at most 16) bytes: 0, or -1 and OUT as it was. */
static int id_parse(uint8_t *out, size_t length, const char *hex)
{
	uint8_t bytes[16];

	if (!hex || strlen(hex) != 2 * length || lens_hex_decode(bytes, length, hex) < 0 ||
	    is_zero(bytes, length))
		return -1;
	memcpy(out, bytes, length);
	return 0;
}

int lens_trace_id_parse(struct lens_trace_id *out, const char *hex)
{
	return id_parse(out->bytes, sizeof(out->bytes), hex);
}

int lens_span_id_parse(struct lens_span_id *out, const char *hex)
{
	return id_parse(out->bytes, sizeof(out->bytes), hex);
}

/* A version 5 UUID (RFC 9562, 5.5) of TEXT, which is emptied, in the URL namespace (6.6). */
static int uuid5_url(char out[LENS_UUID_TEXT], struct lens_text *text)
{
	static const uint8_t url[16] = { 0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1,
					 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8 };
	static const uint8_t group_bytes[] = { 4, 2, 2, 2, 6 };
	struct lens_text name = LENS_TEXT_INIT;
	uint8_t digest[LENS_SHA1_BYTES];
	size_t at = 0;

	lens_text_add(&name, (const char *)url, sizeof(url));
	if (text->failed)
		name.failed = true;
	else
		lens_text_add(&name, text->data, text->length);
	lens_text_clear(text);
	if (name.failed) {
		lens_text_clear(&name);
		return -1;
	}
	lens_sha1(digest, name.data, name.length);
	lens_text_clear(&name);
	digest[6] = (uint8_t)((digest[6] & 0x0F) | 0x50);
	digest[8] = (uint8_t)((digest[8] & 0x3F) | 0x80);
	for (size_t i = 0; i < sizeof(group_bytes); i++) {
		lens_hex_encode(out, digest + at, group_bytes[i]);
		at += group_bytes[i];
		out += 2 * group_bytes[i];
		if (i + 1 < sizeof(group_bytes))
			*out++ = '-';
	}
	return 0;
}

/* An empty variable is as good as none. */
static const char *nonempty(const char *text, const char *fallback)
{
	return text && *text ? text : fallback;
}

static const char *cluster_name(const struct lens_uuid_source *source)
{
	return nonempty(source->cluster, "nocluster");
}

static const char *job_key(const struct lens_uuid_source *source)
{
	if (nonempty(source->array_task_id, NULL))
		return nonempty(source->array_job_id, "nojob");
	return nonempty(source->job_id, "nojob");
}

int lens_job_uuid_derive(char out[LENS_UUID_TEXT], const struct lens_uuid_source *source)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_text_addf(&text, "nemo.lens.job/%s/%s", cluster_name(source), job_key(source));
	return uuid5_url(out, &text);
}

int lens_run_uuid_derive(char out[LENS_UUID_TEXT], const struct lens_uuid_source *source)
{
	struct lens_text text = LENS_TEXT_INIT;
	const char *elastic = nonempty(source->torchelastic_restart_count, NULL);

	if (!nonempty(source->job_id, NULL) && !nonempty(source->array_job_id, NULL)) {
		if (!nonempty(source->run_id, NULL))
			return -1;
		lens_text_addf(&text, "nemo.lens.run/local/%s/te%s", source->run_id,
			       elastic ? elastic : "0");
		return uuid5_url(out, &text);
	}
	lens_text_addf(&text, "nemo.lens.run/%s/%s", cluster_name(source), job_key(source));
	if (!nonempty(source->array_task_id, NULL))
		lens_text_addf(&text, "/sr%s", nonempty(source->restart_count, "0"));
	if (elastic)
		lens_text_addf(&text, "/te%s", elastic);
	return uuid5_url(out, &text);
}
