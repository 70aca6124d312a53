/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_html.h"

#include "cmd/command.h"
#include "cmd/show_page.h"
#include "cmd/show_words.h"
#include "lib/core/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the marks in show_page.html stand for: `@STYLE@` and so on, and no other `@` is in it. */
struct parts {
	struct lens_text style, script;
};

static void base64_add(struct lens_text *out, const uint8_t *bytes, size_t length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		uint32_t group = (uint32_t)bytes[i] << 16 |
				 (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (left > 2 ? (uint32_t)bytes[i + 2] : 0);
		char text[4] = { digits[group >> 18], digits[(group >> 12) & 63],
				 left > 1 ? digits[(group >> 6) & 63] : '=',
				 left > 2 ? digits[group & 63] : '=' };

		lens_text_add(out, text, sizeof(text));
	}
}

/* 'sha256-...' of TEXT. */
static void source_add(struct lens_text *out, const struct lens_text *text)
{
	uint8_t digest[LENS_SHA256_BYTES];

	lens_sha256(digest, text->data, text->length);
	lens_text_adds(out, "'sha256-");
	base64_add(out, digest, sizeof(digest));
	lens_text_adds(out, "'");
}

/* Nothing is loaded; the page's own script and style are known by their hash, so that none that
 * a span's name might bring is run. */
static void policy_add(struct lens_text *out, const struct parts *parts)
{
	lens_text_adds(out, "default-src 'none'; base-uri 'none'; form-action 'none'; script-src ");
	source_add(out, &parts->script);
	lens_text_adds(out, "; style-src ");
	source_add(out, &parts->style);
}

static void escaped_add(struct lens_text *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (strchr("<>&\"'", *text) != NULL)
			lens_text_addf(out, "&#%d;", *text);
		else
			lens_text_add(out, text, 1);
	}
}

static void title_add(struct lens_text *out, const struct show_picture *picture)
{
	struct lens_text text = LENS_TEXT_INIT;

	show_title_add(&text, picture);
	escaped_add(out, text.data != NULL ? text.data : "");
	lens_text_clear(&text);
}

/* What stands for the mark NAME, of LENGTH bytes. */
static void part_add(struct lens_text *out, const struct parts *parts,
		     const struct show_picture *picture, const char *name, size_t length)
{
	if (strncmp(name, "CSP", length) == 0)
		policy_add(out, parts);
	else if (strncmp(name, "TITLE", length) == 0)
		title_add(out, picture);
	else if (strncmp(name, "STYLE", length) == 0)
		lens_text_add(out, parts->style.data, parts->style.length);
	else if (strncmp(name, "SCRIPT", length) == 0)
		lens_text_add(out, parts->script.data, parts->script.length);
	else
		show_data_add(out, picture);
}

void show_html_add(struct lens_text *out, const struct show_picture *picture)
{
	const char *at = (const char *)show_page_html, *mark, *end;
	struct parts parts = { LENS_TEXT_INIT, LENS_TEXT_INIT };

	lens_text_adds(&parts.style, (const char *)show_page_css);
	lens_text_adds(&parts.script, (const char *)show_page_js);
	lens_text_adds(&parts.script, (const char *)show_page_use_js);
	out->failed = out->failed || parts.style.failed || parts.script.failed;
	while (!out->failed && (mark = strchr(at, '@')) != NULL) {
		end = strchr(mark + 1, '@');
		lens_text_add(out, at, (size_t)(mark - at));
		part_add(out, &parts, picture, mark + 1, (size_t)(end - mark - 1));
		at = end + 1;
	}
	lens_text_adds(out, at);
	lens_text_clear(&parts.style);
	lens_text_clear(&parts.script);
}

static int failed(const char *path)
{
	fprintf(stderr, "slurm-lens show: --html %s: %s\n", path, strerror(errno));
	return LENS_EXIT_ENVIRONMENT;
}

/* Over what is there: a device, a pipe. */
static int write_over(const struct lens_text *page, const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
	bool good;

	if (file == NULL)
		return failed(path);
	good = fwrite(page->data, 1, page->length, file) == page->length && fflush(file) == 0;
	if (file != stdout && fclose(file) != 0)
		good = false;
	return good ? LENS_EXIT_OK : failed(path);
}

/* Beside PATH first, then in its place. */
static int write_beside(const struct lens_text *page, const char *path)
{
	struct lens_text name = LENS_TEXT_INIT;
	mode_t mask = umask(0);
	char *beside;
	int fd, status = LENS_EXIT_ENVIRONMENT;
	FILE *file;
	bool good;

	umask(mask);
	lens_text_addf(&name, "%s.XXXXXX", path);
	beside = lens_text_take(&name);
	if (beside == NULL)
		return failed(path);
	fd = mkostemp(beside, O_CLOEXEC);
	file = fd != -1 ? fdopen(fd, "w") : NULL;
	if (file == NULL) {
		free(beside);
		return failed(path);
	}
	good = fchmod(fd, 0666 & ~mask) == 0 &&
	       fwrite(page->data, 1, page->length, file) == page->length;
	if (fclose(file) == 0 && good && rename(beside, path) == 0)
		status = LENS_EXIT_OK;
	else
		failed(path);
	if (status != LENS_EXIT_OK)
		unlink(beside);
	free(beside);
	return status;
}

int show_html_write(const struct show_picture *picture, const char *path)
{
	struct lens_text page = LENS_TEXT_INIT;
	struct stat status;
	int rc;

	show_html_add(&page, picture);
	if (page.failed) {
		fputs("slurm-lens show: out of memory\n", stderr);
		rc = LENS_EXIT_ENVIRONMENT;
	} else if (strcmp(path, "-") == 0 ||
		   (stat(path, &status) == 0 && !S_ISREG(status.st_mode))) {
		rc = write_over(&page, path);
	} else {
		rc = write_beside(&page, path);
	}
	lens_text_clear(&page);
	return rc;
}
