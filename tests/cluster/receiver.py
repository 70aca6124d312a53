#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An OTLP receiver on 127.0.0.1 for tests: HTTP, and gRPC by the official library.

Each request becomes DIR/NNNNNN.body (as sent, decompressed when gzip) and
DIR/NNNNNN.json (method, path, headers, status that was answered). The ports are
written to DIR/port and DIR/grpc_port once they listen. DIR/answer, when present, says
what to answer: one line `[delay SECONDS] STATUS [Header: value]` per request, used up from
the top; the last line stays. Without it: 200. For gRPC STATUS is its code, and 200 is its
OK. A request whose answer is delayed is stored first: taken, and not yet acknowledged.
"""

import argparse
import gzip
import json
import os
import signal
import ssl
import threading
import time
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


class Store:
    """Numbers the requests and keeps them in a directory."""

    def __init__(self, directory):
        self.directory = directory
        self.lock = threading.Lock()
        self.count = 0

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, data):
        """A reader sees the whole file or none."""
        with open(self.path(name + ".part"), "wb") as out:
            out.write(data)
        os.rename(self.path(name + ".part"), self.path(name))

    def next_answer(self):
        try:
            with open(self.path("answer"), encoding="utf-8") as answers:
                lines = [line.strip() for line in answers if line.strip()]
        except FileNotFoundError:
            return 0, 200, []
        if not lines:
            return 0, 200, []
        if len(lines) > 1:
            self.write("answer", "\n".join(lines[1:]).encode() + b"\n")
        line, delay = lines[0], 0
        if line.startswith("delay "):
            _, delay, line = line.split(maxsplit=2)
        status, _, header = line.partition(" ")
        name, colon, value = header.partition(":")
        return float(delay), int(status), [(name.strip(), value.strip())] if colon else []

    def add(self, method, path, headers, body):
        """Stores one request; returns what to answer, when it is time to."""
        with self.lock:
            delay, status, answer = self.next_answer()
            self.count += 1
            name = f"{self.count:06d}"
            self.write(name + ".body", body)
            meta = {
                "time": time.time(),
                "method": method,
                "path": path,
                "headers": {k.lower(): v for k, v in headers},
                "status": status,
            }
            self.write(name + ".json", json.dumps(meta).encode())
        time.sleep(delay)
        return status, answer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def body(self):
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def do_POST(self):
        body = self.body()
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        status, headers = self.server.store.add(
            self.command, self.path, self.headers.items(), body
        )
        answer = b"{}" if "json" in self.headers.get("content-type", "") else b""
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", self.headers.get("content-type", "text/plain"))
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format, *args):
        pass


class Calls(grpc.GenericRpcHandler):
    """The one method; the library checks the frame and takes gzip out."""

    def __init__(self, store):
        self.store = store

    def service(self, details):
        if details.method == METHOD:
            return grpc.unary_unary_rpc_method_handler(self.export)
        return None

    def export(self, body, context):
        headers = [(name, str(value)) for name, value in context.invocation_metadata()]
        headers += [("content-type", "application/grpc")]
        headers += [("time-remaining", str(context.time_remaining()))]
        status, _ = self.store.add("POST", METHOD, headers, body)
        if status != 200:
            code = next(code for code in grpc.StatusCode if code.value[0] == status)
            context.abort(code, "as the test wants it")
        return b""


def grpc_start(store, port):
    """Listens on PORT, 0 for a free one; the server and its port."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), handlers=(Calls(store),))
    port = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, port


def tls_wrap(server, directory):
    """HTTP over TLS, to clients that have a certificate, with what make-certificates made."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=f"{directory}/ca.pem")
    context.load_cert_chain(f"{directory}/server.pem", f"{directory}/server.key")
    context.verify_mode = ssl.CERT_REQUIRED
    # The handshake is the connection's own thread's: a client that fails it holds nobody up.
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )


def main():
    parser = argparse.ArgumentParser(description="OTLP receiver for tests")
    parser.add_argument("directory", help="where requests are stored")
    parser.add_argument("--port", type=int, default=0, help="of HTTP; 0: a free one")
    parser.add_argument("--grpc-port", type=int, default=0, help="0: a free one")
    parser.add_argument("--tls", metavar="DIR", help="HTTP over TLS; of tests/make-certificates")
    options = parser.parse_args()
    os.makedirs(options.directory, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    server.store = Store(options.directory)
    if options.tls:
        tls_wrap(server, options.tls)
    # A second start on the same directory goes on counting.
    server.store.count = sum(name.endswith(".body") for name in os.listdir(options.directory))
    calls, grpc_port = grpc_start(server.store, options.grpc_port)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    server.store.write("grpc_port", f"{grpc_port}\n".encode())
    server.store.write("port", str(server.server_address[1]).encode() + b"\n")
    server.serve_forever(poll_interval=0.1)
    calls.stop(None)


if __name__ == "__main__":
    main()
