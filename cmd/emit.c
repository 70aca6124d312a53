/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/emit.h"

#include "cmd/command.h"
#include "lib/core/random_id.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
	"Usage: slurm-lens emit [OPTION...] --span NAME,START,END[,PARENT] ...\n"
	"       slurm-lens emit [OPTION...] -- COMMAND [ARGUMENT...]\n"
	"\n"
	"Sends spans of your own: from intervals that you measured, all of them or none; or one\n"
	"around a command, whose exit status it passes on. They go into the trace of TRACEPARENT\n"
	"where there is one, else into a new one.\n"
	"\n"
	"  --service NAME          service.name (else OTEL_SERVICE_NAME)\n"
	"  --span NAME,START,END[,PARENT]\n"
	"                          a span, below the one with the name PARENT; times: seconds\n"
	"                          since 1970 (1700000000.25), RFC 3339\n"
	"                          (2026-11-30T12:00:00.25Z) or now\n"
	"  --file FILE             more spans, a JSON object a line (-: standard input): name,\n"
	"                          start, end, and parent, kind, status, message, attributes\n"
	"  --name NAME             of the command's span (else the command's)\n"
	"  --attr KEY=VALUE        an attribute of each span\n"
	"  --span-attr NAME:KEY=VALUE\n"
	"                          an attribute of one\n"
	"  --kind KIND             internal (the default), server, client, producer, consumer\n"
	"  --status STATUS         of each span: unset, ok, error or error:MESSAGE\n"
	"  --span-status NAME:STATUS\n"
	"                          of one\n"
	"  --command-args          the command's arguments are an attribute (no secret in them?)\n"
	"  --timeout MS            how long to try to send: OTEL_EXPORTER_OTLP_TIMEOUT, else\n"
	"                          10000, and after a command 2000 at most; 0: no limit\n"
	"  --dry-run               send nothing, say what would be sent, as a line of OTLP/JSON\n"
	"  -v, --verbose           say what was sent, or why nothing was\n"
	"  --help                  say this\n"
	"\n"
	"The variables of OpenTelemetry say where to: OTEL_EXPORTER_OTLP_ENDPOINT and the like,\n"
	"OTEL_TRACES_EXPORTER, OTEL_RESOURCE_ATTRIBUTES. NEMO_LENS_EXPORTER=console prints.\n"
	"Nothing is sent with NEMO_LENS_ENABLED=0 or OTEL_SDK_DISABLED=true.\n"
	"\n"
	"Exit status: 0 the spans were taken, or nothing was to be sent; 1 they are not valid,\n"
	"were refused or did not arrive; 2 usage or environment. With a command its own, 128+N\n"
	"when signal N ended it, 126 or 127 when it cannot be run; what becomes of its span\n"
	"never changes it.\n";

void emit_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("slurm-lens emit: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

struct lens_span_id *emit_ids(size_t count)
{
	struct lens_span_id *ids = calloc(count + 1, sizeof(*ids));

	if (ids == NULL) {
		emit_say("out of memory");
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		if (lens_span_id_random(&ids[i]) == -1) {
			emit_say("no random numbers: %m");
			free(ids);
			return NULL;
		}
	}
	return ids;
}

int emit_attribute_set(struct lens_interval *interval, const char *text, bool replace)
{
	const char *equals = strchr(text, '=');
	char *key = equals != NULL && equals > text ? strndup(text, (size_t)(equals - text)) : NULL;
	int rc = 0;

	if (key == NULL)
		return -1;
	if (replace || !json_object_object_get_ex(interval->attributes, key, NULL))
		rc = lens_interval_attribute(interval, key, equals + 1);
	free(key);
	return rc;
}

int lens_emit_main(int argc, char **argv)
{
	struct emit_options options;
	int status = LENS_EXIT_ENVIRONMENT;

	if (emit_options_parse(&options, argc, argv) == -1)
		goto out;
	if (options.common.help) {
		fputs(help_text, stdout);
		status = LENS_EXIT_OK;
	} else {
		status = options.command != NULL ? emit_command(&options) : emit_spans(&options);
	}
out:
	emit_options_clear(&options);
	return status;
}
