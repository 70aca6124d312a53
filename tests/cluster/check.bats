#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens check: a good site, then each thing broken in turn, with the row that says so.

bats_require_minimum_version 1.5.0
load helpers
load check

setup_file() {
	sandbox_create
	receiver_up
	lens_conf <<-E
	Strategy=first_rank_per_node
	TaskEndpoint=$RECEIVER_URL
	Environment=test
	E
	cluster_up --conf PrologFlags=Alloc -- "Endpoint=$RECEIVER_URL"
	wait_for 30 agent_known
}

teardown_file() {
	sandbox_destroy
}

# agent_known: it runs and has said where it sends.
agent_known() {
	grep -q receiver= "$STATE_DIR/agent.status" && agent_pid
}

# own_plugstack LINE...: a plugstack.conf of this test's, PLUGSTACK.
own_plugstack() {
	mkdir -p "$BATS_TEST_TMPDIR/site"
	PLUGSTACK=$BATS_TEST_TMPDIR/site/plugstack.conf
	printf '%s\n' "$@" >"$PLUGSTACK"
}

# good_line [KEY=VALUE...]
good_line() {
	plugstack_line "Endpoint=$RECEIVER_URL" "$@"
}

@test "a good site passes, and no receiver got a span" {
	rm -f "$RECEIVED"/0*
	run -0 check
	row ok slurm "slurmctld * of cluster mini answers"
	row ok prolog "PrologFlags=Alloc: *"
	row ok plugin "$LENS_SO, version * for Slurm *, by $CONF_DIR/plugstack.conf:1"
	row ok arguments "* are valid"
	row ok lens.conf "$CONF_DIR/lens.conf is valid"
	row ok state "StateDir $STATE_DIR is root's alone"
	row ok agent "pid $(agent_pid) runs; 0 journals and 0 notes *"
	row ok endpoint "$RECEIVER_URL took an empty request (http/protobuf)"
	row ok tasks "$RECEIVER_URL took an empty request (http/protobuf)"
	row ok clock "agrees with slurmctld's *"
	row ok identity "cluster mini, no Realm, Environment test"
	row ok strategy "first_rank_per_node: *"
	row ok "run id" "nemo.run.id is the job's id*"
	[[ ${lines[-1]} == *" 0 fail" ]]
	[ "$(find "$RECEIVED" -name "0*.body" | wc -l)" = 2 ]
	[ "$(spans_eval 'len(spans)')" = 0 ]
}

@test "json has the same rows" {
	check --json >"$BATS_TEST_TMPDIR/json"
	check >"$BATS_TEST_TMPDIR/text"
	"$LENS_TEST_PYTHON" - "$BATS_TEST_TMPDIR" <<-'E'
	import json, sys
	found = json.load(open(sys.argv[1] + "/json"))
	text = open(sys.argv[1] + "/text").read().splitlines()
	rows = [line for line in text[:-2] if not line.startswith(" ")]
	assert [(r["status"], r["check"], r["text"]) for r in found["rows"]] == [
	    (line.split()[0], line[9:20].strip(), line[21:]) for line in rows]
	assert all(r["remedy"] for r in found["rows"] if r["status"] != "ok")
	assert text[-1] == f"{found['ok']} ok, {found['warnings']} warnings, {found['fail']} fail"
	assert found["fail"] == 0 and found["ok"] > 10
	E
}

@test "a user is told what only root can see" {
	run -0 as_user "$LENS" check
	row ok slurm "*"
	row ok plugin "*"
	row ok state "StateDir $STATE_DIR is root's alone"
	row warning agent "only root can see it: not checked"
	row ok endpoint "*"
	no_row ok agent
	echo "Authorization: x" >"$SANDBOX/headers"
	chmod 600 "$SANDBOX/headers"
	run -0 as_user "$LENS" check --set "HeadersFile=$SANDBOX/headers"
	row warning endpoint "not asked: *"
}

