#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens attrs: environment in, attributes out.

bats_require_minimum_version 1.5.0

setup() {
	LENS=${LENS_TEST_COMMAND:-$LENS_TEST_BUILDDIR/slurm-lens}
	VECTORS=$LENS_TEST_SRCDIR/tests/vectors
	CHECK=$LENS_TEST_SRCDIR/tests/cmd/vectors.py
}

# attrs_in [NAME=VALUE...] -- ARGUMENT...: in an environment of these alone.
attrs_in() {
	local env=()
	while [ "$1" != -- ]; do
		env+=("$1")
		shift
	done
	env -i ${env[@]+"${env[@]}"} "$LENS" attrs "${@:2}"
}

# value_of KEY: of the JSON object on standard input, as Python shows it.
value_of() {
	python3 -c 'import json, sys; print(repr(json.load(sys.stdin).get(sys.argv[1])))' "$1"
}

@test "all vectors, both stages" {
	python3 "$CHECK" "$LENS" attrs "$VECTORS/slurm.json"
}

@test "the check of the vectors finds what is wrong" {
	sed 's/"slurm.nnodes": 4/"slurm.nnodes": 5/g' "$VECTORS/slurm.json" >"$BATS_TEST_TMPDIR/wrong.json"
	run ! python3 "$CHECK" "$LENS" attrs "$BATS_TEST_TMPDIR/wrong.json"
	[[ $output == *"slurm.nnodes: 4, not 5"* ]]
	sed 's/"slurm.nnodes": 4/"slurm.nnodes": "4"/g' "$VECTORS/slurm.json" >"$BATS_TEST_TMPDIR/wrong.json"
	run ! python3 "$CHECK" "$LENS" attrs "$BATS_TEST_TMPDIR/wrong.json"
}

@test "a task's rank, and integers as numbers" {
	local json
	json=$(attrs_in SLURM_JOB_ID=5 SLURM_PROCID=3 SLURM_LOCALID=1 SLURM_NTASKS=8 CUDA_VISIBLE_DEVICES=0,1 \
		OTEL_RESOURCE_ATTRIBUTES=nv.gpu.index=7,nv.dl.topology.size.tp=x,team=007 -- \
		--stage task --format json)
	[ "$(value_of nv.dl.rank <<<"$json")" = 3 ]
	[ "$(value_of nv.dl.world_size <<<"$json")" = 8 ]
	[ "$(value_of nv.dl.local_rank <<<"$json")" = 1 ]
	[ "$(value_of service.instance.id <<<"$json")" = "'5-rank3'" ]
	[ "$(value_of host.gpu.count <<<"$json")" = 2 ]
	[ "$(value_of nv.gpu.index <<<"$json")" = 7 ]
	[ "$(value_of nv.dl.topology.size.tp <<<"$json")" = "'x'" ]
	[ "$(value_of team <<<"$json")" = "'007'" ]
	[ "$(value_of host.name <<<"$json")" = "'$(uname -n)'" ]
}

@test "the batch stage has no rank, and not what only a task knows" {
	local json
	json=$(attrs_in SLURM_JOB_ID=5 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NTASKS=8 \
		SLURM_TOPOLOGY_ADDR=s1.n1 SLURMD_NODENAME=n1 -- --stage sbatch --format json)
	[ "$(value_of nv.dl.rank <<<"$json")" = None ]
	[ "$(value_of service.instance.id <<<"$json")" = None ]
	[ "$(value_of slurm.topology.addr <<<"$json")" = None ]
	[ "$(value_of host.name <<<"$json")" = None ]
	[ "$(value_of slurm.head_node.name <<<"$json")" = "'n1'" ]
}

@test "who names the run, the user and the image" {
	local json
	json=$(attrs_in SLURM_JOB_ID=5 NEMO_LENS_RUN_ID=exp NEMO_LENS_USER_ID=me SLURM_CONTAINER=bundle \
		OTEL_RESOURCE_ATTRIBUTES=nemo.run.id=other -- --stage task --format json)
	[ "$(value_of nemo.run.id <<<"$json")" = "'exp'" ]
	[ "$(value_of nemo.user.id <<<"$json")" = "'me'" ]
	[ "$(value_of nv.dl.launch.container.image <<<"$json")" = "'bundle'" ]
	json=$(attrs_in SLURM_JOB_ID=5 OTEL_RESOURCE_ATTRIBUTES=nemo.run.id=other SLURM_CONTAINER=bundle -- \
		--stage task --format json --container-image 'reg/x:1')
	[ "$(value_of nemo.run.id <<<"$json")" = "'other'" ]
	[ "$(value_of nv.dl.launch.container.image <<<"$json")" = "'reg/x:1'" ]
}

