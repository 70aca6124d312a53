#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# TRACEPARENT: what an inherited one means, what each process gets, how the spans hang together.

bats_require_minimum_version 1.5.0
load helpers

OUTER_TRACE=0123456789abcdef0123456789abcdef
OUTER_SPAN=0123456789abcdef
OUTER=00-$OUTER_TRACE-$OUTER_SPAN-01

setup_file() {
	sandbox_create
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL"
}

teardown_file() {
	sandbox_destroy
}

setup() {
	place_create
}

@test "an inherited TRACEPARENT by the rules of W3C: a link, or nothing" {
	local job jobs=() value
	local tabled=(
		"$OUTER|$OUTER_TRACE-$OUTER_SPAN"
		"00-01234567890123456789012345678901-0123456789012345-00|01234567890123456789012345678901-0123456789012345"
		"01-$OUTER_TRACE-$OUTER_SPAN-01-extra|$OUTER_TRACE-$OUTER_SPAN"
		"01-$OUTER_TRACE-$OUTER_SPAN-01.|"
		"$OUTER-extra|"
		"ff-$OUTER_TRACE-$OUTER_SPAN-01|"
		"00-${OUTER_TRACE^^}-$OUTER_SPAN-01|"
		"00-${OUTER_TRACE//[1-9a-f]/0}-$OUTER_SPAN-01|"
		"00-$OUTER_TRACE-0000000000000000-01|"
		"${OUTER%?}|"
		" $OUTER|"
		"$OUTER"$'\n'"|"
		"|"
	)
	for value in "${tabled[@]}"; do
		job=$(as_user env TRACEPARENT="${value%|*}" TRACESTATE=x=1 \
			sbatch --parsable --lens -n1 -o /dev/null --wrap "$PLACE/dump \$SLURM_JOB_ID")
		jobs+=("$job|${value##*|}")
	done
	for value in "${jobs[@]}"; do
		wait_sent "${value%|*}"
		expect <<-E
		job, link = "${value%|*}", "${value#*|}"
		assert_script(env(f"{job}.0"), job)
		assert "TRACESTATE" not in env(f"{job}.0")
		root = one(job, "slurm.job_attempt")
		found = [f"{link['trace_id']}-{link['span_id']}" for link in root["links"]]
		assert found == ([link] if link else []), (job, found)
		assert not root["parent_span_id"]
		E
	done
}

@test "only the exact name counts" {
	JOB=$(as_user env traceparent="$OUTER" sbatch --parsable --lens -n1 -o /dev/null --wrap "$PLACE/dump batch")
	wait_sent "$JOB"
	expect <<-E
	assert env("batch.0")["traceparent"] == "$OUTER"
	assert one($JOB, "slurm.job_attempt")["links"] == []
	E
}

@test "link, parent and off, by option and by lens.conf" {
	local way
	export TRACEPARENT=$OUTER TRACESTATE=x=1
	for way in link off parent; do
		run_batch --lens-traceparent=$way -N2 -n2 -o /dev/null "$PLACE/dump $way.batch; srun $PLACE/dump $way.step"
		wait_sent "$JOB"
	done
	echo Traceparent=off | lens_conf
	run_batch --lens -n1 -o /dev/null "$PLACE/dump site.batch; srun $PLACE/dump site.step"
	wait_sent "$JOB"
	: | lens_conf
	unset TRACEPARENT TRACESTATE
	expect <<-E
	for way in "link", "off", "site":
	    job = env(f"{way}.batch.0")["SLURM_JOB_ID"]
	    assert_script(env(f"{way}.batch.0"), job)
	    assert_step(ranks(f"{way}.step"), job)
	    assert len(one(job, "slurm.job_attempt")["links"]) == (1 if way == "link" else 0), way
	    for task in ranks(f"{way}.batch") + ranks(f"{way}.step"):
	        assert "TRACESTATE" not in task, way
	# Below the submitter's span, with the ids of the job's own trace.
	job = env("parent.batch.0")["SLURM_JOB_ID"]
	own = trace_id(job)
	batch, first, last = env("parent.batch.0"), *ranks("parent.step")
	for task, name, place in [
	        (batch, "slurm.batch", job), (first, "slurm.step", "0"), (last, "slurm.task", "0/1")]:
	    assert task["TRACEPARENT"] == f"00-$OUTER_TRACE-{span_id(own, name, place)}-01", (name, task["TRACEPARENT"])
	    assert task["TRACESTATE"] == "x=1", name
	inside = {span["span_id"]: span for span in spans if span["trace_id"] == "$OUTER_TRACE"}
	assert span_id(own, "slurm.job_attempt") in inside, sorted(span["name"] for span in inside.values())
	assert inside[span_id(own, "slurm.job_attempt")]["parent_span_id"] == "$OUTER_SPAN"
	E
}

