/* SPDX-License-Identifier: Apache-2.0 */
/* compare TABLE RELEASE SCENARIO LOGS: what a real Slurm answered the probe, against the table. */
#include "tests/spankhost/quirks.h"

int main(int argc, char **argv)
{
	size_t rows = 0;
	int differences;

	if (argc != 5) {
		fprintf(stderr, "usage: %s TABLE RELEASE SCENARIO LOGS\n", argv[0]);
		return 2;
	}
	differences = quirks_compare(argv[1], argv[2], argv[3], argv[4], true, &rows, stdout);
	if (differences >= 0)
		printf("%zu rows, %d differences\n", rows, differences);
	return differences == 0 ? 0 : 1;
}
