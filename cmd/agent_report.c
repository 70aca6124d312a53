/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/agent_report.h"

#include "lib/otlp/endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PUBLISH_MS 1000
#define RETRY_MS   60000

void agent_report_begin(struct agent_report *report)
{
	struct lens_status *status = &report->status;

	snprintf(status->version, sizeof(status->version), "%s", PACKAGE_VERSION);
	status->pid = (uint32_t)getpid();
	status->started = (int64_t)time(NULL);
	report->changed = true;
}

void agent_report_receiver(struct agent_report *report, const struct lens_config *config)
{
	enum lens_protocol protocol = lens_config_protocol(config);
	struct lens_status *status = &report->status;
	char *shown = protocol == LENS_PROTOCOL_FILE ? strdup(config->file)
						     : lens_endpoint_redact(config->endpoint);

	snprintf(status->protocol, sizeof(status->protocol), "%s", lens_protocol_name(protocol));
	snprintf(status->receiver, sizeof(status->receiver), "%s", shown != NULL ? shown : "");
	free(shown);
	report->changed = true;
}

void agent_report_sender(struct agent_report *report, pid_t sender)
{
	if (report->status.sender == (uint32_t)sender)
		return;
	report->status.sender = (uint32_t)sender;
	report->changed = true;
}

static void failed(struct agent_report *report, const char *text, bool fault)
{
	struct lens_status *status = &report->status;

	snprintf(status->error, sizeof(status->error), "%s", text);
	status->error_at = (int64_t)time(NULL);
	if (status->failing_since == 0)
		status->failing_since = status->error_at;
	report->fault = fault;
	report->changed = true;
}

static void lost(struct agent_report *report, uint64_t spans, const char *why)
{
	struct lens_status *status = &report->status;

	if (spans == 0)
		return;
	status->dropped += spans;
	status->dropped_at = (int64_t)time(NULL);
	snprintf(status->dropped_why, sizeof(status->dropped_why), "%s", why);
	report->changed = true;
}

void agent_report_result(struct agent_report *report, const struct lens_backlog_result *result)
{
	struct lens_status *status = &report->status;

	status->sent += result->sent;
	lost(report, result->dropped, result->message);
	lost(report, result->capped, "more waited on this node than MaxSpool allows");
	if (result->sent > 0)
		status->sent_at = (int64_t)time(NULL);
	if (result->sent + result->dropped > 0) {
		status->failing_since = 0;
		report->changed = true;
	}
	if (result->refused) {
		status->retried++;
		failed(report, result->message, false);
	}
}

void agent_report_fault(struct agent_report *report, const char *text)
{
	failed(report, text, true);
}

void agent_report_able(struct agent_report *report)
{
	if (!report->fault)
		return;
	report->fault = false;
	report->status.failing_since = 0;
	report->changed = true;
}

void agent_report_publish(struct agent_report *report, int directory, int64_t now_ms,
			  int64_t *timeout_ms)
{
	if (!report->changed)
		return;
	if (now_ms != -1 && now_ms < report->next_ms) {
		if (timeout_ms != NULL &&
		    (*timeout_ms == -1 || report->next_ms - now_ms < *timeout_ms))
			*timeout_ms = report->next_ms - now_ms;
		return;
	}
	/* A disk that is full is no reason to stop. */
	report->changed = lens_status_write(directory, &report->status, NULL) != 0;
	report->next_ms = now_ms + (report->changed ? RETRY_MS : PUBLISH_MS);
}
