#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spans that the tests received, as one normalised JSON list.

Arguments are directories of receiver.py (protobuf and JSON bodies; only what was
answered with 2xx, unless --all) and files of OTLP/JSON lines. Protobuf is decoded
by the official opentelemetry-proto package. With --eval, a Python expression over
`spans` is printed instead of the list.

A span: trace_id, span_id, parent_span_id (hex, "" for none), name, kind, start and
end (ns), flags, attributes, status {code, message}, links [{trace_id, span_id,
attributes}], resource, scope {name, version}, schema_url, source (the file).
"""

import argparse
import glob
import json
import os
import sys

from opentelemetry.proto.collector.trace.v1 import trace_service_pb2


def pb_value(value):
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [pb_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return pb_attributes(value.kvlist_value.values)
    if kind == "bytes_value":
        return value.bytes_value.hex()
    return getattr(value, kind)


def pb_attributes(items):
    return checked_attributes([(item.key, pb_value(item.value)) for item in items])


def checked_attributes(pairs):
    """The protocol wants unique keys; a dict would hide a duplicate."""
    attributes = dict(pairs)
    if len(attributes) != len(pairs):
        raise ValueError(f"duplicate attribute keys: {sorted(key for key, _ in pairs)}")
    return attributes


def pb_span(span):
    return {
        "trace_id": span.trace_id.hex(),
        "span_id": span.span_id.hex(),
        "parent_span_id": span.parent_span_id.hex(),
        "name": span.name,
        "kind": span.kind,
        "start": span.start_time_unix_nano,
        "end": span.end_time_unix_nano,
        "flags": span.flags,
        "attributes": pb_attributes(span.attributes),
        "status": {"code": span.status.code, "message": span.status.message},
        "links": [
            {
                "trace_id": link.trace_id.hex(),
                "span_id": link.span_id.hex(),
                "attributes": pb_attributes(link.attributes),
            }
            for link in span.links
        ],
    }


def from_protobuf(body):
    request = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
    for group in request.resource_spans:
        resource = pb_attributes(group.resource.attributes)
        for scoped in group.scope_spans:
            scope = {"name": scoped.scope.name, "version": scoped.scope.version}
            for span in scoped.spans:
                yield pb_span(span) | {
                    "resource": resource,
                    "scope": scope,
                    "schema_url": scoped.schema_url or group.schema_url,
                }


def json_value(value):
    if not value:
        return None
    ((kind, content),) = value.items()
    if kind == "intValue":
        return int(content)
    if kind == "doubleValue":
        return float(content)
    if kind == "arrayValue":
        return [json_value(item) for item in content.get("values", [])]
    if kind == "kvlistValue":
        return json_attributes(content.get("values", []))
    if kind not in ("stringValue", "boolValue", "bytesValue"):
        raise ValueError(f"no AnyValue of OTLP/JSON: {kind}")
    return content


def json_attributes(items):
    return checked_attributes([(item["key"], json_value(item["value"])) for item in items])


def json_span(span):
    status = span.get("status", {})
    return {
        "trace_id": span["traceId"],
        "span_id": span["spanId"],
        "parent_span_id": span.get("parentSpanId", ""),
        "name": span["name"],
        "kind": span.get("kind", 0),
        "start": int(span["startTimeUnixNano"]),
        "end": int(span["endTimeUnixNano"]),
        "flags": span.get("flags", 0),
        "attributes": json_attributes(span.get("attributes", [])),
        "status": {"code": status.get("code", 0), "message": status.get("message", "")},
        "links": [
            {
                "trace_id": link["traceId"],
                "span_id": link["spanId"],
                "attributes": json_attributes(link.get("attributes", [])),
            }
            for link in span.get("links", [])
        ],
    }


def from_json(body):
    for group in json.loads(body).get("resourceSpans", []):
        resource = json_attributes(group.get("resource", {}).get("attributes", []))
        for scoped in group.get("scopeSpans", []):
            scope = scoped.get("scope", {})
            for span in scoped.get("spans", []):
                yield json_span(span) | {
                    "resource": resource,
                    "scope": {"name": scope.get("name", ""), "version": scope.get("version", "")},
                    "schema_url": scoped.get("schemaUrl") or group.get("schemaUrl", ""),
                }


def from_request(path, everything):
    """One stored request of receiver.py; PATH is its .json file."""
    with open(path, encoding="utf-8") as meta:
        request = json.load(meta)
    if not everything and not 200 <= request["status"] < 300:
        return
    if not request["path"].endswith(("/v1/traces", ".trace.v1.TraceService/Export")):
        raise ValueError(f"{path}: a request to {request['path']}")
    with open(path[: -len("json")] + "body", "rb") as body:
        data = body.read()
    is_json = request["headers"].get("content-type", "").startswith("application/json")
    yield from (from_json if is_json else from_protobuf)(data)


def from_lines(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield from from_json(line)


def read(path, everything):
    if not os.path.isdir(path):
        return [span | {"source": path} for span in from_lines(path)] if os.path.exists(path) else []
    requests = sorted(glob.glob(os.path.join(path, "[0-9]*.json")))
    return [span | {"source": name} for name in requests for span in from_request(name, everything)]


def main():
    parser = argparse.ArgumentParser(description="spans that the tests received, as JSON")
    parser.add_argument("path", nargs="+", help="directory of receiver.py, or OTLP/JSON lines")
    parser.add_argument("--all", action="store_true", help="refused requests too")
    parser.add_argument("--eval", metavar="EXPRESSION", help="print this of `spans`")
    options = parser.parse_args()
    spans = [span for path in options.path for span in read(path, options.all)]
    if options.eval is not None:
        result = eval(options.eval, {"spans": spans})  # the test's own text
        print(result if isinstance(result, str) else json.dumps(result))
    else:
        json.dump(spans, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
