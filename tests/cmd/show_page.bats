#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens show --html: the page, in a browser without a screen.

bats_require_minimum_version 1.5.0

setup_file() {
	local tool
	for tool in chromium chromedriver; do
		command -v $tool >/dev/null || {
			echo "no $tool (Debian: chromium chromium-driver)" >&2
			return 1
		}
	done
	export LC_ALL=C.UTF-8 TZ=UTC
}

setup() {
	LENS=$LENS_TEST_BUILDDIR/slurm-lens
	cd "$BATS_TEST_TMPDIR" || return
}

page() { # KIND [N]: page.html
	python3 "$LENS_TEST_SRCDIR/tests/cmd/show_sample.py" "$@" >t.jsonl
	"$LENS" show t.jsonl --html page.html
}

browse() { # CHECK
	python3 "$LENS_TEST_SRCDIR/tests/cmd/browser.py" "$1" page.html 3>&-
}

@test "choosing, zooming, searching, folding; nothing is fetched" {
	page attempts
	browse attempts
}

@test "names are text, and no script but the page's own runs" {
	page hostile
	browse hostile
}

@test "twenty thousand spans" {
	page tasks 20000
	browse tasks
}

@test "the check of the page finds what is wrong" {
	page attempts
	sed -i 's/"slurm.phase.queued"/"slurm.phase.queried"/g' page.html
	run ! browse attempts
	page attempts
	# The policy knows the script by its hash.
	sed -i 's/const HEIGHT = 24,/const HEIGHT = 25,/' page.html
	run ! browse attempts
	[[ $output == *AssertionError* ]]
}

@test "the file: replaced as a whole, as others may read it, standard output" {
	umask 027
	page attempts
	[ "$(stat -c %a page.html)" = 640 ]
	echo old >page.html
	"$LENS" show t.jsonl --html page.html
	grep -q '<!doctype html>' page.html
	[ "$(find . -name 'page.html?*')" = "" ]
	"$LENS" show t.jsonl --html - >out.html
	cmp out.html page.html
	"$LENS" show t.jsonl --html /dev/stdout | cmp - page.html
	run -2 "$LENS" show t.jsonl --html none/page.html
	[[ $output == "slurm-lens show: --html none/page.html: No such file or directory" ]]
	run -2 "$LENS" show t.jsonl --html /dev/full
	[[ $output == *"/dev/full: No space left on device" ]]
	# Nothing in the data can end its element.
	page hostile
	[ "$(grep -c '</script>' page.html)" = 2 ]
}
