/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_CLIENT_H
#define LENS_OTLP_CLIENT_H

#include "lib/otlp/answer.h"
#include "lib/otlp/endpoint.h"
#include "lib/otlp/exporter.h"

/*
 * Posts bytes to one place by libcurl, over one kept connection, HTTP/1.1 or for GRPC HTTP/2.
 * It goes where the endpoint says and nowhere else: no redirect, no proxy but the
 * settings', no .netrc. The process ignores SIGPIPE (a TLS connection closed by the peer may
 * raise it). Not for several threads at once.
 */
#define LENS_CLIENT_TIMEOUT_DEFAULT 10000u /* ms, for a timeout_ms of 0 */

struct lens_client;

/*
 * ENDPOINT is borrowed and outlives the client; of SETTINGS nothing is. NULL with ERR
 * naming the setting at fault.
 */
struct lens_client *lens_client_create(const struct lens_exporter_settings *settings,
				       const struct lens_endpoint *endpoint,
				       struct lens_error *err);
void lens_client_destroy(struct lens_client *client);

unsigned int lens_client_timeout_ms(const struct lens_client *client);

/* Posts BYTES and waits for the ANSWER; the caller has it initialised and clears it. */
void lens_client_post(struct lens_client *client, const char *bytes, size_t length,
		      struct lens_answer *answer);

/* Takes out of MESSAGE what the server may have repeated of the client's secrets. */
void lens_client_redact(const struct lens_client *client, char *message);

#endif
