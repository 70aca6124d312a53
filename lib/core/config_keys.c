/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/config.h"
#include "lib/core/choice.h"
#include "lib/core/number.h"
#include "lib/core/show.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TIMEOUT_MAX_MS 3600000
#define NOTES_MAX      1000000
#define SPOOL_MIN      (64 * 1024) /* bytes: room for a few files */

/* Sets a field; 0, -1 when the value is none, -2 when memory ran out. */
typedef int set_fn(struct lens_config *config, void *field, const char *value);

static int set_string(struct lens_config *config, void *field, const char *value)
{
	char **string = field, *copy;

	(void)config;
	if (!lens_value_printable(value))
		return -1;
	copy = strdup(value);
	if (copy == NULL)
		return -2;
	free(*string);
	*string = copy;
	return 0;
}

static int set_name(struct lens_config *config, void *field, const char *value)
{
	return *value != '\0' ? set_string(config, field, value) : -1;
}

static int set_path(struct lens_config *config, void *field, const char *value)
{
	return *value == '/' ? set_string(config, field, value) : -1;
}

static int set_path_or_none(struct lens_config *config, void *field, const char *value)
{
	return *value == '\0' ? set_string(config, field, value) : set_path(config, field, value);
}

static int set_url(struct lens_config *config, void *field, const char *value)
{
	return *value == '\0' || lens_url_valid(value) ? set_string(config, field, value) : -1;
}

static int set_attributes(struct lens_config *config, void *field, const char *value)
{
	return *value == '\0' || lens_attributes_valid(value) ? set_string(config, field, value)
							      : -1;
}

static int set_groups(struct lens_config *config, void *field, const char *value)
{
	return *value == '\0' || lens_groups_valid(value) ? set_string(config, field, value) : -1;
}

/* The index of VALUE, in any case, in the NULL-ended WORDS; -1 when it is none. */
static int find_word(const char *value, const char *const *words)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcasecmp(value, words[i]) == 0)
			return i;
	return -1;
}

static int set_when(struct lens_config *config, void *field, const char *value)
{
	static const char *const words[] = { "optin", "always", "never", NULL };
	int index = find_word(value, words);

	(void)config;
	if (index < 0)
		return -1;
	*(enum lens_when *)field = (enum lens_when)index;
	return 0;
}

static int set_agent(struct lens_config *config, void *field, const char *value)
{
	static const char *const words[] = { "auto", "external", "off", NULL };
	int index = find_word(value, words);

	(void)config;
	if (index < 0)
		return -1;
	*(enum lens_agent_mode *)field = (enum lens_agent_mode)index;
	return 0;
}

static int set_gate(struct lens_config *config, void *field, const char *value)
{
	static const char *const words[] = { "lens", "otel", NULL };
	int index = find_word(value, words);

	(void)config;
	if (index < 0)
		return -1;
	*(enum lens_gate *)field = (enum lens_gate)index;
	return 0;
}

static int set_ranks(struct lens_config *config, void *field, const char *value)
{
	(void)config;
	return lens_ranks_parse(value, field);
}

static int set_outer(struct lens_config *config, void *field, const char *value)
{
	(void)config;
	return lens_outer_parse(value, field);
}

static const char *const protocol_names[] = {
	[LENS_PROTOCOL_GRPC] = "grpc",
	[LENS_PROTOCOL_HTTP_PROTOBUF] = "http/protobuf",
	[LENS_PROTOCOL_HTTP_JSON] = "http/json",
	[LENS_PROTOCOL_FILE] = "file",
	NULL,
};

const char *lens_protocol_name(enum lens_protocol protocol)
{
	return protocol_names[protocol];
}

static int set_protocol(struct lens_config *config, void *field, const char *value)
{
	int index = find_word(value, protocol_names);

	if (index < 0)
		return -1;
	*(enum lens_protocol *)field = (enum lens_protocol)index;
	config->protocol_set = true;
	return 0;
}

static int set_compression(struct lens_config *config, void *field, const char *value)
{
	static const char *const words[] = { "none", "gzip", NULL };
	int index = find_word(value, words);

	(void)config;
	if (index < 0)
		return -1;
	*(bool *)field = index == 1;
	return 0;
}

static int set_strategy(struct lens_config *config, void *field, const char *value)
{
	if (lens_strategy_parse(value, field) != 0)
		return -1;
	config->strategy_set = true;
	return 0;
}

static int set_rank(struct lens_config *config, void *field, const char *value)
{
	(void)config;
	return lens_strategy_rank_parse(value, field);
}

static int set_rate(struct lens_config *config, void *field, const char *value)
{
	(void)config;
	return lens_rate_parse(value, field);
}

static int set_timeout(struct lens_config *config, void *field, const char *value)
{
	uint32_t number;

	(void)config;
	if (lens_uint32_parse(value, &number) != 0 || number < 1 || number > TIMEOUT_MAX_MS)
		return -1;
	*(unsigned int *)field = number;
	return 0;
}

static int set_max_spool(struct lens_config *config, void *field, const char *value)
{
	uint64_t bytes;

	(void)config;
	if (lens_size_parse(value, &bytes) != 0 || bytes < SPOOL_MIN)
		return -1;
	*(uint64_t *)field = bytes;
	return 0;
}

static int set_max_notes(struct lens_config *config, void *field, const char *value)
{
	uint64_t number;

	(void)config;
	if (lens_uint64_parse(value, &number) != 0 || number < 1 || number > NOTES_MAX)
		return -1;
	*(uint64_t *)field = number;
	return 0;
}

#define TEXT(n)   #n
#define NUMBER(n) TEXT(n)
#define FIELD(f)  offsetof(struct lens_config, f)

