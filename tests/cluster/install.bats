#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What make install installs, and that a real Slurm takes it.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	cluster_up
}

teardown_file() {
	sandbox_destroy
}

needed() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort
}

@test "lens.so needs libc and libmd, nothing else" {
	[ "$(needed "$LENS_TEST_LENS_SO" | grep -vE '^lib(c|md)\.so\.')" = "" ]
	needed "$LENS_TEST_LENS_SO" | grep -q '^libmd\.so\.'
}

@test "lens.so exports what Slurm looks up, nothing else" {
	local symbols
	symbols=$(readelf -W --dyn-syms "$LENS_TEST_LENS_SO" |
		awk '$4 != "NOTYPE" && $5 == "GLOBAL" && $7 != "UND" { print $8 }')
	[ "$(grep -vE '^(plugin|spank|slurm_spank)_' <<<"$symbols")" = "" ]
	grep -qx plugin_name <<<"$symbols"
	grep -qx slurm_spank_init <<<"$symbols"
}

@test "no libtool file beside Slurm's plugins" {
	[ "$(find "$(dirname "$LENS_TEST_LENS_SO")" -type f)" = "$LENS_TEST_LENS_SO" ]
}

@test "srun and sbatch list the options" {
	slurm srun --help | grep -q -- '--lens'
	slurm sbatch --help | grep -q -- '--lens-run-id'
}

@test "a job of root and one of a user run with the plugin" {
	[ "$(slurm srun -N2 -n2 id -u | sort -u)" = 0 ]
	[ "$(as_user srun -N2 -n2 id -u | sort -u)" = 33 ]
}

@test "slurmd loaded the plugin without a complaint" {
	local log
	for log in "$SANDBOX"/cluster/log/slurmd.n*.log; do
		run ! grep -iE 'spank.*(error|incompatible|failed)' "$log"
	done
}
