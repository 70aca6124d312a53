# SPDX-License-Identifier: Apache-2.0
"""A task of a user who traces with the Python SDK: one span, below the TRACEPARENT.

task.py NAME [error]: NAME is the span's; `error` ends it as a failure.
"""

import os
import sys

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

provider = TracerProvider()  # its resource reads OTEL_RESOURCE_ATTRIBUTES
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)

parent = TraceContextTextMapPropagator().extract({"traceparent": os.environ.get("TRACEPARENT", "")})
with trace.get_tracer("task").start_as_current_span(sys.argv[1], context=parent) as span:
    if sys.argv[2:] == ["error"]:
        span.set_status(trace.StatusCode.ERROR, "it failed")
provider.shutdown()