@test "a run id that is none is said and passed over" {
	run --separate-stderr attrs_in SLURM_JOB_ID=5 NEMO_LENS_RUN_ID=$'a\nb' -- --stage task --format json
	[ "$status" = 0 ]
	[ "$(value_of nemo.run.id <<<"$output")" = "'5'" ]
	# shellcheck disable=SC2154 # of bats
	[ "$stderr" = 'slurm-lens attrs: NEMO_LENS_RUN_ID=a\x0Ab: not 1 to 255 bytes of UTF-8 without control characters; ignored' ]
}

# evaluated SHELL NAME=VALUE...: the carrier that the shell form gives there.
evaluated() {
	local shell=$1
	shift
	# shellcheck disable=SC2016 # the inner shell's
	attrs_in "$@" -- --stage task | env -i "$shell" -c '
		cd / && eval "$(/bin/cat)" && /usr/bin/env | /bin/grep -a ^OTEL_RESOURCE_ATTRIBUTES='
}

@test "the shell form is one export that a shell evaluates, whatever is in it" {
	local shell line job=$'it\'s "x" `id` $(touch lens-was-here) \\ ; & | * ~ \xc3\xa9\xff\t.'
	local own=$'a\'b=1,c"d=2,$(touch lens-was-here)=3,e\\=4,`id`=5'
	for shell in /bin/sh /bin/bash; do
		line=$(evaluated "$shell" SLURM_JOB_ID=5 SLURM_JOB_NAME="$job" OTEL_RESOURCE_ATTRIBUTES="$own")
		[[ $line == *"slurm.job.name=it%27s%20%22x%22%20%60id%60%20%24%28touch%20lens-was-here%29%20%5C%20%3B%20%26%20%7C%20%2A%20~%20%C3%A9%EF%BF%BD%09."* ]]
		[[ $line == *$'a\'b=1,c"d=2,$(touch lens-was-here)=3,e\\=4,`id`=5'* ]]
		[ ! -e /lens-was-here ]
	done
	[ "$(attrs_in SLURM_JOB_ID=5 SLURM_JOB_NAME="$job" -- --stage sbatch | wc -l)" = 1 ]
}

@test "saying it twice is saying it once" {
	local first second
	first=$(attrs_in SLURM_JOB_ID=5 SLURM_NTASKS=2 SLURM_PROCID=1 SLURM_LOCALID=0 \
		OTEL_RESOURCE_ATTRIBUTES='team=a%2Cb,,x=%ZZ' -- --stage task)
	[[ $first == "export OTEL_RESOURCE_ATTRIBUTES='"*"'" ]]
	eval "$first"
	second=$(attrs_in SLURM_JOB_ID=5 SLURM_NTASKS=2 SLURM_PROCID=1 SLURM_LOCALID=0 \
		OTEL_RESOURCE_ATTRIBUTES="$OTEL_RESOURCE_ATTRIBUTES" -- --stage task)
	[ "$(tr , '\n' <<<"${first#*=}" | sed "s/'//g" | sort)" = "$(tr , '\n' <<<"${second#*=}" | sed "s/'//g" | sort)" ]
}

@test "no job and nothing handed on: {} and 1" {
	run --separate-stderr -1 attrs_in A=1 -- --stage task --format json
	[ "$output" = "{}" ]
	[[ $stderr == *"no SLURM_JOB_ID"* ]]
	run --separate-stderr -1 attrs_in A=1 -- --stage sbatch
	[ "$output" = "" ]
	run -1 attrs_in OTEL_RESOURCE_ATTRIBUTES=team=a -- --stage task --format json
	run -0 attrs_in OTEL_RESOURCE_ATTRIBUTES=slurm.job.id=9 -- --stage task --format json
}

@test "usage errors: 2, one line of what is wrong and where to look" {
	local arguments
	for arguments in "" "--stage" "--stage=job" "--stage task --format xml" "--stage task more" \
		"--stage task --what" "--stage task --container-image"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr -2 attrs_in SLURM_JOB_ID=5 -- $arguments
		[ "$output" = "" ]
		# shellcheck disable=SC2154 # of bats
		[ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == "slurm-lens attrs: "*"; see slurm-lens attrs --help" ]]
	done
	run -0 attrs_in A=1 -- --help
	[[ $output == "Usage: slurm-lens attrs "* ]]
}

@test "standard output that takes nothing is an error" {
	run --separate-stderr -2 bash -c "env -i SLURM_JOB_ID=5 '$LENS' attrs --stage task --format json >/dev/full"
	[[ $stderr == *"standard output"* ]]
}
