/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/carrier_parts.h"
#include "lib/core/encoding.h"
#include "lib/core/hash.h"
#include "lib/core/number.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE   1024 /* bytes of a block whose texts are not known yet, at least */
#define INDEXED_FROM 24   /* entries; fewer are looked through as fast */

struct entry {
	const char *key;
	const char *value;
	uint32_t hash; /* of the key */
};

/* Texts live in blocks until the carrier goes; a value that was replaced stays in its block. */
struct block {
	struct block *next;
	size_t used, size;
	char bytes[];
};

struct lens_carrier {
	struct entry *entries;
	size_t count;
	size_t capacity;
	struct block *blocks;
	/* A hash table of entry numbers + 1: a user's carrier may have thousands. */
	uint32_t *slots;
	size_t slot_count; /* a power of 2; 0: no table, or one that is out of date */
};

static struct lens_slice string_slice(const char *string)
{
	return (struct lens_slice){ string, strlen(string) };
}

static struct lens_slice key_slice(const char *key)
{
	return lens_slice_trim(string_slice(key));
}

static int block_add(struct lens_carrier *carrier, size_t size)
{
	struct block *block = malloc(sizeof(*block) + size);

	if (!block)
		return -1;
	*block = (struct block){ .next = carrier->blocks, .size = size };
	carrier->blocks = block;
	return 0;
}

/* A copy of TEXT that lives as long as CARRIER; NULL: no memory. */
static const char *text_keep(struct lens_carrier *carrier, struct lens_slice text)
{
	struct block *block = carrier->blocks;
	char *copy;

	if (!block || block->size - block->used <= text.length) {
		/* Each is twice the one before: a carrier of any size has few. */
		size_t size = block ? block->size * 2 : 0;

		if (size < BLOCK_SIZE)
			size = BLOCK_SIZE;
		if (block_add(carrier, size > text.length ? size : text.length + 1) < 0)
			return NULL;
		block = carrier->blocks;
	}
	copy = block->bytes + block->used;
	memcpy(copy, text.bytes, text.length);
	copy[text.length] = '\0';
	block->used += text.length + 1;
	return copy;
}

static bool entry_is(const struct entry *entry, uint32_t hash, struct lens_slice key)
{
	return entry->hash == hash && strncmp(entry->key, key.bytes, key.length) == 0 &&
	       entry->key[key.length] == '\0';
}

static void slot_fill(struct lens_carrier *carrier, size_t number)
{
	size_t slot = carrier->entries[number].hash;

	do {
		slot &= carrier->slot_count - 1;
	} while (carrier->slots[slot++]);
	carrier->slots[slot - 1] = (uint32_t)number + 1;
}

/* Makes the table anew with room for as many entries again; without memory there is none. */
static void slots_build(struct lens_carrier *carrier)
{
	size_t count = 64;

	while (count < carrier->count * 4)
		count *= 2;
	free(carrier->slots);
	carrier->slots = calloc(count, sizeof(*carrier->slots));
	carrier->slot_count = carrier->slots ? count : 0;
	for (size_t i = 0; carrier->slots && i < carrier->count; i++)
		slot_fill(carrier, i);
}

static struct entry *entry_find(const struct lens_carrier *carrier, struct lens_slice key,
				uint32_t hash)
{
	if (carrier->slot_count == 0) {
		for (size_t i = 0; i < carrier->count; i++)
			if (entry_is(&carrier->entries[i], hash, key))
				return &carrier->entries[i];
		return NULL;
	}
	for (size_t slot = hash;; slot++) {
		uint32_t number = carrier->slots[slot & (carrier->slot_count - 1)];

		if (number == 0)
			return NULL;
		if (entry_is(&carrier->entries[number - 1], hash, key))
			return &carrier->entries[number - 1];
	}
}

static int entries_reserve(struct lens_carrier *carrier, size_t more)
{
	size_t capacity = carrier->capacity ? carrier->capacity : 8;
	struct entry *entries;

	while (capacity - carrier->count < more)
		capacity *= 2;
	if (capacity == carrier->capacity)
		return 0;
	entries = reallocarray(carrier->entries, capacity, sizeof(*entries));
	if (!entries)
		return -1;
	carrier->entries = entries;
	carrier->capacity = capacity;
	return 0;
}

