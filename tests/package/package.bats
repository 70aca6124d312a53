#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The Debian package in a clean Debian: installed, used, upgraded and removed under running jobs,
# purged without a trace. tests/package/run makes that Debian and runs this inside, one test after
# the other: each begins where the one before left off.

bats_require_minimum_version 1.5.0
load ../cluster/helpers

LINE=/etc/slurm/plugstack.conf.d/zz-lens.conf
UNIT=slurm-lens-agent.service

# The cluster's slurm.conf is /etc/slurm/slurm.conf: lens.conf and plugstack.conf are the package's.
setup_file() {
	[ -n "${LENS_PACKAGE_DIR:-}" ] || {
		echo "run this through tests/package/run: it changes the system that it runs in" >&2
		return 1
	}
	export SANDBOX=$LENS_PACKAGE_DIR/sandbox OUT=$LENS_PACKAGE_DIR/sandbox/out
	export LENS=/usr/bin/slurm-lens STATE_DIR=/var/spool/slurm-lens
	export TRACES=/var/log/slurm-lens/traces.jsonl
	mkdir -p "$SANDBOX/cluster" "$OUT"
	chmod 755 "$SANDBOX"
	chmod 1777 "$OUT"
	ln -s /etc/slurm "$SANDBOX/cluster/etc"
	[ -e /etc/hosts ] || : >/etc/hosts
	files_list >"$SANDBOX/files.before"
	dpkg-query -W -f '${Package} ${Status}\n' >"$SANDBOX/packages.before"
}

teardown_file() {
	[ -z "${SANDBOX:-}" ] || "$MINICLUSTER" down "$SANDBOX/cluster" 3>&-
}

# --- what the tests do

# apt ARG...: a mirror may fail once.
apt() {
	local try
	for try in 1 2 3; do
		if apt-get -qq -y --no-install-recommends "$@" >"$SANDBOX/apt.log" 2>&1; then
			return 0
		fi
		say "apt-get $*: try $try failed"
		apt-get -qq update || :
	done
	cat "$SANDBOX/apt.log" >&2
	return 1
}

# files_list: every file of this Debian, and what those in /etc hold, but what apt, dpkg and
# ldconfig note for themselves.
files_list() {
	find / \( -path /proc -o -path /sys -o -path /dev -o -path /srv -o -path /tmp \
		-o -path /var/cache -o -path /var/lib/apt -o -path /var/log/apt \) -prune -o \
		! -path /var/log/dpkg.log ! -path '/var/lib/dpkg/*-old' \
		! -path /var/log/alternatives.log -printf '%p %y %m %u:%g %l\n' |
		sort
	find /etc -type f ! -path /etc/ld.so.cache -exec sha256sum {} + | sort -k 2
}

cluster_start() {
	cp /etc/slurm/plugstack.conf "$SANDBOX/plugstack.conf"
	find /etc/slurm | sort >"$SANDBOX/config.before"
	"$MINICLUSTER" up "$SANDBOX/cluster" --plugstack "$SANDBOX/plugstack.conf" \
		--timeout 60 3>&-
	# What the cluster wrote beside the package's files.
	find /etc/slurm -type f | sort | comm -13 "$SANDBOX/config.before" - >"$SANDBOX/config.cluster"
}

agent_runs() {
	[ -n "$(agent_pid 2>/dev/null)" ]
}

# attempt_of JOB: the span of a whole attempt of it is in the file.
attempt_of() {
	grep -F '"slurm.job.id.raw","value":{"stringValue":"'"$1"'"' "$TRACES" |
		grep -qF '"name":"slurm.job_attempt"'
}

