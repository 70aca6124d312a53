# SPDX-License-Identifier: Apache-2.0
"""The rows of the benchmark, as text and as JSON."""

import json
import os
import platform


class Table:
    """Rows: what was measured, the number, and what it should not go beyond."""

    def __init__(self):
        self.rows = []

    def add(self, part, what, value, unit, bound=None, least=False, note=""):
        """VALUE in UNIT; BOUND is the most that is meant to be (LEAST: the least)."""
        held = None
        if bound is not None:
            held = value >= bound if least else value <= bound
        self.rows.append({"part": part, "what": what, "value": value, "unit": unit,
                          "bound": bound, "least": least, "held": held, "note": note})
        print(self.line(self.rows[-1]), flush=True)

    @staticmethod
    def line(row):
        bound = ""
        if row["bound"] is not None:
            sign = ">=" if row["least"] else "<="
            bound = f"{sign} {row['bound']:g}: {'yes' if row['held'] else 'NO'}"
        value = f"{row['value']:,.3f}".rstrip("0").rstrip(".")
        return f"{row['part']:<7} {row['what']:<58} {value:>12} {row['unit']:<7} {bound:<16} {row['note']}".rstrip()

    def write(self, text_path, json_path):
        with open(text_path, "w", encoding="utf-8") as out:
            for key, value in machine().items():
                print(f"# {key}: {value}", file=out)
            for row in self.rows:
                print(self.line(row), file=out)
        with open(json_path, "w", encoding="utf-8") as out:
            json.dump({"machine": machine(), "rows": self.rows}, out, indent=1)
            out.write("\n")


def machine():
    """What the numbers depend on."""
    model = ""
    memory = 0
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    with open("/proc/meminfo", encoding="utf-8") as lines:
        memory = int(next(lines).split()[1]) // 1024
    return {"processor": model, "cores": os.cpu_count(), "memory": f"{memory} MiB",
            "kernel": platform.release(),
            "load before": f"{os.getloadavg()[0]:.2f}"}