static const char takes_text[] = "text without control characters";
static const char takes_path[] = "an absolute path";
static const char takes_when[] = "optin, always or never";

static const struct key {
	const char *name;
	size_t offset;
	set_fn *set;
	const char *takes;
} keys[] = {
	{ "Inject", FIELD(inject), set_when, takes_when },
	{ "JobSpans", FIELD(job_spans), set_when, takes_when },
	{ "Strategy", FIELD(strategy.strategy), set_strategy, LENS_TAKES_STRATEGY },
	{ "ExportRank", FIELD(strategy.rank), set_rank, LENS_TAKES_RANK },
	{ "SampleRate", FIELD(strategy.rate), set_rate, LENS_TAKES_RATE },
	{ "Ranks", FIELD(ranks), set_ranks, LENS_TAKES_RANKS },
	{ "SpanGroups", FIELD(span_groups), set_groups, LENS_TAKES_GROUPS },
	{ "Traceparent", FIELD(outer), set_outer, LENS_TAKES_OUTER },
	{ "Gate", FIELD(gate), set_gate, "lens or otel" },
	{ "Attributes", FIELD(attributes), set_attributes, LENS_TAKES_ATTRIBUTES },
	{ "TaskServiceName", FIELD(task_service_name), set_string, takes_text },
	{ "TaskEndpoint", FIELD(task_endpoint), set_url, LENS_TAKES_URL },
	{ "Endpoint", FIELD(endpoint), set_url, LENS_TAKES_URL },
	{ "Protocol", FIELD(protocol), set_protocol, "grpc, http/protobuf, http/json or file" },
	{ "File", FIELD(file), set_path, takes_path },
	{ "Timeout", FIELD(timeout_ms), set_timeout,
	  "milliseconds from 1 to " NUMBER(TIMEOUT_MAX_MS) },
	{ "Compression", FIELD(gzip), set_compression, "none or gzip" },
	{ "Proxy", FIELD(proxy), set_url, LENS_TAKES_URL },
	{ "HeadersFile", FIELD(headers_file), set_path_or_none, takes_path },
	{ "CertificateFile", FIELD(certificate_file), set_path_or_none, takes_path },
	{ "ClientCertificateFile", FIELD(client_certificate_file), set_path_or_none, takes_path },
	{ "ClientKeyFile", FIELD(client_key_file), set_path_or_none, takes_path },
	{ "StateDir", FIELD(state_dir), set_path, takes_path },
	{ "MaxNotes", FIELD(max_notes), set_max_notes, "a number from 1 to " NUMBER(NOTES_MAX) },
	{ "MaxSpool", FIELD(max_spool), set_max_spool, "bytes from 64K on, with K, M or G" },
	{ "Agent", FIELD(agent), set_agent, "auto, external or off" },
	{ "AgentPath", FIELD(agent_path), set_path, takes_path },
	{ "AgentUser", FIELD(agent_user), set_name, "the name of a user" },
	{ "ServiceName", FIELD(service_name), set_name, takes_text },
	{ "Environment", FIELD(environment), set_string, takes_text },
	{ "Realm", FIELD(realm), set_string, takes_text },
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))
#define KEY_MAX   32 /* longer than any key: a longer text is near none */

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

/* How many characters must be put in, taken out or changed (Levenshtein), in any case. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[KEY_MAX + 1], above, corner;
	size_t length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 0; a[i] != '\0'; i++) {
		corner = row[0]++;
		for (size_t j = 0; j < length; j++) {
			bool same = strncasecmp(&a[i], &b[j], 1) == 0;

			above = row[j + 1];
			row[j + 1] = min3(above + 1, row[j] + 1, corner + !same);
			corner = above;
		}
	}
	return row[length];
}

static const char *nearest_key(const char *name)
{
	const char *nearest = NULL;
	unsigned int least = 3; /* two slips at most */

	if (strlen(name) > KEY_MAX)
		return NULL;
	for (size_t i = 0; i < KEY_COUNT; i++) {
		unsigned int slips = distance(name, keys[i].name);

		if (slips < least && slips < strlen(keys[i].name) / 2) {
			least = slips;
			nearest = keys[i].name;
		}
	}
	return nearest;
}

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (strcasecmp(name, keys[i].name) == 0)
			return &keys[i];
	return NULL;
}

/* A URL may hold a password, which no message repeats. */
static bool may_be_shown(const struct key *key, const char *value)
{
	return key->set != set_url && strstr(value, "://") == NULL && strchr(value, '@') == NULL;
}

static int refuse(const struct key *key, const char *value, struct lens_error *err)
{
	struct lens_shown shown;

	if (!may_be_shown(key, value))
		return lens_error_set(err, "%s: its value is not %s", key->name, key->takes);
	return lens_error_set(err, "%s=%s: not %s", key->name, lens_shown_value(&shown, value),
			      key->takes);
}

int lens_config_set(struct lens_config *config, const char *name, const char *value,
		    struct lens_error *err)
{
	const struct key *key = find_key(name);
	struct lens_shown shown;
	const char *nearest;

	if (key == NULL) {
		nearest = nearest_key(name);
		return lens_error_set(err, "%s is no key of lens%s%s%s",
				      lens_shown_value(&shown, name),
				      nearest != NULL ? ": did you mean " : "",
				      nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
	}
	switch (key->set(config, (char *)config + key->offset, value)) {
	case 0:
		return 0;
	case -1:
		return refuse(key, value, err);
	default:
		config->incomplete = true;
		return lens_error_set(err, "%s: no memory", key->name);
	}
}
