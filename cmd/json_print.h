/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_JSON_PRINT_H
#define LENS_CMD_JSON_PRINT_H

#include <json-c/json.h>

/* Puts ROOT, which it releases, on standard output, with a newline behind it; FLAGS are those of
 * json_object_to_json_string_ext. 0, or -1: no memory. */
int json_print(struct json_object *root, int flags);

#endif