int lens_carrier_put(struct lens_carrier *carrier, struct lens_slice key, struct lens_slice value)
{
	uint32_t hash = lens_hash32(key.bytes, key.length);
	struct entry *entry = entry_find(carrier, key, hash);
	const char *kept = text_keep(carrier, value);

	if (!kept)
		return -1;
	if (entry) {
		entry->value = kept;
		return 0;
	}
	if (entries_reserve(carrier, 1) < 0)
		return -1;
	entry = &carrier->entries[carrier->count];
	*entry = (struct entry){ .key = text_keep(carrier, key), .value = kept, .hash = hash };
	if (!entry->key)
		return -1;
	carrier->count++;
	if (carrier->slot_count >= carrier->count * 2)
		slot_fill(carrier, carrier->count - 1);
	else if (carrier->count >= INDEXED_FROM)
		slots_build(carrier);
	return 0;
}

int lens_carrier_reserve(struct lens_carrier *carrier, const char *text)
{
	const char *end = strchrnul(text, ',');
	size_t entries = 1;

	for (; *end; end = strchrnul(end + 1, ','))
		entries++;
	if (!carrier->blocks && block_add(carrier, (size_t)(end - text) + 2) < 0)
		return -1;
	return entries_reserve(carrier, entries);
}

struct lens_carrier *lens_carrier_create(void)
{
	return calloc(1, sizeof(struct lens_carrier));
}

void lens_carrier_destroy(struct lens_carrier *carrier)
{
	int saved = errno;

	if (!carrier)
		return;
	while (carrier->blocks) {
		struct block *next = carrier->blocks->next;

		free(carrier->blocks);
		carrier->blocks = next;
	}
	free(carrier->slots);
	free(carrier->entries);
	free(carrier);
	errno = saved;
}

int lens_carrier_set(struct lens_carrier *carrier, const char *key, const char *value)
{
	return value ? lens_carrier_put(carrier, key_slice(key), string_slice(value)) : 0;
}

int lens_carrier_set_number(struct lens_carrier *carrier, const char *key, int64_t number)
{
	char text[LENS_INT64_TEXT];

	lens_int64_format(text, number);
	return lens_carrier_set(carrier, key, text);
}

int lens_carrier_setf(struct lens_carrier *carrier, const char *key, const char *format, ...)
{
	char brief[128], *value = brief;
	va_list arguments;
	int length, rc;

	va_start(arguments, format);
	length = vsnprintf(brief, sizeof(brief), format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof(brief)) {
		va_start(arguments, format);
		length = vasprintf(&value, format, arguments);
		va_end(arguments);
	}
	if (length < 0)
		return -1;
	rc = lens_carrier_set(carrier, key, value);
	if (value != brief)
		free(value);
	return rc;
}

int lens_carrier_publish(struct lens_carrier *carrier, const char *key, const char *value)
{
	char *repaired;
	int rc;

	if (!value)
		return 0;
	repaired = lens_value_dup(value);
	rc = repaired ? lens_carrier_set(carrier, key, repaired) : -1;
	free(repaired);
	return rc;
}

const char *lens_carrier_get(const struct lens_carrier *carrier, const char *key)
{
	struct lens_slice wanted = key_slice(key);
	const struct entry *entry =
		entry_find(carrier, wanted, lens_hash32(wanted.bytes, wanted.length));

	return entry ? entry->value : NULL;
}

bool lens_carrier_remove(struct lens_carrier *carrier, const char *key)
{
	struct lens_slice wanted = key_slice(key);
	struct entry *entry = entry_find(carrier, wanted, lens_hash32(wanted.bytes, wanted.length));
	size_t index;

	if (!entry)
		return false;
	index = (size_t)(entry - carrier->entries);
	carrier->count--;
	memmove(entry, entry + 1, (carrier->count - index) * sizeof(*entry));
	carrier->slot_count = 0; /* its numbers no longer hold; the next put makes it anew */
	return true;
}

size_t lens_carrier_count(const struct lens_carrier *carrier)
{
	return carrier->count;
}

const char *lens_carrier_key(const struct lens_carrier *carrier, size_t index)
{
	return carrier->entries[index].key;
}

const char *lens_carrier_value(const struct lens_carrier *carrier, size_t index)
{
	return carrier->entries[index].value;
}

int lens_carrier_merge(struct lens_carrier *carrier, const struct lens_carrier *from)
{
	for (size_t i = 0; i < from->count; i++)
		if (lens_carrier_set(carrier, from->entries[i].key, from->entries[i].value) < 0)
			return -1;
	return 0;
}

struct lens_carrier *lens_carrier_compose(const struct lens_carrier *defaults,
					  const struct lens_carrier *current,
					  const struct lens_carrier *overrides)
{
	const struct lens_carrier *layers[] = { defaults, current, overrides };
	struct lens_carrier *composed = lens_carrier_create();

	for (size_t layer = 0; composed && layer < 3; layer++) {
		if (layers[layer] && lens_carrier_merge(composed, layers[layer]) < 0) {
			lens_carrier_destroy(composed);
			return NULL;
		}
	}
	return composed;
}
