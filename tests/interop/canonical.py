#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every span of files of OTLP/JSON lines, whole and comparable: one JSON object a line, sorted.

A span that is there twice, the same, is one: who had no answer in time sends again.

What two writers of OTLP/JSON may do differently is made one: fields with the default of their
type are left out, 64-bit numbers are numbers, keys are sorted. Everything else stays as it is,
fields that this script knows nothing of too; so does the order of attributes.
"""

import json
import sys

NUMBERS = {"intValue", "startTimeUnixNano", "endTimeUnixNano", "timeUnixNano"}
VALUES = {"stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue"}


def normal(item):
    """ITEM without defaults; a value of an attribute may be empty and is still one."""
    if isinstance(item, list):
        return [normal(part) for part in item]
    if not isinstance(item, dict):
        return item
    result = {}
    for key, value in item.items():
        value = int(value) if key in NUMBERS else normal(value)
        if key in VALUES or value not in (0, "", None, False, [], {}):
            result[key] = value
    return result


def spans(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            for group in json.loads(line)["resourceSpans"]:
                for scoped in group["scopeSpans"]:
                    for span in scoped["spans"]:
                        yield {
                            "resource": group.get("resource", {}),
                            "resourceSchemaUrl": group.get("schemaUrl", ""),
                            "scope": scoped.get("scope", {}),
                            "scopeSchemaUrl": scoped.get("schemaUrl", ""),
                            "span": span,
                        }


def main():
    whole = [normal(span) for path in sys.argv[1:] for span in spans(path)]
    lines = {json.dumps(span, sort_keys=True, ensure_ascii=False) for span in whole}
    for line in sorted(lines):
        print(line)


if __name__ == "__main__":
    main()
