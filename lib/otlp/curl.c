/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/curl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct lens_curl lens_curl;

/* The library's names: its own, and Debian's for the one with GnuTLS, where that alone is installed. */
static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define FUNCTION(name) { "curl_" #name, offsetof(struct lens_curl, name) },
	LENS_CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static int functions_find(void *library, struct lens_error *err)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return lens_error_set(err, "Endpoint: libcurl is too old: it has no %s",
					      functions[i].name);
		/* C knows no other way from a pointer to an object to one to a function. */
		memcpy((char *)&lens_curl + functions[i].offset, &function, sizeof(function));
	}
	return 0;
}

int lens_curl_load(struct lens_error *err)
{
	static bool loaded;
	void *library = NULL;
	char why[256] = "";

	if (loaded)
		return 0;
	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++) {
		library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
		if (!library && i == 0)
			snprintf(why, sizeof(why), "%s", dlerror());
	}
	if (!library)
		return lens_error_set(err,
				      "Endpoint: libcurl is needed for it: %s (Debian's package is "
				      "libcurl4, elsewhere libcurl)",
				      why);
	if (functions_find(library, err) < 0)
		return -1;
	loaded = true;
	return 0;
}

const char *lens_curl_words(CURLcode code)
{
	return lens_curl_load(NULL) == 0 ? lens_curl.easy_strerror(code)
					 : "libcurl cannot be loaded";
}
