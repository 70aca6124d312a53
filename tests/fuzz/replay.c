/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for libFuzzer in make check: each file of the corpus once, as TAP. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>

#define INPUT_MAX (1024 * 1024)

static void replay(const char *path)
{
	FILE *file = fopen(path, "r");
	uint8_t *data = malloc(INPUT_MAX);
	size_t size;

	must(file != NULL && data != NULL);
	size = fread(data, 1, INPUT_MAX, file);
	must(!ferror(file));
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
}

int main(int argc, char **argv)
{
	const char *source = getenv("LENS_TEST_SRCDIR");
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];
	struct dirent **entries;
	char corpus[512], path[1024];
	int count, played = 0;

	(void)argc;
	name += strncmp(name, "fuzz_", strlen("fuzz_")) == 0 ? strlen("fuzz_") : 0;
	snprintf(corpus, sizeof(corpus), "%s/tests/fuzz/corpus/%s", source ? source : ".", name);
	count = scandir(corpus, &entries, NULL, alphasort);
	must(count > 0);
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", corpus, entries[i]->d_name);
			replay(path);
			printf("ok %d - %s\n", ++played, entries[i]->d_name);
		}
		free(entries[i]);
	}
	free(entries);
	printf("1..%d\n", played);
	return played > 0 ? 0 : 1;
}
