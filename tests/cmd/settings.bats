#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --config, --set and --state-dir: the same in each command that has them.

bats_require_minimum_version 1.5.0

setup() {
	LENS=${LENS_TEST_COMMAND:-$LENS_TEST_BUILDDIR/slurm-lens}
	export SLURM_CONF=$BATS_TEST_TMPDIR/slurm.conf
	mkdir -p "$BATS_TEST_TMPDIR/od d/here" "$BATS_TEST_TMPDIR/state"
	cd "$BATS_TEST_TMPDIR/od d/here" || return
	echo "File = $BATS_TEST_TMPDIR/traces.jsonl" >../lens.conf
	echo '{"resourceSpans":[]}' >"$BATS_TEST_TMPDIR/traces.jsonl"
}

# command NAME [OPTION...]: with what it needs to look at its settings.
command_run() {
	local name=$1
	shift
	case $name in
	show) set -- 7 "$@" ;;
	agent) set -- --once "$@" ;;
	reckon) set -- --from "$LENS_TEST_SRCDIR/tests/unit/sacct/24.11.txt" "$@" ;;
	esac
	timeout 120 "$LENS" "$name" "$@" 2>&1
}

@test "a file is named from where one is, by each command" {
	local name
	for name in show status agent check reckon; do
		run command_run "$name" --config ../lens.conf --set StateDir="$BATS_TEST_TMPDIR/state"
		[[ $output != *"absolute path"* ]] || { echo "$name: $output"; return 1; }
	done
	run -1 command_run show --config ../lens.conf
	[[ $output == *"no span of job 7 in $BATS_TEST_TMPDIR/traces.jsonl"* ]]
	run -1 command_run check --config ../lens.conf
	[[ $output == *"lens.conf   $PWD/../lens.conf is valid"* ]]
}

@test "a state directory too: never another one is taken for it" {
	local name
	for name in status agent; do
		run -2 command_run "$name" --state-dir nowhere
		[[ $output == *"$PWD/nowhere"* ]] || { echo "$name: $output"; return 1; }
	done
	# Of one that is not there check says nothing where no slurmd runs.
	mkdir -m 0700 mine
	run -1 command_run check --state-dir mine
	[[ $output == *"StateDir $PWD/mine"* ]]
}

@test "what is wrong with them is said alike" {
	local name
	for name in show status agent check reckon; do
		run -2 command_run "$name" --set Agent
		[[ $output == *"slurm-lens $name: --set Agent: takes Key=Value"* ]]
		run -2 command_run "$name" --config ''
		[[ $output == *"slurm-lens $name: --config: its value is empty"* ]]
		run -2 command_run "$name" --config
		[[ $output == *"slurm-lens $name: --config: its value is missing"* ]]
	done
}

@test "a file that is named and not there is said once" {
	run -1 command_run check --config "$PWD/none.conf"
	[[ $output == *"lens.conf $PWD/none.conf: it cannot be read: No such file or directory"* ]]
	[[ $output != *"arguments and defaults hold"* ]]
}

@test "no id is made with the realm of a file that is not there" {
	run -2 command_run reckon --config none.conf
	[[ $output == *"$PWD/none.conf: it cannot be read: No such file or directory"* ]]
	run -0 command_run reckon --config ../lens.conf
}

@test "an agent that cannot begin says why, also without a terminal" {
	run -2 timeout 60 "$LENS" agent --state-dir "$PWD/../lens.conf"
	[[ $output == *"slurm-lens agent: "*"lens.conf"* ]]
	[ ! -e "$PWD/../lens.conf/agent.log" ]
}

@test "check names the rank that exports" {
	local rank
	for rank in 0 7; do
		run -1 command_run check --set Strategy=single_rank --set ExportRank=$rank
		[[ $output == *"single_rank: rank $rank of each step exports"* ]]
	done
	run -1 command_run check --set Strategy=single_rank
	[[ $output == *"single_rank: the last rank of each step exports"* ]]
}

# asked_all: each command that a person asks looks where other.conf says.
asked_all() {
	run -2 command_run status
	[[ $output == *"StateDir $BATS_TEST_TMPDIR/elsewhere:"* ]]
	run -2 "$LENS" agent --stop
	[[ $output == *"StateDir $BATS_TEST_TMPDIR/elsewhere:"* ]]
	run -1 command_run show
	[[ $output == *"no span of job 7 in $BATS_TEST_TMPDIR/traces.jsonl"* ]]
	cmp <(command_run reckon) "$BATS_TEST_TMPDIR/east"
}

@test "what lens's line in plugstack.conf says holds for commands, too" {
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' "StateDir=$PWD/elsewhere" "File=$PWD/traces.jsonl" Realm=east >other.conf
	command_run reckon --realm=east >east
	command_run reckon >plain
	run ! cmp plain east
	: >slurm.conf
	printf '%s\n' 'optional first.so config=/nowhere' "optional lens.so config=$PWD/other.conf" >plugstack.conf
	asked_all
	# As arguments, in a file that it includes; beaten by the command's own.
	echo 'include site.d/*.conf' >plugstack.conf
	mkdir site.d
	echo "optional /opt/lens.so StateDir=$PWD/elsewhere File=$PWD/traces.jsonl Realm=east" >site.d/lens.conf
	asked_all
	command_run reckon --set Realm= | cmp - plain
	run -2 command_run status --set "StateDir=$PWD/mine"
	[[ $output == *"StateDir $PWD/mine:"* ]]
	# Where slurm.conf has it, and lens.so under another name.
	mv plugstack.conf plugs
	mv site.d/lens.conf plugs
	cp "$LENS_TEST_BUILDDIR/spank/.libs/lens.so" telemetry.so
	sed -i 's,/opt/lens.so,telemetry.so,' plugs
	printf '%s\n' '# PlugStackConfig=/nowhere' "plugstackconfig = $PWD/plugs # here" "PluginDir=\"$PWD\"" >slurm.conf
	asked_all
	# What is wrong there is for check to say: the rest holds, as it does in the plugin.
	echo "optional lens.so config=$PWD/other.conf Agent=maybe" >plugs
	run -0 --separate-stderr "$LENS" reckon --from "$LENS_TEST_SRCDIR/tests/unit/sacct/24.11.txt"
	cmp east <(echo "$output")
	# shellcheck disable=SC2154 # of bats
	[[ $stderr == *"plugstack.conf: Agent=maybe: not auto"* ]]
}

@test "a plugstack.conf that is not there, or not only root's, is left alone" {
	cd "$BATS_TEST_TMPDIR"
	: >slurm.conf
	run -2 --separate-stderr command_run status --set "StateDir=$PWD/mine"
	[[ $output == *"StateDir $PWD/mine:"* ]]
	echo "optional lens.so StateDir=$PWD/theirs" >plugstack.conf
	run -2 command_run status
	[[ $output == *"StateDir $PWD/theirs:"* ]]
	[ "$(id -u)" != 0 ] || {
		chown 65534 plugstack.conf
		run command_run status
		[[ $output != *theirs* ]]
	}
	rm plugstack.conf
	mkfifo plugstack.conf
	run command_run status
	[[ $output != *plugstack* ]]
}
