# SPDX-License-Identifier: Apache-2.0
"""A rank of a program that traces with NeMo Lens: one span, `rank`, below the TRACEPARENT.

Rank and size are torchrun's where it started the process (RANK, WORLD_SIZE), else Slurm's.
With LENS_TASK_RANKS=N it is torchrun itself, in small: it starts the ranks of this node, N of them.
"""

import os
import subprocess
import sys

from nemo.lens import NemoLensConfig, extract_context, setup_telemetry


def launch(count):
    node, nodes = int(os.environ["SLURM_NODEID"]), int(os.environ["SLURM_NNODES"])
    ranks = []
    for local in range(count):
        variables = os.environ | {
            "RANK": str(node * count + local),
            "LOCAL_RANK": str(local),
            "WORLD_SIZE": str(nodes * count),
        }
        del variables["LENS_TASK_RANKS"]
        ranks.append(subprocess.Popen([sys.executable, *sys.argv], env=variables))
    return max(rank.wait() for rank in ranks)


def trace():
    rank = int(os.environ.get("RANK", os.environ["SLURM_PROCID"]))
    size = int(os.environ.get("WORLD_SIZE", os.environ["SLURM_NTASKS"]))
    handle = setup_telemetry(NemoLensConfig.from_env(), rank, size)
    parent = extract_context({"traceparent": os.environ.get("TRACEPARENT", "")})
    with handle.tracer.start_as_current_span("rank", context=parent) as span:
        span.set_attribute("rank", rank)
    handle.shutdown()
    print(f"rank {rank}/{size}: {'exports' if handle.is_exporting else 'is silent'}")


if "LENS_TASK_RANKS" in os.environ:
    sys.exit(launch(int(os.environ["LENS_TASK_RANKS"])))
trace()
