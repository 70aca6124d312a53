/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_CURL_H
#define LENS_OTLP_CURL_H

#include "lib/core/error.h"

#include <curl/curl.h>

/*
 * libcurl, loaded by the process that needs it when it does: with all that it needs itself (TLS,
 * Kerberos, LDAP) it is most of what a process would take of memory and of time to start. So the
 * agent's root process has none of it, nor have the subcommands that send nothing.
 *
 * libcurl's functions without their `curl_`; they hold once lens_curl_load returned 0. The header's
 * checks of types are those of macros, which are not used: numbers that are passed to easy_setopt
 * must be long.
 */
#define LENS_CURL_FUNCTIONS(X) \
	X(easy_cleanup)        \
	X(easy_getinfo)        \
	X(easy_init)           \
	X(easy_setopt)         \
	X(easy_strerror)       \
	X(free)                \
	X(global_cleanup)      \
	X(global_init)         \
	X(multi_add_handle)    \
	X(multi_cleanup)       \
	X(multi_info_read)     \
	X(multi_init)          \
	X(multi_perform)       \
	X(multi_poll)          \
	X(multi_remove_handle) \
	X(slist_append)        \
	X(slist_free_all)      \
	X(url)                 \
	X(url_cleanup)         \
	X(url_get)             \
	X(url_set)             \
	X(version)

struct lens_curl {
#define LENS_CURL_MEMBER(name) __typeof__(curl_##name) *name;
	LENS_CURL_FUNCTIONS(LENS_CURL_MEMBER)
#undef LENS_CURL_MEMBER
};

extern struct lens_curl lens_curl;

/* Loads it, once for the process; it stays. 0, or -1 with ERR. */
int lens_curl_load(struct lens_error *err);

/* What CODE means, in libcurl's words; loads it. Static. */
const char *lens_curl_words(CURLcode code);

#endif
