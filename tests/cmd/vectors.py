#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `slurm-lens attrs` and `slurm-lens ranks` against the expected values.

vectors.py PROGRAM attrs FILE     each environment of slurm.json, through both stages
vectors.py PROGRAM ranks FILE     each rate of sampled.json, to the last of 100000 ranks
"""

import hashlib
import json
import subprocess
import sys


def run(program, arguments, env):
    done = subprocess.run([program, *arguments], env=env, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout), done.stderr


def judged(key):
    """Keys that the vectors say everything about."""
    return key.startswith("slurm.") or key == "nv.dl.job.uuid"


def expected_run_uuid(entry):
    if "nv.dl.run.uuid" in entry["detect"]:
        return entry["detect"]["nv.dl.run.uuid"]
    return entry["run_uuid"] if entry["env"].get("SLURM_JOB_ID") else None


def attrs_problems(program, entry, stage):
    status, found, said = run(program, ["attrs", "--stage", stage, "--format", "json"], entry["env"])
    wanted = {key: value for key, value in entry["detect"].items() if judged(key)}
    if stage == "sbatch":
        wanted = {key: value for key, value in wanted.items() if not key.startswith("slurm.topology.")}
    # A retired key that a launch handed on is the user's, and no concern of the vectors.
    got = {key: value for key, value in found.items() if judged(key) and key != "slurm.nodelist"}
    for key in sorted(wanted.keys() | got.keys()):
        if json.dumps(wanted.get(key)) != json.dumps(got.get(key)):
            yield f"{key}: {got.get(key)!r}, not {wanted.get(key)!r}"
    if found.get("nv.dl.run.uuid") != expected_run_uuid(entry):
        yield f"nv.dl.run.uuid: {found.get('nv.dl.run.uuid')!r}, not {expected_run_uuid(entry)!r}"
    if (status, bool(said)) != ((0, False) if found else (1, True)):
        yield f"status {status}, standard error `{said}`, standard output {found}"
    if ("host.name" in found) != (stage == "task" and bool(entry["env"].get("SLURM_JOB_ID"))):
        yield f"host.name: {found.get('host.name')}"


def ranks_problems(program, case):
    arguments = ["ranks", "--strategy", "sampled", "--world-size", "100000", "--format", "json"]
    status, found, _ = run(program, [*arguments, "--sample-rate", repr(case["rate"])], {})
    ranks = found["ranks"]
    digest = hashlib.sha256(",".join(map(str, ranks)).encode()).hexdigest()
    if not found["count"] == len(ranks) == case["count_of_100000"]:
        yield f"count: {found['count']}, {len(ranks)}, not {case['count_of_100000']}"
    if ranks[:40] != case["first"] or digest != case["sha256_of_selected"]:
        yield f"ranks: {ranks[:40]}..."
    if status != (0 if ranks else 1):
        yield f"status {status}"


def main():
    program, command, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    problems = []
    if command == "attrs":
        for number, entry in enumerate(vectors):
            for stage in ("sbatch", "task"):
                problems += [f"{number} {stage}: {text}" for text in attrs_problems(program, entry, stage)]
    else:
        vectors = vectors["cases"]
        for case in vectors:
            problems += [f"rate {case['rate']}: {text}" for text in ranks_problems(program, case)]
    print("\n".join(problems + [f"{len(vectors)} vectors"]))
    sys.exit(1 if problems or not vectors else 0)


if __name__ == "__main__":
    main()
