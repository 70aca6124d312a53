// SPDX-License-Identifier: Apache-2.0

// A task of a user who traces with the Go SDK: one span, below the TRACEPARENT.
// task-go NAME: of the span.
package main

import (
	"context"
	"log"
	"os"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
)

func main() {
	ctx := context.Background()
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		log.Fatal(err)
	}
	// Its resource reads OTEL_RESOURCE_ATTRIBUTES.
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter))
	carrier := propagation.MapCarrier{"traceparent": os.Getenv("TRACEPARENT")}
	parent := propagation.TraceContext{}.Extract(ctx, carrier)
	_, span := provider.Tracer("task").Start(parent, os.Args[1])
	span.End()
	if err := provider.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
}
