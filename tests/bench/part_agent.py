# SPDX-License-Identifier: Apache-2.0
"""The agent: idle, with a backlog, and with many short jobs."""

import json
import os
import shutil
import subprocess
import time

import rig

NODE_2 = "75540797"  # the number of n2, whose journals a backlog is made of


def agent_settings(scratch, state, port):
    return ["--state-dir", state, "--set", f"Endpoint=http://127.0.0.1:{port}",
            "--set", "Protocol=http/protobuf", "--set", "MaxSpool=64G", "--set", "MaxNotes=1000000"]


def processes(program):
    """Who runs PROGRAM: the keeper and its sender."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/exe") == program:
                found.append(int(name))
        except OSError:
            pass
    return found


def status_field(pid, *keys):
    fields = {}
    with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
        for line in lines:
            key, value = line.split(":", 1)
            if key in keys:
                fields[key] = int(value.split()[0])
    return fields


def memory(pid):
    """KiB that are PID's: its share of what is shared."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def switches(pids):
    keys = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
    return [status_field(pid, *keys) for pid in pids]


def idle(table, scratch):
    program = os.path.join(scratch.installed(), "slurm-lens")
    port, _ = scratch.sink("idle")
    state = scratch.place("idle-state", 0o700)
    agent = subprocess.Popen([program, "agent", *agent_settings(scratch, state, port)],
                             stdin=subprocess.DEVNULL)
    scratch.closers.append(lambda: rig.end(agent))
    rig.wait_for(20, lambda: len(processes(program)) == 2, "keeper and sender")
    time.sleep(2)
    pids = processes(program)
    before = switches(pids)
    time.sleep(10)
    # who sleeps in the kernel makes no system call: it would have to wake up first
    woken = sum(after[key] - seen[key] for seen, after in zip(before, switches(pids)) for key in seen)
    table.add("agent", "idle: times that it woke up in 10 s, both processes", woken, "", 0)
    table.add("agent", "idle: memory, both processes", sum(map(memory, pids)) / 1024, "MiB", 10,
              note="proportional set size")
    rig.end(agent)


def backlog_template(scratch, tasks):
    """What the second node of a job of TASKS tasks a node left: name's rest and text of each file."""
    state = os.path.join(scratch.path, f"template-{tasks}")
    subprocess.run([rig.HOOKS, rig.LENS_SO, state, "node", str(tasks)], check=True,
                   stdout=subprocess.DEVNULL)
    files = []
    for name in os.listdir(state):
        parts = name.split(".")
        if NODE_2 in parts[1:]:
            with open(os.path.join(state, name), encoding="utf-8") as text:
                files.append((parts[1:], text.read()))
    shutil.rmtree(state)
    return files


def backlog_write(files, state, jobs):
    os.makedirs(state, 0o700)
    for job in range(1001, 1001 + jobs):
        for rest, text in files:
            changed = (text.replace("job=1000,leader=1000,", f"job={job},leader={job},")
                       .replace(".id%3D1000%2C", f".id%3D{job}%2C")
                       .replace("id.raw%3D1000%2C", f"id.raw%3D{job}%2C"))
            with open(os.path.join(state, ".".join([str(job), *rest])), "w", encoding="utf-8") as out:
                os.chmod(out.fileno(), 0o600)
                out.write(changed)