@test "salloc and srun: a link to the shell that they were started from" {
	as_user env TRACEPARENT="$OUTER" salloc --quiet --lens -N2 -n2 sh -c "
		srun -n1 -N1 $PLACE/dump salloc; srun $PLACE/dump salloc" </dev/null
	as_user env TRACEPARENT="$OUTER" srun --lens -N2 -n2 "$PLACE/dump" srun
	local job
	for job in salloc srun; do
		wait_sent "$(dumped "$job.0" SLURM_JOB_ID)"
	done
	expect <<-E
	for name in "salloc", "srun":
	    job = env(f"{name}.0")["SLURM_JOB_ID"]
	    assert_step(ranks(name), job)
	    links = one(job, "slurm.job_attempt")["links"]
	    assert [(link["trace_id"], link["span_id"]) for link in links] == [("$OUTER_TRACE", "$OUTER_SPAN")], (name, links)
	E
}

@test "a span that the script opened around a srun is the parent of its step" {
	run_batch --lens -N2 -n2 -o /dev/null "
		$PLACE/dump batch
		trace=\$(echo \$TRACEPARENT | cut -d- -f2)
		TRACEPARENT=00-\$trace-aaaaaaaaaaaaaaaa-01 srun $PLACE/dump around
		TRACEPARENT=$OUTER srun $PLACE/dump foreign
		srun $PLACE/dump plain
		TRACEPARENT=broken srun $PLACE/dump broken"
	wait_sent "$JOB"
	expect <<-E
	for step, name in enumerate(("around", "foreign", "plain", "broken")):
	    assert_step(ranks(name), $JOB)
	    parent = "aaaaaaaaaaaaaaaa" if name == "around" else span_id(trace_id($JOB), "slurm.job", $JOB)
	    assert one($JOB, "slurm.step", step)["parent_span_id"] == parent, name
	    task = one($JOB, "slurm.task", f"{step}/1")
	    assert task["parent_span_id"] == span_id(trace_id($JOB), "slurm.step", step), name
	E
}

@test "a job that is submitted from a job links to the span it was submitted from" {
	run_batch --lens -n1 -o /dev/null "
		sbatch --parsable -n1 -o /dev/null --wrap true >$PLACE/of_batch
		srun sh -c 'sbatch --parsable -n1 -o /dev/null --wrap true >$PLACE/of_task'
		sbatch --parsable -n1 -o /dev/null --wrap true : -n1 >$PLACE/of_het
		TRACEPARENT=$OUTER sbatch --parsable -n1 -o /dev/null --wrap true >$PLACE/of_user"
	wait_sent "$JOB"
	local name
	for name in of_batch of_task of_het of_user; do
		wait_sent "$(cat "$PLACE/$name")"
	done
	expect <<-E
	submitters = {
	    "of_batch": ("slurm.batch", $JOB), "of_het": ("slurm.batch", $JOB), "of_task": ("slurm.task", "0/0")}
	for name, (span, place) in submitters.items():
	    with open(os.path.join(DUMPS, name)) as file:
	        root = one(int(file.read()), "slurm.job_attempt")
	    found = [(link["trace_id"], link["span_id"]) for link in root["links"]]
	    assert found == [(trace_id($JOB), span_id(trace_id($JOB), span, place))], (name, found)
	with open(os.path.join(DUMPS, "of_user")) as file:
	    root = one(int(file.read()), "slurm.job_attempt")
	assert [link["span_id"] for link in root["links"]] == ["$OUTER_SPAN"]
	E
}

@test "spans that the library opens are in the trace that lens sends, on each node" {
	run_batch --lens-strategy=all_ranks -N2 -n4 -o /dev/null "$PLACE/dump batch; srun $PLACE/dump step"
	wait_sent "$JOB"
	expect <<-E
	assert {task["SLURMD_NODENAME"] for task in ranks("step")} == {"n1", "n2"}
	for task in ranks("batch") + ranks("step"):
	    version, trace, span, flags = task["TRACEPARENT"].split("-")
	    assert (version, flags) == ("00", "01")
	    sent = [one for one in spans if one["trace_id"] == trace and one["span_id"] == span]
	    assert [one["name"] for one in sent] == ["slurm.batch" if task in ranks("batch") else "slurm.task"]
	    assert attribute(sent[0], "slurm.node.name") == task["SLURMD_NODENAME"]
	E
}
