/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_CONFIG_H
#define LENS_CORE_CONFIG_H

#include "lib/core/choice.h"
#include "lib/core/error.h"
#include "lib/core/ranks.h"
#include "lib/core/strategy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lens_when {
	LENS_WHEN_OPTIN,
	LENS_WHEN_ALWAYS,
	LENS_WHEN_NEVER,
};

enum lens_agent_mode {
	LENS_AGENT_AUTO,     /* the plugin starts it */
	LENS_AGENT_EXTERNAL, /* somebody else does, systemd say */
	LENS_AGENT_OFF,
};

/* How a task that does not export is told. */
enum lens_gate {
	LENS_GATE_LENS, /* NEMO_LENS_ENABLED=0 */
	LENS_GATE_OTEL, /* and OTEL_SDK_DISABLED=true */
};

enum lens_protocol {
	LENS_PROTOCOL_GRPC,
	LENS_PROTOCOL_HTTP_PROTOBUF,
	LENS_PROTOCOL_HTTP_JSON,
	LENS_PROTOCOL_FILE,
};

/*
 * The site's settings: built-in defaults, then plugstack arguments, then lens.conf.
 * Strings are never NULL ("" is not set) and belong to the struct.
 */
struct lens_config {
	enum lens_when inject;                /* Inject: optin */
	enum lens_when job_spans;             /* JobSpans: optin */
	struct lens_strategy_choice strategy; /* Strategy, ExportRank, SampleRate */
	bool strategy_set;                    /* somebody chose one */
	enum lens_ranks ranks;                /* Ranks: auto */
	enum lens_outer outer;                /* Traceparent: link */
	enum lens_gate gate;                  /* Gate: lens */
	char *span_groups;                    /* SpanGroups */
	char *attributes;            /* Attributes: extra resource attributes, carrier format */
	char *task_service_name;     /* TaskServiceName */
	char *task_endpoint;         /* TaskEndpoint: where tasks export; never the agent */
	char *endpoint;              /* Endpoint: where the agent exports */
	enum lens_protocol protocol; /* Protocol: http/protobuf with an Endpoint, else file */
	bool protocol_set;
	char *file;              /* File: /var/log/slurm-lens/traces.jsonl */
	unsigned int timeout_ms; /* Timeout, milliseconds: 10000 */
	bool gzip;               /* Compression: none, or gzip */
	char *proxy;             /* Proxy: a URL; "" none */
	/* Files of secrets, for the agent alone to open; "" none. */
	char *headers_file;            /* HeadersFile */
	char *certificate_file;        /* CertificateFile: authorities in place of the system's */
	char *client_certificate_file; /* ClientCertificateFile */
	char *client_key_file;         /* ClientKeyFile */
	char *state_dir;               /* StateDir: /var/spool/slurm-lens */
	uint64_t max_notes;            /* MaxNotes: 10000 */
	uint64_t max_spool;            /* MaxSpool, bytes: 256M */
	enum lens_agent_mode agent;    /* Agent: auto */
	char *agent_path;              /* AgentPath */
	char *agent_user;              /* AgentUser, who talks to the receiver: nobody */
	char *service_name;            /* ServiceName of lens's own spans: slurm */
	char *environment;        /* Environment: deployment.environment of jobs that name none */
	char *realm;              /* Realm */
	unsigned int problem_max; /* lines of lens.conf that are reported one by one: 10 */
	char *config_path;        /* the lens.conf that was read or looked for; "" none */
	bool incomplete; /* something could not be taken in: memory, descriptors or the disk failed */
	/* The plugstack arguments other than config=, as they were given, for the agent. */
	char **arguments;
	size_t argument_count;
};

struct lens_config *lens_config_create(void); /* the defaults; NULL: no memory */
void lens_config_destroy(struct lens_config *config);

/*
 * The file NAME beside slurm.conf, whose place Slurm hands on in SLURM_CONF when it is not the
 * built-in one (a relative one counts as none). The caller frees; NULL: no memory.
 */
char *lens_config_path_beside(const char *name);

/* Where lens.conf is when nobody names it: beside slurm.conf. The caller frees; NULL: no memory. */
char *lens_config_default_path(void);

/* Called for each thing that is wrong; the text names the key and file:line or says
 * `plugstack.conf`. The rest of the settings stand. */
typedef void lens_config_problem_fn(void *context, const char *text);

/*
 * Sets KEY (any case) to VALUE. 0, or -1 with ERR saying the key, the value and what it
 * takes; CONFIG is then unchanged.
 */
int lens_config_set(struct lens_config *config, const char *key, const char *value,
		    struct lens_error *err);

/*
 * Reads plugstack's arguments (`Key=Value`, and `config=PATH`), then lens.conf: PATH, or
 * DEFAULT_PATH, which may be missing (NULL: none) while a PATH that was named may not.
 * lens.conf beats an argument. Every problem goes to PROBLEM (may be NULL). A file that
 * cannot be read, is no regular file, or is larger than 1 MiB is one problem.
 * 0, or -1 when there was any problem; CONFIG is usable either way.
 */
int lens_config_load(struct lens_config *config, int argument_count, char *const *arguments,
		     const char *default_path, lens_config_problem_fn *problem, void *context);

/* The protocol in force: Protocol when it was set, else by whether there is an Endpoint. */
enum lens_protocol lens_config_protocol(const struct lens_config *config);

/* As Protocol has it: `grpc`, `http/protobuf`, `http/json`, `file`. */
const char *lens_protocol_name(enum lens_protocol protocol);

#endif
