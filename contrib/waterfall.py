#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the traces of an OTLP/JSON lines file as indented waterfalls.

Standard library only. Each trace on its own, the earlier first; a span below its
parent; a span whose parent is not in the file stands at the left.
"""

import argparse
import json
import sys

BAR = 28
DETAILS = ("slurm.step.id", "slurm.step.name", "slurm.procid", "slurm.node.name", "slurm.state",
           "slurm.exit_code")


def value_of(value):
    """An AnyValue, as far as lens uses it."""
    if "arrayValue" in value:
        return [value_of(item) for item in value["arrayValue"].get("values", [])]
    return next(iter(value.values()), "")


def attributes_of(items):
    return {item["key"]: value_of(item["value"]) for item in items}


def read_spans(lines):
    """All spans of the file; one that was sent again replaces the earlier."""
    spans = {}
    bad = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            groups = json.loads(line).get("resourceSpans", [])
        except ValueError as error:
            bad += 1
            if bad == 1:
                print(f"line {number} is no JSON: {error}", file=sys.stderr)
            continue
        for group in groups:
            resource = attributes_of(group.get("resource", {}).get("attributes", []))
            for scoped in group.get("scopeSpans", []):
                for span in scoped.get("spans", []):
                    span["start"] = int(span["startTimeUnixNano"])
                    span["end"] = int(span["endTimeUnixNano"])
                    span["details"] = attributes_of(span.get("attributes", []))
                    span["resource"] = resource
                    spans[span["traceId"], span["spanId"]] = span
    if bad > 1:
        print(f"{bad} lines are no JSON", file=sys.stderr)
    return list(spans.values())


def duration(nanoseconds):
    seconds = nanoseconds / 1e9
    if seconds >= 3600:
        return f"{seconds / 3600:.2f} h"
    return f"{seconds:.3f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def bar(span, begin, end):
    """Where the span lies between the begin and end of its trace."""
    scale = BAR / max(end - begin, 1)
    first = min(int((span["start"] - begin) * scale), BAR - 1)
    last = max(first + 1, min(round((span["end"] - begin) * scale), BAR))
    return " " * first + "=" * (last - first) + " " * (BAR - last)


def print_tree(span, children, begin, end, depth):
    label = "  " * depth + span["name"]
    details = [f"{key.split('.', 1)[1]}={span['details'][key]}" for key in DETAILS
               if span["details"].get(key) not in (None, "")]
    if span.get("status", {}).get("code") == 2:
        details.insert(0, "ERROR")
    offset = f"+{(span['start'] - begin) / 1e9:.3f}"
    length = duration(span["end"] - span["start"])
    row = f"{label:34} |{bar(span, begin, end)}| {offset:>9} {length:>9}  {' '.join(details)}"
    print(row.rstrip())
    for child in children.get(span["spanId"], []):
        print_tree(child, children, begin, end, depth + 1)


def title(spans):
    """Which job and attempt a trace is, as far as its spans say."""
    resource = spans[0]["resource"]
    words = [f"job {resource['slurm.job.id']}"] if "slurm.job.id" in resource else []
    words += [str(resource[key]) for key in ("slurm.job.name", "slurm.job.user") if key in resource]
    attempts = {span["details"]["slurm.attempt"] for span in spans
                if "slurm.attempt" in span["details"]}
    words += [f"attempt {attempt}" for attempt in sorted(attempts)]
    return "".join(f"{word}, " for word in words)


def print_trace(trace, spans):
    known = {span["spanId"] for span in spans}
    children = {}
    # Of two that begin together, an instant comes first, then the longer.
    for span in sorted(spans, key=lambda span: (span["start"], span["end"] > span["start"],
                                                -span["end"])):
        parent = span.get("parentSpanId", "")
        children.setdefault(parent if parent in known else "", []).append(span)
    begin = min(span["start"] for span in spans)
    end = max(span["end"] for span in spans)
    print(f"trace {trace}: {title(spans)}{len(spans)} spans, {duration(end - begin)}")
    for root in children.get("", []):
        print_tree(root, children, begin, end, 1)


def main():
    parser = argparse.ArgumentParser(description="waterfalls of an OTLP/JSON lines file")
    parser.add_argument("file", type=argparse.FileType("r", encoding="utf-8"))
    traces = {}
    for span in read_spans(parser.parse_args().file):
        traces.setdefault(span["traceId"], []).append(span)
    ordered = sorted(traces.items(), key=lambda item: min(span["start"] for span in item[1]))
    for number, (trace, spans) in enumerate(ordered):
        if number:
            print()
        print_trace(trace, spans)
    if not traces:
        print("no spans", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
