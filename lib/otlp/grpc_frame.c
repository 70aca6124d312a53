/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/grpc_frame.h"

void lens_grpc_frame_head(char out[LENS_GRPC_FRAME_HEAD], bool compressed, uint32_t length)
{
	out[0] = compressed ? 1 : 0;
	for (int i = 4; i > 0; i--, length >>= 8)
		out[i] = (char)(length & 0xff);
}

int lens_grpc_frame_open(const char *frame, size_t frame_length, const uint8_t **message,
			 size_t *length)
{
	uint32_t announced = 0;

	if (frame_length < LENS_GRPC_FRAME_HEAD || frame[0] != 0)
		return -1;
	for (int i = 1; i < LENS_GRPC_FRAME_HEAD; i++)
		announced = announced << 8 | (unsigned char)frame[i];
	if (announced != frame_length - LENS_GRPC_FRAME_HEAD)
		return -1;
	*message = (const uint8_t *)frame + LENS_GRPC_FRAME_HEAD;
	*length = announced;
	return 0;
}
