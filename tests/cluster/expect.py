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


def names(job, attempt=0):
    return sorted(span["name"] for span in of_job(job, attempt))


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

    A step is what its first node saw of it: another node's task may go on.
    """
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
            assert (span["name"], parent["name"]) == ("slurm.task", "slurm.step"), span
            continue
        assert parent["start"] <= span["start"] and span["end"] <= parent["end"], (
            f"{span['name']} {span['start']}..{span['end']} is not in "
            f"{parent['name']} {parent['start']}..{parent['end']}"
        )


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
