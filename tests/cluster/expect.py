#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of what a job left, written as Python on standard input.

The ids are computed here from the published formulas with hashlib and uuid, the
carrier is read with urllib: nothing of the C code is used. Arguments: a directory
with environments that jobs dumped (or ""), then what decode.py takes. The checks
see the functions below, and `spans`.
"""

import hashlib
import os
import sys
import urllib.parse
import uuid

import decode

CLUSTER = "mini"
RANK_KEYS = ["nv.dl.rank", "nv.dl.world_size", "nv.dl.local_rank", "service.instance.id"]
DUMPS = ""
spans = []


# --- identity


def trace_id(job, attempt=0, cluster=CLUSTER, realm=""):
    lines = ["slurm-lens/trace/1", realm, cluster, str(job), str(attempt)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def span_id(trace, name, place=""):
    lines = ["slurm-lens/span/1", trace, name, str(place)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def traceparent(job, name, place, attempt=0):
    trace = trace_id(job, attempt)
    return f"00-{trace}-{span_id(trace, name, place)}-01"


def job_uuid(job):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"nemo.lens.job/{CLUSTER}/{job}"))


def run_uuid(job, attempt=0):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"nemo.lens.run/{CLUSTER}/{job}/sr{attempt}"))


def array_run_uuid(array):
    """Of all elements of an array and of all their attempts."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"nemo.lens.run/{CLUSTER}/{array}"))


def exporting(count, rate):
    """The ranks that `sampled` picks: the whole md5 of the decimal rank, mod 10000."""
    residue = (int(hashlib.md5(str(rank).encode()).hexdigest(), 16) % 10000 for rank in range(count))
    return [rank for rank, part in enumerate(residue) if part / 10000 < rate]


# --- environments


def env(name):
    """The environment that a task dumped as NAME."""
    with open(os.path.join(DUMPS, name), "rb") as dump:
        entries = [entry.split("=", 1) for entry in os.fsdecode(dump.read()).split("\0") if entry]
    variables = dict(entries)
    assert len(variables) == len(entries), f"{name}: a variable is there twice"
    return variables


def ranks(prefix):
    """The environments PREFIX.0, PREFIX.1 ..., in the order of ranks."""
    names = [name for name in os.listdir(DUMPS) if name.rpartition(".")[0] == prefix]
    names.sort(key=lambda name: int(name.rpartition(".")[2]))
    assert names == [f"{prefix}.{rank}" for rank in range(len(names))], names
    return [env(name) for name in names]


def carrier(variables):
    """OTEL_RESOURCE_ATTRIBUTES; strict: no empty entry, no key twice, all encoded."""
    attributes = {}
    for entry in variables["OTEL_RESOURCE_ATTRIBUTES"].split(","):
        key, equals, value = entry.partition("=")
        assert key and equals and "=" not in value, f"malformed entry `{entry}`"
        assert key not in attributes, f"{key} is there twice"
        attributes[key] = urllib.parse.unquote(value, errors="strict")
        assert urllib.parse.quote(attributes[key], safe="") == value, f"{entry}: not as encoded by lens"
    return attributes


def assert_carried(attributes, resource):
    """The RESOURCE of an SDK has all of a carrier's ATTRIBUTES; those have no types but text."""
    differing = {key: (value, resource.get(key)) for key, value in attributes.items() if resource.get(key) != value}
    assert not differing, differing
    assert {"slurm.job.id.raw", "slurm.job.name", "nemo.run.id", "nv.dl.run.uuid"} <= set(resource), resource


def assert_identity(variables, job, attempt=0, element=None, run=None):
    """A process of attempt ATTEMPT of JOB (the raw id; of a het job the leader's).

    ELEMENT is (array's job id, task id) where the job is one of an array, RUN the run id
    where one was chosen.
    """
    array, task = element or (job, 0)
    expected = {
        "slurm.job.id": f"{array}_{task}" if element else str(job),
        "slurm.job.id.raw": str(job),
        "slurm.array.job_id": str(array),
        "slurm.array.task_id": str(task),
        "slurm.restart_count": str(attempt),
        "slurm.cluster.name": CLUSTER,
        "nv.dl.job.uuid": job_uuid(array),
        "nv.dl.run.uuid": array_run_uuid(array) if element else run_uuid(job, attempt),
        "nemo.run.id": run or str(job),
    }
    attributes = carrier(variables)
    found = {key: attributes.get(key) for key in expected}
    assert found == expected, f"{found}, not {expected}"
    assert variables["NEMO_LENS_RUN_ID"] == expected["nemo.run.id"], variables["NEMO_LENS_RUN_ID"]
    assert variables["TRACEPARENT"].split("-")[1] == trace_id(job, attempt), variables["TRACEPARENT"]


