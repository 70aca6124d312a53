# SPDX-License-Identifier: Apache-2.0
"""What the hooks themselves take, on the fake SPANK host."""

import glob
import json
import os
import shutil
import subprocess
import tempfile

import rig

TASKS = (1, 8, 64, 512)


def hooks(*arguments, plugin=rig.LENS_SO):
    """On tmpfs: ext4 takes up to a millisecond for a new file where many were just deleted."""
    with tempfile.TemporaryDirectory(prefix="lens-bench.", dir="/dev/shm") as place:
        out = subprocess.run([rig.HOOKS, plugin, os.path.join(place, "state"),
                              *map(str, arguments)],
                             check=True, text=True, capture_output=True).stdout
    return json.loads(out)


def instructions(scratch, function, tasks):
    """What valgrind counts in FUNCTION, for each call, in a step of TASKS tasks."""
    out = scratch.place("callgrind", 0o1777)  # tasks are another user's
    for path in glob.glob(out + "/*"):
        os.unlink(path)
    state = scratch.place("callgrind-state")
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}/out.%p",
                    f"--toggle-collect={function}", rig.HOOKS, rig.LENS_SO,
                    os.path.join(state, "state"), str(tasks), "1"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    totals = []
    for path in glob.glob(out + "/out.*"):
        with open(path, encoding="utf-8") as lines:
            totals += [int(line.split()[1]) for line in lines if line.startswith("totals:")]
    return sorted(total for total in totals if total)


def run(table, scratch):
    for tasks in TASKS[: 3 if rig.QUICK else 4]:
        steps = max(2, (128 if rig.QUICK else 1024) // tasks)
        floor = hooks(tasks, steps, plugin=rig.FLOOR_SO)["task_init_us"]
        seen = hooks(tasks, steps)
        table.add("hooks", f"task_init, {tasks} tasks on the node", seen["task_init_us"], "us", 30,
                  note=f"median of {seen['task_inits']}")
        table.add("hooks", "the same, to a plugin that only sets and writes as much",
                  seen["task_init_us"] / floor, "x", note=f"{floor:.1f} us")
        table.add("hooks", f"a step's init and exit, {tasks} tasks", seen["step_us"], "us", 300,
                  note=f"median of {seen['steps']}")
    seen = hooks("load", 50 if rig.QUICK else 200)
    table.add("hooks", "lens.so loaded", seen["load_us"], "us", 200,
              note=f"median of {seen['loads']}")
    if not shutil.which("valgrind"):
        print("hooks: no valgrind: no instructions counted")
        return
    for tasks in (1, 64):
        counts = instructions(scratch, "slurm_spank_task_init", tasks)
        table.add("hooks", f"task_init, {tasks} tasks: instructions", counts[len(counts) // 2], "",
                  note="callgrind")
