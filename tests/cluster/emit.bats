#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens emit inside jobs: its spans hang in the job's trace and are the rank's.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL" "TaskEndpoint=$RECEIVER_URL"
}

teardown_file() {
	sandbox_destroy
}

setup() {
	place_create
}

# emitted NAME COUNT: whether so many spans of that name arrived.
emitted() {
	spans_true "len([s for s in spans if s['name'] == '$1']) == $2"
}

@test "in a task: below its slurm.task, with its resource, from exporting ranks alone" {
	run_batch --lens-strategy=all_ranks --lens-run-id=r1 --lens-service=trainer -N2 -n2 -o "$PLACE/log" "
		srun --lens-strategy=single_rank --lens-rank=1 sh -c '
			$LENS emit --name work -- sh -c \"exit 3\"
			echo \$SLURM_PROCID \$? >>$PLACE/status
			$LENS emit --span loaded,now,now,train --span train,1700000000.5,1700000001
			echo \$SLURM_PROCID \$? >>$PLACE/status'"
	wait_sent "$JOB"
	wait_for 30 emitted train 1
	[ "$(sort "$PLACE/status")" = $'0 0\n0 3\n1 0\n1 3' ]
	[ ! -s "$PLACE/log" ]
	expect <<-E
	task = one($JOB, "slurm.task", "0/1")
	mine = {s["name"]: s for s in spans if s["name"] in ("work", "loaded", "train")}
	assert len(mine) == 3 and sum(s["name"] in mine for s in spans) == 3
	for span in mine.values():
	    assert span["trace_id"] == trace_id($JOB)
	    resource = span["resource"]
	    assert resource["service.name"] == "trainer" and resource["slurm.job.id"] == "$JOB"
	    assert resource["nemo.run.id"] == "r1" and resource["service.instance.id"] == "r1-rank1"
	    assert resource["nv.dl.rank"] == 1 and resource["slurm.ntasks"] == 2
	    assert span["scope"] == task["scope"]
	assert mine["work"]["parent_span_id"] == mine["train"]["parent_span_id"] == task["span_id"]
	assert mine["loaded"]["parent_span_id"] == mine["train"]["span_id"]
	work = mine["work"]
	assert work["attributes"]["process.exit.code"] == 3 and status(work) == "error"
	assert task["start"] <= work["start"] and work["end"] <= task["end"]
	E
}

@test "around a srun: the parent of its step" {
	run_batch --lens -n1 -o /dev/null "$LENS emit --name around -- srun true; echo \$? >$PLACE/status"
	wait_sent "$JOB"
	wait_for 30 emitted around 1
	[ "$(cat "$PLACE/status")" = 0 ]
	expect <<-E
	around = [s for s in spans if s["name"] == "around"][0]
	assert around["trace_id"] == trace_id($JOB)
	assert around["parent_span_id"] == one($JOB, "slurm.batch", $JOB)["span_id"]
	assert one($JOB, "slurm.step", 0)["parent_span_id"] == around["span_id"]
	E
}

@test "Slurm's signals reach the command once; a cancelled one has its span" {
	# Perl counts signals that came together; a shell would not.
	cat >"$PLACE/command" <<-'E'
	#!/usr/bin/perl
	use File::Basename;
	my $place = dirname($0);
	sub add { open(my $file, '>>', "$place/$_[0]"); print $file "$_[0]\n"; close $file }
	$SIG{USR1} = sub { add("seen") };
	add("ready");
	select(undef, undef, undef, 0.05) while 1;
	E
	chmod 755 "$PLACE/command"
	JOB=$(submit --lens -n1 -o /dev/null "srun $LENS emit --name cancelled -- $PLACE/command")
	wait_for 60 test -s "$PLACE/ready"
	seen() {
		[ -e "$PLACE/seen" ] && [ "$(wc -l <"$PLACE/seen")" -ge "$1" ]
	}
	local count
	for count in 1 2 3; do
		as_user scancel --signal=USR1 "$JOB.0"
		# One too many of the signal before counts as this one, and is told at the end.
		wait_for 60 seen "$count"
	done
	as_user scancel "$JOB"
	wait_sent "$JOB"
	wait_for 60 emitted cancelled 1
	[ "$(wc -l <"$PLACE/seen")" = 3 ]
	expect <<-E
	span = [s for s in spans if s["name"] == "cancelled"][0]
	assert span["attributes"]["error.type"] == "SIGTERM"
	assert span["trace_id"] == trace_id($JOB)
	E
}