def assert_no_rank(variables):
    """What is no rank: enabled, and without the keys of one."""
    keys = [key for key in carrier(variables) if key in RANK_KEYS]
    assert variables["NEMO_LENS_ENABLED"] == "1" and not keys, keys


def assert_script(variables, job, attempt=0, **how):
    """The batch script of JOB."""
    assert_identity(variables, job, attempt, **how)
    assert_no_rank(variables)
    assert variables["TRACEPARENT"] == traceparent(job, "slurm.batch", job, attempt)


def assert_step(tasks, job, attempt=0, export=None, **how):
    """All TASKS of one step of JOB, in the order of ranks; EXPORT: the ranks that do (the last)."""
    step = tasks[0]["SLURM_STEP_ID"]
    for rank, task in enumerate(tasks):
        assert_identity(task, job, attempt, **how)
        run = task["NEMO_LENS_RUN_ID"]
        values = [carrier(task).get(key) for key in RANK_KEYS]
        assert values == [str(rank), str(len(tasks)), task["SLURM_LOCALID"], f"{run}-rank{rank}"], values
        assert task["SLURM_PROCID"] == str(rank) and task["NEMO_LENS_EXPORT_STRATEGY"] == "all_ranks"
        exports = rank in ([len(tasks) - 1] if export is None else export)
        assert task["NEMO_LENS_ENABLED"] == str(int(exports)), (rank, task["NEMO_LENS_ENABLED"])
        name, place = ("slurm.task", f"{step}/{rank}") if exports else ("slurm.step", step)
        assert task["TRACEPARENT"] == traceparent(job, name, place, attempt), (name, place, task["TRACEPARENT"])


def ours(variables):
    """Names that lens sets for tasks."""
    names = ("NEMO_LENS_", "OTEL_", "SLURM_LENS_", "TRACEPARENT", "TRACESTATE", "LENS_SLURM")
    return sorted(name for name in variables if name.startswith(names))


def enabled(prefix):
    """The ranks among PREFIX.* that export."""
    return [rank for rank, task in enumerate(ranks(prefix)) if task["NEMO_LENS_ENABLED"] == "1"]


# --- spans


def of_job(job, attempt=0):
    return [span for span in spans if span["trace_id"] == trace_id(job, attempt)]


def each_once(some):
    """SOME spans without those that came again, the same: who had no answer in time sends again."""
    by_id = {}
    for span in some:
        first = by_id.setdefault((span["trace_id"], span["span_id"]), span)
        assert first | {"source": ""} == span | {"source": ""}, f"one id, two contents: {first}, {span}"
    return list(by_id.values())


def names(job, attempt=0):
    """Without the deferred phase: whether a job becomes eligible in the second in which
    it was submitted is chance. Tests of that phase ask for it with one()."""
    return sorted(span["name"] for span in of_job(job, attempt)
                  if span["name"] != "slurm.phase.deferred")


def one(job, name, place="", attempt=0):
    """The one span with the id that NAME and PLACE give."""
    wanted = span_id(trace_id(job, attempt), name, place)
    found = [span for span in of_job(job, attempt) if span["span_id"] == wanted]
    assert len(found) == 1, f"{len(found)} spans {name} `{place}` of job {job}, attempt {attempt}: {names(job, attempt)}"
    assert found[0]["name"] == name, found[0]
    return found[0]


def attribute(span, key):
    return span["attributes"].get(key)


def status(span):
    return {0: "unset", 1: "ok", 2: "error"}[span["status"]["code"]]


