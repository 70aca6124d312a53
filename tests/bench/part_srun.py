# SPDX-License-Identifier: Apache-2.0
"""srun with lens on, loaded, absent: the same command in turn on clusters side by side."""

import random
import statistics
import subprocess
import time

import rig

ROUNDS = {1: 12 if rig.QUICK else 60, 64: 4 if rig.QUICK else 20}


def clusters(scratch):
    """Each variant: its cluster and srun's option."""
    hole, _ = scratch.sink("hole", "--black-hole")
    port, _ = scratch.sink("sink")
    options = ("--nodes", "1", "--cpus", "64", "--conf", "PrologFlags=Alloc")
    root = scratch.installed()
    absent = rig.Cluster(scratch, "absent", "", *options)
    empty = rig.Cluster(scratch, "empty", f"optional {root}/empty.so\n", *options)
    loaded = rig.Cluster(scratch, "loaded", rig.lens_line(
        scratch, "loaded", f"Endpoint=http://127.0.0.1:{port}", "Protocol=http/protobuf"), *options)
    holed = rig.Cluster(scratch, "holed", rig.lens_line(
        scratch, "holed", f"Endpoint=http://127.0.0.1:{hole}", "Protocol=http/protobuf"), *options)
    return {"absent": (absent, []), "an empty plugin": (empty, []),
            "lens, not enabled": (loaded, []), "lens, enabled": (loaded, ["--lens"]),
            "lens, enabled, endpoint black-holed": (holed, ["--lens"])}


def held(cluster):
    """A job that srun's steps run in: its id."""
    out = cluster.run("salloc", "--no-shell", "-n64", capture_output=True)
    words = (out.stderr + out.stdout).split()
    return next(word for word in words if word.isdigit())


def timed(command, environment):
    began = time.monotonic()
    subprocess.run(command, check=True, env=environment, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.monotonic() - began) * 1000


def compare(table, variants, environments, what, commands, rounds):
    """COMMANDS in turn, in another order each round; the median's ratio to the first one."""
    times = {name: [] for name in variants}
    for number in range(rounds + 1):
        order = list(variants)
        random.shuffle(order)
        for name in order:
            took = timed(commands[name], environments[name])
            if number > 0:  # the first warms up
                times[name].append(took)
    base = statistics.median(times["absent"])
    for name, values in times.items():
        median = statistics.median(values)
        bound = 1.02 if name.startswith("lens") else None
        table.add("srun", f"{what}: {name}", median / base, "x", bound,
                  note=f"{median:.1f} ms, {rounds} runs")


def run(table, scratch):
    variants = clusters(scratch)
    environments = {name: cluster.environment() for name, (cluster, _) in variants.items()}
    for tasks in (1, 64):
        commands = {name: ["srun", *options, f"-n{tasks}", "true"]
                    for name, (_, options) in variants.items()}
        compare(table, variants, environments, f"srun -n{tasks} true", commands, ROUNDS[tasks])
    jobs = {cluster: held(cluster) for cluster in {id(c): c for c, _ in variants.values()}.values()}
    for tasks in (1, 64):
        commands = {name: ["srun", *options, f"--jobid={jobs[cluster]}", "--overlap",
                           f"-n{tasks}", "true"]
                    for name, (cluster, options) in variants.items()}
        compare(table, variants, environments, f"a step, srun -n{tasks} true", commands,
                ROUNDS[tasks])
