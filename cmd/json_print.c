/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/json_print.h"

#include <stdio.h>

int json_print(struct json_object *root, int flags)
{
	const char *text = root != NULL ? json_object_to_json_string_ext(root, flags) : NULL;

	if (text != NULL)
		puts(text);
	json_object_put(root);
	return text != NULL ? 0 : -1;
}
