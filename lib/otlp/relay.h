/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_RELAY_H
#define LENS_OTLP_RELAY_H

#include "lib/core/error.h"
#include "lib/core/text.h"
#include "lib/otlp/exporter.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What a keeper, which has the spans and the secrets, and a sender, which alone talks to the
 * receiver, say to each other: the bodies of frames (lib/core/frame.h) by kind. Integers are
 * in the machine's order. Reading takes nothing for granted: every length is checked against what
 * came, and a body that holds anything else than it should is refused.
 *
 *   keeper                    sender
 *   SETTINGS             ->
 *                        <-   READY, or FAULT and it ends
 *   REQUEST              ->
 *                        <-   RESULT
 */
enum lens_relay_kind {
	LENS_RELAY_SETTINGS = 1, /* lens_relay_settings_* */
	LENS_RELAY_REQUEST,      /* a number, then the bytes to post */
	LENS_RELAY_READY,        /* empty */
	LENS_RELAY_FAULT,        /* lens_relay_text_read: what is wrong with the settings */
	LENS_RELAY_RESULT,       /* lens_relay_result_* */
};

/* The largest bodies that either end takes, in bytes. */
#define LENS_RELAY_TO_SENDER_MAX ((size_t)80 * 1024 * 1024)
#define LENS_RELAY_TO_KEEPER_MAX 1024u

/* More spans than a request can have: a receiver's count beyond it is its error. */
#define LENS_RELAY_REJECTED_MAX (1024u * 1024)

#define LENS_RELAY_REQUEST_HEAD 4 /* bytes before those to post: uint32_t, the number */

/* SETTINGS' callback is left out. 0, or -1: no memory. */
int lens_relay_settings_write(struct lens_text *out, const struct lens_exporter_settings *settings);
/*
 * OUT's texts and blobs lie in BODY, which it must outlive; callback and file are unset. 0, or -1
 * with ERR.
 */
int lens_relay_settings_read(struct lens_exporter_settings *out, const char *body, size_t length,
			     struct lens_error *err);

int lens_relay_result_write(struct lens_text *out, uint32_t number,
			    const struct lens_export_result *result);
/* The message is made printable, times and counts are bounded. 0, or -1 when it is none. */
int lens_relay_result_read(struct lens_export_result *out, uint32_t *number, const char *body,
			   size_t length);

/* BODY as printable text of at most SIZE - 1 bytes. */
void lens_relay_text_read(char *out, size_t size, const char *body, size_t length);

#endif
