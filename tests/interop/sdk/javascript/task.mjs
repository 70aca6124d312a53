// SPDX-License-Identifier: Apache-2.0
// A task of a user who traces with the JavaScript SDK: one span, below the TRACEPARENT.
// task.mjs NAME: of the span.
import { context, propagation, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';

const sdk = new NodeSDK(); // reads the OTEL_* variables, OTEL_RESOURCE_ATTRIBUTES too
sdk.start();
const parent = propagation.extract(context.active(), { traceparent: process.env.TRACEPARENT });
trace.getTracer('task').startSpan(process.argv[2], {}, parent).end();
await sdk.shutdown();
