#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes OTLP/JSON lines of made-up jobs for the tests of `slurm-lens show`.

show_sample.py KIND: `attempts` (job 36, three attempts, the last with many tasks and spans of
the tasks themselves), `hostile` (names that would act on a terminal or a browser), `jobs` (an
array, two clusters, spans of no job), `mass N` (N jobs), `tasks N` (one step of N tasks).
"""

import hashlib
import json
import sys

BEGIN = 1796068800  # 2026-11-30 20:00:00 UTC
HOSTILE = ("</script><script>alert(1)</script>\x1b[31m\x07\u202e\x9b \u6f22\u5b57 \u0000"
           "<img src=x onerror=alert(1)>&amp;\"'")


def hexes(length, *parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:length]


def value(item):
    if isinstance(item, bool):
        return {"boolValue": item}
    if isinstance(item, int):
        return {"intValue": str(item)}
    if isinstance(item, list):
        return {"arrayValue": {"values": [value(one) for one in item]}}
    return {"stringValue": item}


def attributes(items):
    return [{"key": key, "value": value(item)} for key, item in items.items()]


class Job:
    """One attempt of a job; a line for each span."""

    def __init__(self, job, attempt=0, **resource):
        self.job, self.attempt = job, attempt
        self.trace = hexes(32, job, attempt, resource.get("slurm.cluster.name"))
        self.resource = {
            "service.name": "slurm", "slurm.job.id": job, "slurm.job.id.raw": job.split("_")[0],
            "slurm.array.job_id": job.split("_")[0], "slurm.job.name": "train",
            "slurm.job.user": "alice", "slurm.partition": "gpu", "slurm.cluster.name": "mini",
            "slurm.restart_count": attempt, **resource}
        self.lines = []

    def id(self, name, place=""):
        return hexes(16, self.trace, name, place)

    def span(self, name, place, parent, start, end, error=None, resource=None, **more):
        slurm = {"slurm.attempt": self.attempt} if name.startswith("slurm.") else {}
        span = {
            "traceId": self.trace, "spanId": self.id(name, place), "name": name, "kind": 1,
            "startTimeUnixNano": str(int((BEGIN + start) * 1000) * 1000000),
            "endTimeUnixNano": str(int((BEGIN + end) * 1000) * 1000000),
            "attributes": attributes({**slurm, **more, **({"error.type": error} if error else {})}),
            "flags": 1}
        if parent:
            span["parentSpanId"] = self.id(*parent)
        if error:
            span["status"] = {"code": 2, "message": error}
        self.lines.append(json.dumps({"resourceSpans": [{
            "resource": {"attributes": attributes(resource or self.resource)},
            "scopeSpans": [{"scope": {"name": "slurm-lens"}, "spans": [span]}]}]},
            separators=(",", ":")))

    def task(self, step, rank, start, end, error=None):
        self.span("slurm.task", f"{step}/{rank}", ("slurm.step", str(step)), start, end, error,
                  **{"slurm.step.id": str(step), "nv.dl.rank": rank, "slurm.node.name": "n1"})

    def own(self, name, place, parent, start, end, **more):
        """What the task traced itself: another service, not a word of Slurm but the job."""
        self.span(name, place, parent, start, end, resource={
            "service.name": "trainer", "slurm.job.id": self.job}, **more)

    def whole(self, begin, wait, end, state, steps=1, tasks=2, error=None):
        """All of an attempt: spans come in the order in which they end."""
        run = begin + wait
        root, job = ("slurm.job_attempt",), ("slurm.job", self.job)
        self.span("slurm.phase.queued", "", root, begin, run)
        self.span("slurm.job_start", "", root, run, run)
        length = (end - run - 2) / steps
        for step in range(steps):
            start = run + 1 + step * length
            for rank in range(tasks):
                self.task(step, rank, start, start + length * (1 - rank / (2 * tasks)),
                          error if rank == tasks - 1 else None)
            self.span("slurm.step", str(step), job, start, start + length, error,
                      **{"slurm.step.id": str(step), "slurm.step.name": "python"})
        self.span("slurm.job_setup", "", job, run, run + 1)
        self.span("slurm.batch", "", job, run + 1, end, **{"slurm.node.name": "n1"})
        self.span("slurm.job", self.job, root, run, end, error, **{"slurm.state": state})
        self.span("slurm.job_attempt", "", None, begin, end, error,
                  **{"slurm.state": state, "purpose": ["goodput"]})
        return self


def attempts():
    third = Job("36", 2)
    third.whole(200, 50, 400, "FAILED", steps=2, tasks=40, error="exit_3")
    for number in range(3):
        third.own("train.step", str(number), ("slurm.task", "0/0"), 260 + 10 * number,
                  268 + 10 * number, step=number)
    return (Job("36", 0).whole(0, 10, 100, "REQUEUED").lines +
            Job("36", 1).whole(100, 60, 200, "NODE_FAIL").lines + third.lines)


def hostile():
    job = Job("36", 0, **{"slurm.job.name": HOSTILE})
    job.whole(0, 4, 60, "COMPLETED")
    job.span(HOSTILE, "", ("slurm.job", "36"), 10, 20, HOSTILE, **{HOSTILE: HOSTILE})
    job.span("ring a", "", ("ring b", ""), 11, 20)
    job.span("ring b", "", ("ring a", ""), 12, 20)
    job.span("lost", "", ("nowhere",), 13, 20)
    return job.lines


def jobs():
    alone = Job("77")
    alone.resource = {"service.name": "cron"}
    alone.span("tick", "", None, 0, 1)
    return (Job("36_0", 0).whole(0, 4, 60, "COMPLETED").lines +
            Job("36_1", 0).whole(1, 4, 50, "FAILED", error="exit_1").lines +
            Job("40", 0).whole(2, 4, 50, "COMPLETED").lines +
            Job("40", 0, **{"slurm.cluster.name": "other"}).whole(3, 4, 50, "COMPLETED").lines +
            alone.lines)


def main():
    kind, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if kind == "mass":
        lines = [line for number in range(count)
                 for line in Job(str(1000 + number)).whole(number, 4, 60, "COMPLETED").lines]
    elif kind == "tasks":
        lines = Job("36").whole(0, 4, 60, "COMPLETED", tasks=count).lines
    else:
        lines = {"attempts": attempts, "hostile": hostile, "jobs": jobs}[kind]()
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
