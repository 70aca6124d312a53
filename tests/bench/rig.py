# SPDX-License-Identifier: Apache-2.0
"""Throwaway clusters and sinks for the benchmark; all of it below one directory."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time

SRC = os.environ["LENS_TEST_SRCDIR"]
BUILD = os.environ["LENS_TEST_BUILDDIR"]
LENS_SO = os.environ["LENS_TEST_LENS_SO"]
PROGRAM = os.environ["LENS_TEST_PROGRAM"]
MINICLUSTER = os.path.join(SRC, "tests/cluster/minicluster")
HOOKS = os.path.join(BUILD, "tests/bench/hooks")
SINK = os.path.join(BUILD, "tests/bench/sink")
EMPTY_SO = os.path.join(BUILD, "tests/bench/.libs/empty.so")
FLOOR_SO = os.path.join(BUILD, "tests/bench/.libs/floor.so")
QUICK = bool(os.environ.get("LENS_BENCH_QUICK"))


def wait_for(seconds, check, what):
    """Polls CHECK; what it returned, once that is true."""
    end = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > end:
            raise RuntimeError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


class Scratch:
    """A directory below /tmp that is gone afterwards, and what runs in it is ended."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="lens-bench.", dir="/tmp")
        os.chmod(self.path, 0o755)
        self.closers = []
        return self

    def __exit__(self, *_):
        with contextlib.ExitStack() as all_of_them:  # also when one fails
            all_of_them.callback(shutil.rmtree, self.path, ignore_errors=True)
            for close in self.closers:
                all_of_them.callback(close)

    def place(self, name, mode=0o755):
        path = os.path.join(self.path, name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, mode)
        return path

    def installed(self):
        """lens.so and slurm-lens where every user can read them."""
        root = self.place("root")
        for path in (LENS_SO, PROGRAM, EMPTY_SO):
            if not os.path.exists(os.path.join(root, os.path.basename(path))):
                shutil.copy(path, root)
        return root

    def sink(self, name, *options, log=False, core=None):
        """A sink; its port, and the process."""
        port_file = os.path.join(self.path, name + ".port")
        command = [SINK, *options, port_file]
        if log:
            command.append(os.path.join(self.path, name + ".log"))
        if core is not None:
            command = ["taskset", "-c", str(core)] + command
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.closers.append(lambda: end(process))
        wait_for(10, lambda: os.path.exists(port_file) and os.path.getsize(port_file), "the sink")
        with open(port_file, encoding="ascii") as lines:
            return int(lines.read()), process


def end(process):
    """SIGTERM to PROCESS; what it printed."""
    if process.poll() is not None:
        return ""
    process.send_signal(signal.SIGTERM)
    return process.communicate()[0]


class Cluster:
    """A minicluster with PLUGSTACK's text in its plugstack.conf."""

    def __init__(self, scratch, name, plugstack, *options):
        self.path = scratch.place(name)
        self.state = os.path.join(scratch.path, name + ".state")
        line = os.path.join(scratch.path, name + ".plugstack")
        with open(line, "w", encoding="utf-8") as out:
            out.write(plugstack)
        scratch.closers.append(self.down)
        subprocess.run([MINICLUSTER, "up", self.path, "--plugstack", line, *options],
                       check=True, stdout=subprocess.DEVNULL)

    def run(self, *command, **options):
        return subprocess.run([MINICLUSTER, "exec", self.path, *command], check=True, text=True,
                              stdin=subprocess.DEVNULL, **options)

    def environment(self):
        """What a client needs, to run it without minicluster's shell around it."""
        text = subprocess.run([MINICLUSTER, "env", self.path], check=True, text=True,
                              capture_output=True).stdout
        pairs = (line.removeprefix("export ").split("=", 1) for line in text.splitlines()
                 if "=" in line)
        return dict(os.environ) | {name: value.strip("'\"") for name, value in pairs}

    def down(self):
        subprocess.run([MINICLUSTER, "down", self.path], check=False, stdout=subprocess.DEVNULL)
        if os.path.isdir(self.state):
            subprocess.run([PROGRAM, "agent", "--stop", "--state-dir", self.state], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)


def lens_line(scratch, name, *arguments):
    """plugstack.conf with lens in it, the state directory as Cluster NAME has it."""
    root = scratch.installed()
    return " ".join(["optional", os.path.join(root, "lens.so"),
                     f"StateDir={scratch.path}/{name}.state",
                     f"AgentPath={os.path.join(root, 'slurm-lens')}",
                     f"File={scratch.path}/{name}.jsonl", *arguments]) + "\n"
