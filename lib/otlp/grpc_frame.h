/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_GRPC_FRAME_H
#define LENS_OTLP_GRPC_FRAME_H

#include "lib/core/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The one message of a call in its frame (gRPC over HTTP/2, Length-Prefixed-Message): a
 * byte that says whether it is compressed, its length in four, most significant first.
 */
#define LENS_GRPC_FRAME_HEAD 5

/* The head of the frame of LENGTH bytes. */
void lens_grpc_frame_head(char out[LENS_GRPC_FRAME_HEAD], bool compressed, uint32_t length);

/* Finds the message in an answer of exactly one frame that is not compressed (which no
 * request asks for). 0, or -1. */
int lens_grpc_frame_open(const char *frame, size_t frame_length, const uint8_t **message,
			 size_t *length);

#endif