@test "every bad line of lens.conf, by its number; one that others may write, or users not read" {
	local conf=$BATS_TEST_TMPDIR/lens.conf line
	for line in $(seq 1 14); do
		echo "NoSuchKey$line=x"
	done >"$conf"
	echo "Stratgy=sampled" >>"$conf"
	echo "Timeout=soon" >>"$conf"
	run -1 check --config "$conf"
	for line in $(seq 1 14); do
		row fail lens.conf "lens.conf $conf:$line: NoSuchKey$line is no key of lens"
	done
	row fail lens.conf "*:15: Stratgy is no key of lens: did you mean Strategy[?]"
	row fail lens.conf "*:16: Timeout=soon: not milliseconds *"
	echo "Realm=x" >"$conf"
	chmod 666 "$conf"
	run -1 check --config "$conf"
	row fail lens.conf "$conf can be written by others *"
	chmod 640 "$conf"
	run -1 check --config "$conf"
	row fail lens.conf "$conf cannot be read by users *"
	run -1 check --config "$BATS_TEST_TMPDIR/none.conf"
	row fail lens.conf "*none.conf: it cannot be read: No such file or directory"
}

@test "a bad argument, with the line of plugstack.conf" {
	own_plugstack "# comment" "$(good_line Nonsense=1)"
	run -1 check --plugstack "$PLUGSTACK"
	row fail arguments "$PLUGSTACK:2: Nonsense is no key of lens*"
	run -1 check --set Agent=maybe
	row fail arguments "plugstack.conf or --set: Agent=maybe: not auto, external or off"
}

@test "plugstack.conf: no line, two, required, in an included file, one that Slurm leaves out" {
	own_plugstack "optional /opt/other.so"
	run -1 check --plugstack "$PLUGSTACK"
	row fail plugstack "$PLUGSTACK and what it includes have no line for lens"
	no_row ok plugin
	run -1 check --plugstack "$BATS_TEST_TMPDIR/none"
	row fail plugstack "$BATS_TEST_TMPDIR/none: No such file or directory"

	own_plugstack "$(good_line)" "$(good_line)"
	run -1 check --plugstack "$PLUGSTACK"
	row fail plugstack "$PLUGSTACK:2: lens stands at $PLUGSTACK:1 already*"

	own_plugstack "include site.d/*.conf" "Optional x.so"
	mkdir "${PLUGSTACK%/*}/site.d"
	PLUGSTACK_FLAG=required good_line >"${PLUGSTACK%/*}/site.d/lens.conf"
	run -1 check --plugstack "$PLUGSTACK"
	row ok plugin "*, by ${PLUGSTACK%/*}/site.d/lens.conf:1"
	row warning plugstack "*site.d/lens.conf:1: lens is required*"
	row fail plugstack "$PLUGSTACK:2: it begins with \`Optional\`*"
}

@test "the plugin: not there, no plugin, another Slurm's, another version of lens's" {
	own_plugstack "optional lens-of-nobody.so"
	run -1 check --plugstack "$PLUGSTACK"
	row fail plugstack "*have no line for lens"
	own_plugstack "optional /nowhere/lens.so"
	run -1 check --plugstack "$PLUGSTACK"
	row fail plugin "$PLUGSTACK:1: there is no /nowhere/lens.so"
	echo text >"$BATS_TEST_TMPDIR/lens.so"
	own_plugstack "optional $BATS_TEST_TMPDIR/lens.so"
	run -1 check --plugstack "$PLUGSTACK"
	row fail plugin "$BATS_TEST_TMPDIR/lens.so is no shared object for this machine"

	# A copy whose plugin_version, one word, says 19.05.
	"$LENS_TEST_PYTHON" - "$LENS_SO" "$BATS_TEST_TMPDIR/lens.so" <<-'E'
	import re, subprocess, sys
	lines = subprocess.run(["readelf", "-W", "--dyn-syms", "-S", sys.argv[1]], text=True,
	                       capture_output=True, check=True).stdout.splitlines()
	at = [l.split() for l in lines if l.endswith(" plugin_version")][0]
	section = [re.sub(r"\[ *", "[", l).split() for l in lines if re.match(rf" *\[ *{at[6]}\]", l)][0]
	offset = int(at[1], 16) - int(section[3], 16) + int(section[4], 16)
	data = bytearray(open(sys.argv[1], "rb").read())
	data[offset:offset + 4] = (0x130508).to_bytes(4, sys.byteorder)
	open(sys.argv[2], "wb").write(data)
	E
	own_plugstack "$(good_line | sed "s,$LENS_SO,$BATS_TEST_TMPDIR/lens.so,")"
	run -1 check --plugstack "$PLUGSTACK"
	row fail plugin "$BATS_TEST_TMPDIR/lens.so was built for Slurm 19.05.8, and here is *"

	sed "s/\x00$("$LENS" --version | cut -d' ' -f2)\x00/\x009.9.9\x00/g" "$LENS_SO" >"$BATS_TEST_TMPDIR/lens.so"
	run -0 check --plugstack "$PLUGSTACK"
	row warning plugin "the plugin is version 9.9.9 and this program *"
	# Whatever its file is called.
	cp "$LENS_SO" "$BATS_TEST_TMPDIR/telemetry.so"
	own_plugstack "$(good_line | sed "s,$LENS_SO,$BATS_TEST_TMPDIR/telemetry.so,")"
	run -0 check --plugstack "$PLUGSTACK"
	row ok plugin "$BATS_TEST_TMPDIR/telemetry.so, version *"
}

