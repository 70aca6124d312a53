/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/process_name.h"

#include <stdio.h>
#include <string.h>

void process_name(char out[PROCESS_NAME], pid_t pid)
{
	char path[64];
	FILE *file;

	out[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fgets(out, PROCESS_NAME, file) == NULL)
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	fclose(file);
}
