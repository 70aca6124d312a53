/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/check.h"

#include "cmd/json_print.h"
#include "lib/core/encoding.h"
#include "lib/core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {
	[CHECK_OK] = "ok",
	[CHECK_WARNING] = "warning",
	[CHECK_FAIL] = "fail",
};

/* The formatted text on one line, whatever a file's name or a server's answer holds. */
static char *text_format(const char *format, va_list arguments)
	__attribute__((format(printf, 1, 0)));

static char *text_format(const char *format, va_list arguments)
{
	struct lens_text repaired = LENS_TEXT_INIT;
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		return NULL;
	lens_utf8_add(&repaired, text, strlen(text));
	free(text);
	text = lens_text_take(&repaired);
	for (unsigned char *byte = (unsigned char *)text; byte != NULL && *byte != '\0'; byte++) {
		if (*byte < ' ' || *byte == 0x7f)
			*byte = '?';
	}
	return text;
}

void check_add(struct check *check, enum check_level level, const char *name, const char *format,
	       ...)
{
	struct check_rows *rows = &check->rows;
	struct check_row *longer = reallocarray(rows->rows, rows->count + 1, sizeof(*rows->rows));
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = text_format(format, arguments);
	va_end(arguments);
	if (longer != NULL)
		rows->rows = longer;
	if (longer == NULL || text == NULL) {
		rows->failed = true;
		free(text);
		return;
	}
	longer[rows->count++] = (struct check_row){ .level = level, .name = name, .text = text };
}

void check_remedy(struct check *check, const char *format, ...)
{
	struct check_rows *rows = &check->rows;
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = text_format(format, arguments);
	va_end(arguments);
	if (text == NULL || rows->count == 0) {
		rows->failed = true;
		free(text);
		return;
	}
	free(rows->rows[rows->count - 1].remedy);
	rows->rows[rows->count - 1].remedy = text;
}

size_t check_count(const struct check_rows *rows, enum check_level level)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += rows->rows[i].level == level;
	return count;
}

void check_rows_show(const struct check_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct check_row *row = &rows->rows[i];

		printf("%-8s %-11s %s\n", level_names[row->level], row->name, row->text);
		if (row->remedy != NULL)
			printf("%-8s %-11s -> %s\n", "", "", row->remedy);
	}
	printf("\n%zu ok, %zu warnings, %zu fail\n", check_count(rows, CHECK_OK),
	       check_count(rows, CHECK_WARNING), check_count(rows, CHECK_FAIL));
}

static struct json_object *row_json(const struct check_row *row)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "status", json_object_new_string(level_names[row->level]));
	json_object_object_add(object, "check", json_object_new_string(row->name));
	json_object_object_add(object, "text", json_object_new_string(row->text));
	json_object_object_add(object, "remedy",
			       row->remedy != NULL ? json_object_new_string(row->remedy) : NULL);
	return object;
}

int check_rows_show_json(const struct check_rows *rows)
{
	static const char *const keys[] = { "ok", "warnings", "fail" };
	struct json_object *root = json_object_new_object();
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < rows->count; i++)
		json_object_array_add(list, row_json(&rows->rows[i]));
	json_object_object_add(root, "rows", list);
	for (int level = CHECK_OK; level <= CHECK_FAIL; level++)
		json_object_object_add(
			root, keys[level],
			json_object_new_uint64(check_count(rows, (enum check_level)level)));
	return json_print(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
}

void check_rows_clear(struct check_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->rows[i].text);
		free(rows->rows[i].remedy);
	}
	free(rows->rows);
	*rows = (struct check_rows){ 0 };
}