# job_waiting: a job of a user, whose first step is over; a second one runs when told. Sets JOB.
job_waiting() {
	rm -f "$OUT/one" "$OUT/go" "$OUT/two"
	# shellcheck disable=SC2016 # the job's shell
	JOB=$(submit --lens -N2 -n2 'srun true && touch one
		until [ -e go ]; do sleep 0.2; done
		srun -n2 true && touch two')
	wait_for 60 test -e "$OUT/one"
}

job_goes_on() {
	touch "$OUT/go"
	wait_job "$JOB"
	job_in_state "$JOB" COMPLETED
	[ -e "$OUT/two" ]
	run ! grep -i 'lens' "$OUT/slurm-$JOB.out"
}

# slurmd_again: of the first node; as the package asks for.
slurmd_again() {
	"$MINICLUSTER" stop-node "$SANDBOX/cluster" n1 3>&-
	"$MINICLUSTER" start-node "$SANDBOX/cluster" n1 3>&-
	wait_for 60 all_idle
}

# --- in this order

@test "apt installs it with what it needs" {
	apt install "$LENS_PACKAGE"
	slurm-lens --version
	[ "$(dpkg-query -W -f '${db:Status-Status}' slurm-lens)" = installed ]
	dpkg-query -W -f '${Version}' slurm-lens | grep -q "+slurm$(slurmd -V | sed 's/.* \([0-9]*\.[0-9]*\)\..*/\1/')$"
	dpkg --verify slurm-lens
}

@test "the plugin's line is there and optional; the unit is there and not enabled" {
	[ "$(grep -v '^#' "$LINE")" = "optional lens.so" ]
	[ "$(stat -c '%a %U' "$LINE")" = "644 root" ]
	[ -f /etc/slurm/lens.conf ]
	find /lib/systemd/system /usr/lib/systemd/system -name "$UNIT" | grep -q .
	[ -z "$(find /etc/systemd -name "$UNIT")" ]
	man_pages=$(dpkg -L slurm-lens | grep -c '/man[158]/.*\.gz$')
	[ "$man_pages" -ge 3 ]
}

@test "a user's job with --lens becomes spans in the file" {
	cluster_start
	slurm srun --help | grep -q -- --lens-run-id
	run_batch --lens -N2 -n2 'srun env >env'
	grep -q "slurm.job.id.raw=$JOB" "$OUT/env"
	wait_for 60 attempt_of "$JOB"
	wait_for 60 agent_runs
}

@test "an upgrade: the job goes on, the agent becomes the new program, settings stay" {
	local agent
	echo '# a word of the admin' | tee -a "$LINE" >>/etc/slurm/lens.conf
	job_waiting
	agent=$(agent_pid)
	apt install "$LENS_PACKAGE_NEXT"
	dpkg-query -W -f '${Version}' slurm-lens | grep -q -- '-99+slurm'
	wait_for 60 test "/proc/$agent/exe" -ef "$LENS"
	[ "$(agent_pid)" = "$agent" ]
	grep -q 'a word of the admin' "$LINE"
	grep -q 'a word of the admin' /etc/slurm/lens.conf
	job_goes_on
	wait_for 60 attempt_of "$JOB"
}

@test "a line that the admin took away stays away" {
	mv "$LINE" "$SANDBOX/line"
	apt install --reinstall "$LENS_PACKAGE_NEXT"
	[ ! -e "$LINE" ]
	mv "$SANDBOX/line" "$LINE"
}

@test "a removal: the job goes on, no agent is left, wherever its StateDir" {
	local other=$SANDBOX/other
	mkdir -m 700 "$other"
	setsid slurm-lens agent --state-dir "$other" --set "File=$SANDBOX/traces.jsonl" \
		</dev/null >"$SANDBOX/other.log" 2>&1 3>&- &
	wait_for 30 test -s "$other/agent.lock"
	submit --hold --lens -N1 'srun true && touch held' >"$SANDBOX/job.held"
	job_waiting
	echo "$JOB" >"$SANDBOX/job.removal"
	agent_runs
	apt remove slurm-lens
	no_agent
	[ ! -e /usr/bin/slurm-lens ]
	[ ! -e "$LINE" ]
	job_goes_on
	no_agent
}

@test "a job that was submitted with --lens before, and starts after it, runs" {
	JOB=$(cat "$SANDBOX/job.held")
	slurm scontrol release "$JOB"
	wait_job "$JOB"
	job_in_state "$JOB" COMPLETED
	[ -e "$OUT/held" ]
}

@test "after it Slurm says nothing of the plugin, and does not know its options" {
	local log=$SANDBOX/cluster/log/slurmd.n1.log lines
	lines=$(wc -l <"$log")
	slurmd_again
	run --separate-stderr as_user srun -n1 true
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	run as_user srun --lens -n1 true
	[ "$status" -ne 0 ]
	run ! grep -i 'lens' <(tail -n "+$((lines + 1))" "$log")
}

@test "installed again: the line and the settings of before, and the spans that waited" {
	apt install "$LENS_PACKAGE_NEXT"
	grep -q 'a word of the admin' "$LINE"
	grep -q 'a word of the admin' /etc/slurm/lens.conf
	[ -z "$(find /etc/slurm -name '*.removed')" ]
	slurmd_again
	run_batch --lens -N1 'srun true'
	wait_for 60 attempt_of "$JOB"
	wait_for 60 attempt_of "$(cat "$SANDBOX/job.removal")"
}

@test "a purge leaves nothing" {
	"$MINICLUSTER" down "$SANDBOX/cluster" 3>&-
	apt purge slurm-lens
	no_agent
	apt autoremove --purge
	xargs rm -f <"$SANDBOX/config.cluster"
	files_list >"$SANDBOX/files.after"
	dpkg-query -W -f '${Package} ${Status}\n' >"$SANDBOX/packages.after"
	diff "$SANDBOX/packages.before" "$SANDBOX/packages.after"
	diff "$SANDBOX/files.before" "$SANDBOX/files.after"
}
