#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The documents, the manual pages and the dashboard name only what exists, and the manual pages
# all that does.

bats_require_minimum_version 1.5.0

setup() {
	LENS=$LENS_TEST_BUILDDIR/slurm-lens
	TREE=$LENS_TEST_SRCDIR
	DOCS=$TREE/tests/cmd/docs.py
}

docs() {
	python3 "$DOCS" "$@"
}

# tree_copy: what the checks look at, to be broken.
tree_copy() {
	COPY=$BATS_TEST_TMPDIR/tree
	mkdir "$COPY"
	(cd "$TREE" && cp -r ./*.md Makefile.am cmd contrib docs etc lib m4 spank tests "$COPY/")
}

# broken EXPRESSION FILE CHECK [ARGUMENT]: what CHECK says of the copy in which sed changed FILE.
broken() {
	sed -i "$1" "$COPY/$2"
	run -1 docs "$3" "$COPY" "${@:4}"
	cp "$TREE/$2" "$COPY/$2"
}

@test "links lead somewhere" {
	docs links "$TREE"
}

@test "make targets exist" {
	docs targets "$TREE" "$LENS_TEST_BUILDDIR"
}

@test "commands and their options exist" {
	docs commands "$TREE" "$LENS"
}

@test "options of sbatch exist, and are in spank-lens(8)" {
	docs options "$TREE"
}

@test "settings exist, and are in lens.conf(5) and etc/lens.conf" {
	docs keys "$TREE"
}

@test "examples of Python and of the shell are that" {
	docs snippets "$TREE"
}

@test "spans and attributes are written by somebody" {
	docs names "$TREE"
}

@test "the dashboard asks for what exists, by unique panels and the data source's variable" {
	docs dashboard "$TREE"
}

@test "CONTRIBUTING.md knows every directory and every make target" {
	docs map "$TREE"
}

@test "slurm-lens(1) has every option of every command's help, and no other" {
	docs manual "$TREE" "$LENS"
}

@test "the build packages are named, no others, and alike wherever they are" {
	docs packages "$TREE"
}

@test "manual pages render without a warning" {
	local page
	for page in "$TREE"/docs/*.[1-9]; do
		mandoc -T lint -W warning "$page"
		run -0 --separate-stderr groff -ww -mandoc -Tutf8 -z "$page"
		# shellcheck disable=SC2154 # run sets it
		[ -z "$stderr" ] || { echo "$stderr"; return 1; }
	done
}

# shellcheck disable=SC2016 # the backquotes are the documents'
@test "what is wrong is found" {
	tree_copy
	broken '1i [x](docs/none.md) [y](docs/spans.md#none)' README.md links
	[[ $output == *"README.md:1: docs/none.md: does not exist"*"has no heading #none"* ]]
	broken '1i `tests/unit/none.c`' CONTRIBUTING.md links
	[[ $output == *"CONTRIBUTING.md:1: tests/unit/none.c does not exist"* ]]
	broken '1i `make none`' CONTRIBUTING.md targets "$LENS_TEST_BUILDDIR"
	[[ $output == *"make none: no such target"* ]]
	broken '1i `slurm-lens ranks --none` `slurm-lens none`' README.md commands "$LENS"
	[[ $output == *"slurm-lens ranks has no --none"*"slurm-lens none: no such command"* ]]
	broken '1i `sbatch --lens-none`' docs/user.md options
	[[ $output == *"sbatch has no --lens-none"* ]]
	broken '/tests\/cmd/d; s/check-cluster/check-other/g' CONTRIBUTING.md map
	[[ $output == *"make check-cluster is missing"*"the map lacks tests/cmd/"* ]]
	broken '/^\.It Fl -lens-rank /d' docs/spank-lens.8 options
	[[ $output == *"--lens-rank is missing"* ]]
	broken '1i `Nonsense=1`' docs/admin.md keys
	[[ $output == *"lens.conf has no key Nonsense"* ]]
	broken 's/^#Realm=$/#Kingdom=/' etc/lens.conf keys
	[[ $output == *"Kingdom is no key"*"Realm is missing"* ]]
	broken 's/^provider = .*/provider = =/' docs/user.md snippets
	[[ $output == *"invalid syntax"* ]]
	broken 's/^srun python train.py$/srun "python train.py/' docs/user.md snippets
	[[ $output == *"docs/user.md:"*"unexpected EOF"* ]]
	broken '1i `slurm.none`' docs/analyst.md names
	[[ $output == *"nothing writes slurm.none"* ]]
	broken 's/span\.error\.type/span.error.none/; 0,/"id": 2,/s//"id": 1,/' \
		contrib/grafana/slurm-lens.json dashboard
	[[ $output == *"2 panels have the id 1"*"nothing writes span.error.none"* ]]
	broken 's/^\.It Fl -once$/.It Fl -twice/' docs/slurm-lens.1 manual "$LENS"
	[[ $output == *"agent --once is missing"*"agent has no --twice"* ]]
	broken 's/ libmd-dev / libnone-dev /' README.md packages
	[[ $output == *"README.md: the build package libmd-dev is missing"*"libnone-dev is none of"* ]]
	broken 's/ libmd-dev,//' contrib/package/debian/control packages
	[[ $output == *"debian/control: the build package libmd-dev is missing"* ]]
}