@test "a container plugin after lens, not one before it" {
	local other=$LENS_TEST_BUILDDIR/tests/cluster/plugins/.libs/image_env.so
	own_plugstack "$(good_line)" "optional $other"
	run -0 check --plugstack "$PLUGSTACK"
	row warning order "$PLUGSTACK:2: image_env.so comes after lens*"
	own_plugstack "optional $other" "$(good_line)"
	run -0 check --plugstack "$PLUGSTACK"
	no_row warning order
}

@test "StateDir: its mode, none, a link, in memory, a parent that others write" {
	local memory place=$SANDBOX/other-state
	mkdir -m 755 "$place"
	run -1 check --state-dir "$place"
	row fail state "StateDir $place has mode 0755: chmod 0700 $place"
	run -1 as_user "$LENS" check --state-dir "$place"
	row fail state "StateDir $place: *"
	run -1 check --state-dir "$BATS_TEST_TMPDIR/none"
	row fail state "there is no StateDir *: restart slurmd, *"
	ln -s "$STATE_DIR" "$BATS_TEST_TMPDIR/link"
	run -1 check --state-dir "$BATS_TEST_TMPDIR/link"
	row fail state "*is a symbolic link*"
	mkdir -m 777 "$BATS_TEST_TMPDIR/open"
	mkdir -m 700 "$BATS_TEST_TMPDIR/open/state"
	chmod 777 "$BATS_TEST_TMPDIR/open"
	run -1 check --state-dir "$BATS_TEST_TMPDIR/open/state"
	row fail state "*$BATS_TEST_TMPDIR/open can be written by others*"
	memory=$(mktemp -d /dev/shm/lens-test.XXXXXX)
	run -1 check --state-dir "$memory"
	rmdir "$memory"
	row warning state "StateDir $memory is in memory: *"
	run -0 check --set MaxSpool=900000000G
	row warning state "*MaxSpool is * MiB: *"
}

@test "the agent: other settings, stopped, off, a program that is not there" {
	run -1 check --set "File=/x" --set "Endpoint=http://127.0.0.1:1"
	row fail agent "it sends to $RECEIVER_URL (http/protobuf), the settings say http://127.0.0.1:1 *"
	run -1 check --set AgentPath=/nowhere/slurm-lens
	row fail agent "AgentPath: /nowhere*: No such file or directory"
	run -1 check --set AgentUser=nobody-of-this-name
	row fail agent "AgentUser nobody-of-this-name: there is no such user here"
	agent_stop
	run -1 check
	row fail agent "none runs for $STATE_DIR"
	run -1 check --set Agent=external
	row fail agent "none runs for $STATE_DIR, and Agent=external *"
	run -0 check --set Agent=off
	row warning agent "Agent=off: *"
	slurm srun true
	wait_for 30 agent_known
	run -0 check
	row ok agent "pid *"
}

