# SPDX-License-Identifier: Apache-2.0
"""What is done without lens, beside it."""

import os
import shutil
import statistics
import subprocess
import sys
import time
import venv

import rig

ROUNDS = 5 if rig.QUICK else 30

# As a job's preamble has it: each task asks the SDK to make the attributes of what Slurm says.
COMPOSE = """
import os
from opentelemetry.sdk.resources import Resource
from urllib.parse import quote
attributes = {"slurm.job.id": os.environ.get("SLURM_JOB_ID", "1"),
              "slurm.nnodes": int(os.environ.get("SLURM_JOB_NUM_NODES", "1")),
              "nv.dl.rank": int(os.environ.get("SLURM_PROCID", "0"))}
resource = Resource.create(attributes)
print(",".join(f"{key}={quote(str(value), safe='')}" for key, value in resource.attributes.items()))
"""

SPAN = """
import time
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
now = time.time_ns()
span = provider.get_tracer("bench").start_span("phase", start_time=now - 1000)
span.end(now)
provider.shutdown()
"""


def python():
    """A Python with the SDK in it."""
    place = os.path.join(rig.SRC, "build/venv-bench")
    program = os.path.join(place, "bin/python")
    if subprocess.run([program, "-c", "import opentelemetry.sdk"], check=False,
                      stderr=subprocess.DEVNULL).returncode if os.path.exists(program) else True:
        venv.create(place, with_pip=True)
        subprocess.run([program, "-m", "pip", "--quiet", "install", "opentelemetry-sdk==1.27.0",
                        "opentelemetry-exporter-otlp-proto-http==1.27.0"], check=True,
                       stdout=sys.stderr)
    return program


def others(scratch, environment):
    """What else sends one span and is at hand: the command of each, by what it is."""
    commands = {}
    if shutil.which("go"):
        program = os.path.join(scratch.path, "task-go")
        built = subprocess.run(["go", "build", "-o", program, "."], check=False,
                               cwd=os.path.join(rig.SRC, "tests/interop/sdk/go"),
                               stdout=sys.stderr, stderr=sys.stderr).returncode
        if built == 0:
            commands["a Go program and the SDK"] = [program, "phase"]
    if shutil.which("otel-cli"):
        commands["otel-cli"] = ["otel-cli", "span", "--service", "bench", "--name", "phase",
                                "--protocol", "http/protobuf", "--endpoint",
                                environment["OTEL_EXPORTER_OTLP_ENDPOINT"]]
    for name in ("go", "otel-cli"):
        if not shutil.which(name):
            print(f"today: no {name}: nothing of it is measured")
    return commands


def median_ms(commands, environment):
    """Of each of COMMANDS, run in turn."""
    times = {name: [] for name in commands}
    for number in range(ROUNDS + 1):
        for name, command in commands.items():
            began = time.monotonic()
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL,
                           stdin=subprocess.DEVNULL)
            if number > 0:
                times[name].append((time.monotonic() - began) * 1000)
    return {name: statistics.median(values) for name, values in times.items()}


def run(table, scratch):
    from part_hooks import hooks

    program = python()
    port, _ = scratch.sink("today")
    environment = dict(os.environ) | {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
                                      "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}
    now = time.time()
    commands = {
        "a Python process that composes": [program, "-c", COMPOSE],
        "a Python process that sends a span": [program, "-c", SPAN],
        "slurm-lens emit": [rig.PROGRAM, "emit", "--service", "bench", "--span",
                            f"phase,{now - 1:.6f},{now:.6f}"]}
    more = others(scratch, environment)
    medians = median_ms(commands | more, environment)
    lens_us = hooks(8, 32)["task_init_us"]
    composed = medians["a Python process that composes"]
    table.add("today", "a task's attributes: Python and the SDK, to lens's task_init",
              composed * 1000 / lens_us, "x", note=f"{composed:.0f} ms to {lens_us:.0f} us")
    sent = medians["a Python process that sends a span"]
    emitted = medians["slurm-lens emit"]
    table.add("today", "one span sent: Python and the SDK, to slurm-lens emit", sent / emitted, "x",
              note=f"{sent:.0f} ms to {emitted:.1f} ms")
    for name in more:
        table.add("today", f"one span sent: {name}, to slurm-lens emit", medians[name] / emitted,
                  "x", note=f"{medians[name]:.1f} ms to {emitted:.1f} ms")