def assert_tree(trace):
    """One root, each parent there, ids once, each window in its parent's.

    What another node saw may go on: a task of a step, a component of a het job.
    """
    elsewhere = [
        ("slurm.task", "slurm.step"),
        ("slurm.step.node", "slurm.step"),
        ("slurm.job", "slurm.job_attempt"),
    ]
    by_id = {span["span_id"]: span for span in trace}
    assert len(by_id) == len(trace), "a span arrived twice: " + str(sorted(span["name"] for span in trace))
    roots = [span["name"] for span in trace if not span["parent_span_id"]]
    assert roots == ["slurm.job_attempt"], roots
    for span in trace:
        assert span["start"] <= span["end"], span
        assert span["kind"] == 1 and span["flags"] & 0xFF == 1, span
        if not span["parent_span_id"]:
            continue
        parent = by_id[span["parent_span_id"]]
        if attribute(span, "slurm.node.name") != attribute(parent, "slurm.node.name"):
            assert (span["name"], parent["name"]) in elsewhere, span
            continue
        assert parent["start"] <= span["start"] and span["end"] <= parent["end"], (
            f"{span['name']} {span['start']}..{span['end']} is not in "
            f"{parent['name']} {parent['start']}..{parent['end']}"
        )


def assert_reckoned(reckoned, job, attempt=0, late=3.0):
    """RECKONED, made from accounting, is what the plugin told of an attempt: the same ids, names,
    parents. Accounting has no tasks, and nothing but it knows the gaps between steps.

    Slurm cuts seconds off, and LATE is how much later (s) than slurmctld a busy node may see
    what it does; what both have from slurmctld is the same to the second.
    """
    trace = trace_id(job, attempt)
    mine = {span["span_id"]: span for span in reckoned if span["trace_id"] == trace}
    gaps = [span for span in mine.values() if span["name"] == "slurm.inter_step_gap"]
    told = {span["span_id"]: span for span in of_job(job, attempt)
            if span["name"] not in ("slurm.task", "slurm.step.node")}
    assert len(mine) == len([s for s in reckoned if s["trace_id"] == trace]), "an id is there twice"
    missing = [span["name"] for key, span in told.items() if key not in mine]
    more = [span["name"] for key, span in mine.items() if key not in told and span not in gaps]
    assert told and not missing and not more, f"not reckoned {missing}, not told {more}"
    for key, span in told.items():
        other = mine[key]
        for field in ("name", "parent_span_id", "kind"):
            assert other[field] == span[field], (span, other)
        assert [(link["trace_id"], link["span_id"]) for link in other["links"]] == [
            (link["trace_id"], link["span_id"]) for link in span["links"]], (span, other)
        exact = span["name"].startswith("slurm.phase.") or span["name"] in (
            "slurm.inter_attempt_gap", "slurm.job_start")
        for end in ("start", "end"):
            apart = (span[end] - other[end]) / 1e9
            assert apart == 0 if exact else -late < apart < late, (end, apart, span, other)
        for name in ("slurm.state", "slurm.node.name", "slurm.step.id", "slurm.step.name",
                     "slurm.nnodes", "slurm.attempt", "slurm.step.tasks", "slurm.exit_code"):
            values = [attribute(some, name) for some in (span, other)]
            if name == "slurm.exit_code" and None not in values:
                # sacct of older releases takes 128 from an exit code above.
                values = [[int(number) % 128 for number in value.split(":")] for value in values]
            assert None in values or values[0] == values[1], (name, span, other)
        assert attribute(other, "slurm.source") == "sacct", other
        if span["name"] in ("slurm.job", "slurm.job_attempt"):
            assert span["status"]["code"] == other["status"]["code"], (span, other)
        for name in ("slurm.job.id", "slurm.job.id.raw", "nv.dl.job.uuid", "nv.dl.run.uuid",
                     "slurm.cluster.name", "service.name"):
            assert span["resource"][name] == other["resource"][name], (name, span, other)
    assert_tree(list(mine.values()))
    return mine.values()


def comparable(some):
    """Spans in an order of their own, without where they were read."""
    stripped = [{key: value for key, value in span.items() if key != "source"} for span in some]
    return sorted(stripped, key=lambda span: (span["trace_id"], span["span_id"]))


def main():
    global DUMPS, spans
    DUMPS = sys.argv[1]
    spans = [span for path in sys.argv[2:] for span in decode.read(path, False)]
    text = sys.stdin.read()
    try:
        exec(compile(text, "check", "exec"), globals())  # the test's own text
    except Exception as error:
        at, trail = 0, error.__traceback__
        while trail:
            at = trail.tb_lineno if trail.tb_frame.f_code.co_filename == "check" else at
            trail = trail.tb_next
        print(f"{text.splitlines()[at - 1].strip()}\n{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