def drained(scratch, program, spans, tasks=250):
    """Sends a backlog of about SPANS spans, on one core: spans, seconds, most memory (KiB)."""
    name = f"backlog-{spans}"
    state = os.path.join(scratch.path, name)
    jobs = spans // (tasks + 1)
    backlog_write(backlog_template(scratch, tasks), state, jobs)
    port, sink = scratch.sink(name, core=1 if os.cpu_count() > 1 else 0)
    began = time.monotonic()
    agent = subprocess.Popen(["taskset", "-c", "0", program, "agent", "--once",
                              *agent_settings(scratch, state, port)], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL)
    most = {}
    while agent.poll() is None:
        for pid in processes(program):
            try:
                most[pid] = max(most.get(pid, 0), status_field(pid, "VmHWM").get("VmHWM", 0))
            except OSError:
                pass
        time.sleep(0.1)
    took = time.monotonic() - began
    seen = json.loads(rig.end(sink))
    left = [entry for entry in os.listdir(state) if entry[0].isdigit()]
    if agent.returncode != 0 or left:
        raise RuntimeError(f"agent --once: exit {agent.returncode}, {len(left)} files left")
    shutil.rmtree(state)
    return jobs * (tasks + 1), took, sum(most.values()), seen


def backlog(table, scratch):
    program = os.path.join(scratch.installed(), "slurm-lens")
    whole = 100_000 if rig.QUICK else 1_000_000
    _, _, small_memory, _ = drained(scratch, program, whole // 10)
    spans, took, most, seen = drained(scratch, program, whole)
    table.add("agent", f"a backlog of {spans:,} spans, on one core: a second", spans / took, "spans",
              50_000, least=True, note=f"{took:.1f} s, {seen['requests']} requests, "
              f"{seen['bytes'] / 1e6:.0f} MB")
    table.add("agent", "memory with it, to that of a tenth of it", most / small_memory, "x", 1.2,
              note=f"{most / 1024:.1f} MiB, both processes at their most")


def lateness(path):
    """Of each span in a sink's log: how long it came after it was over (s), and its name.

    What was over before the job began is told at the begin: from there it counts.
    """
    spans, began = {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            came, ended, trace, span, name = line.rstrip("\n").split(" ", 4)
            spans.setdefault((trace, span), (int(came), int(ended), name))
            if name == "slurm.job_start":
                began[trace] = int(ended)
    return sorted(((came - max(ended, began.get(trace, 0))) / 1e9, name)
                  for (trace, _), (came, ended, name) in spans.items())


def wait_jobs(cluster, state):
    def nothing_left():
        queue = cluster.run("squeue", "-h", "-a", capture_output=True).stdout.strip()
        return not queue and not [name for name in os.listdir(state) if name[0].isdigit()]
    rig.wait_for(1800, nothing_left, "all jobs over and sent")


def short_jobs(table, scratch):
    count = 100 if rig.QUICK else 2000
    port, sink = scratch.sink("jobs", log=True)
    line = rig.lens_line(scratch, "jobs", f"Endpoint=http://127.0.0.1:{port}",
                         "Protocol=http/protobuf", "Inject=always")
    cluster = rig.Cluster(scratch, "jobs", line, "--nodes", "1", "--cpus", "16",
                          "--conf", "MaxArraySize=10001", "--conf", "MaxJobCount=20000")
    began = time.monotonic()
    cluster.run("sbatch", "--output=/dev/null", f"--array=1-{count}", "-n1", "--chdir=/tmp",
                "--wrap", "sleep 1", stdout=subprocess.DEVNULL)
    wait_jobs(cluster, cluster.state)
    took = time.monotonic() - began
    rig.end(sink)
    path = os.path.join(scratch.path, "jobs.log")
    names = {}
    with open(path, encoding="utf-8") as lines:
        for text in lines:
            _, _, trace, _, name = text.rstrip("\n").split(" ", 4)
            names.setdefault(name, set()).add(trace)
    for name in ("slurm.job_attempt", "slurm.job", "slurm.batch"):
        table.add("agent", f"{count:,} one-second jobs: traces without {name}",
                  count - len(names.get(name, ())), "", 0)
    late = lateness(path)
    table.add("agent", "the same: the latest span, after it was over", late[-1][0], "s", 2,
              note=f"a {late[-1][1]}; median {late[len(late) // 2][0]:.2f} s, {len(late):,} spans, "
              f"{took:.0f} s in all")


def run(table, scratch):
    idle(table, scratch)
    backlog(table, scratch)
    short_jobs(table, scratch)