# prolog_flags VALUE: from now on, and slurmctld knows it.
prolog_flags() {
	sed -i "s/^PrologFlags=.*/PrologFlags=$1/" "$CONF_DIR/slurm.conf"
	"$MINICLUSTER" restart-ctld "$SANDBOX/cluster" 3>&-
}

@test "PrologFlags: none, Contain, and RunInJob where Slurm has it" {
	sed -i 's/^PrologFlags=/#&/' "$CONF_DIR/slurm.conf"
	"$MINICLUSTER" restart-ctld "$SANDBOX/cluster" 3>&-
	run -0 check
	row warning prolog "PrologFlags has no Alloc: *"
	sed -i 's/^#PrologFlags=/PrologFlags=/' "$CONF_DIR/slurm.conf"
	prolog_flags Contain
	run -0 check
	row ok prolog "PrologFlags=Alloc,Contain: *"
	if [[ $(slurm scontrol --version) != "slurm-wlm 22."* ]]; then
		prolog_flags RunInJob
		run -0 check
		row warning prolog "PrologFlags=RunInJob: *"
	fi
	prolog_flags Alloc
}

@test "what was left to its default, and a sampling that samples nothing" {
	: >"$BATS_TEST_TMPDIR/empty.conf"
	run -0 check --config "$BATS_TEST_TMPDIR/empty.conf"
	row warning strategy "Strategy is not set. The default is single_rank*"
	row ok tasks "no TaskEndpoint: *"
	echo "Strategy=sampled" >"$BATS_TEST_TMPDIR/empty.conf"
	run -0 check --config "$BATS_TEST_TMPDIR/empty.conf"
	row warning strategy "sampled: a share of 1 of the ranks*"
	echo "Inject=never" >"$BATS_TEST_TMPDIR/empty.conf"
	run -0 check --config "$BATS_TEST_TMPDIR/empty.conf"
	row warning switches "Inject=never: *"
	own_plugstack "optional $LENS_SO StateDir=$STATE_DIR AgentPath=$LENS File=$TRACES"
	run -1 check --plugstack "$PLUGSTACK"
	row warning endpoint "no Endpoint is set: spans stay on their node, in $TRACES"
	run -1 check --plugstack "$PLUGSTACK" --set Protocol=file
	row ok endpoint "Protocol=file: each node keeps $TRACES"
}

@test "root opens nothing that only the environment names" {
	local theirs=$OUT/theirs
	as_user mkdir "$theirs"
	# Whoever opened one of them would wait for a writer that never comes.
	as_user mkfifo "$theirs/slurm.conf" "$theirs/lens.conf" "$theirs/plugstack.conf"
	run -1 timeout 60 env SLURM_CONF="$theirs/slurm.conf" "$LENS" check --state-dir "$STATE_DIR"
	row fail environment "SLURM_CONF=$theirs/slurm.conf is not used: *belongs to uid *"
	[[ $output != *"$theirs/lens.conf"* && $output != *"$theirs/plugstack.conf"* ]]
}

@test "a machine without slurmd keeps nothing" {
	run -0 slurm unshare --fork --pid --mount-proc "$LENS" check --state-dir "$BATS_TEST_TMPDIR/none"
	row ok state "no slurmd runs on this machine: *"
	no_row fail agent
}

@test "slurmctld that does not answer" {
	mkdir "$BATS_TEST_TMPDIR/etc"
	sed 's/^SlurmctldPort=.*/SlurmctldPort=1/' "$CONF_DIR/slurm.conf" >"$BATS_TEST_TMPDIR/etc/slurm.conf"
	cp "$CONF_DIR/plugstack.conf" "$BATS_TEST_TMPDIR/etc/"
	run -1 timeout 120 env SLURM_CONF="$BATS_TEST_TMPDIR/etc/slurm.conf" "$LENS" check
	row fail slurm "slurmctld: *"
	# The rest is looked at all the same.
	row ok plugin "*, by $BATS_TEST_TMPDIR/etc/plugstack.conf:1"
	row ok endpoint "*"
	no_row ok prolog
}
