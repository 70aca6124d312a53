#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens check: what it says of the receivers, each kind of trouble with what to do.

bats_require_minimum_version 1.5.0
load helpers
load check

setup_file() {
	sandbox_create
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL"
	mkdir "$SANDBOX/tls"
	"$LENS_TEST_SRCDIR/tests/make-certificates" "$SANDBOX/tls"
}

teardown_file() {
	sandbox_destroy
}

setup() {
	receiver_answer 200
}

# endpoint_row PATTERN REMEDY: the row fails, for that reason, and says what to do.
endpoint_row() {
	row fail endpoint "$1"
	[[ $output == *"-> $2"* ]]
}

@test "each protocol, compressed or not" {
	local protocol
	# The agent runs by other settings: that fails, and is not what is looked for.
	for protocol in http/protobuf http/json; do
		run -1 check --set "Endpoint=$RECEIVER_URL/x" --set "Protocol=$protocol"
		row ok endpoint "$RECEIVER_URL/x took an empty request ($protocol)"
	done
	run -1 check --set "Endpoint=$RECEIVER_GRPC_URL" --set Protocol=grpc --set Compression=gzip
	row ok endpoint "$RECEIVER_GRPC_URL took an empty request (grpc)"
	[ "$(spans_eval 'len(spans)')" = 0 ]
}

@test "what HTTP answers" {
	receiver_answer 401
	run -1 check
	endpoint_row "$RECEIVER_URL/v1/traces: HTTP 401 *" "it wants other credentials: check what HeadersFile holds"
	receiver_answer 404
	run -1 check
	endpoint_row "*: HTTP 404 *" "no receiver of traces is there: check the path"
	receiver_answer 415
	run -1 check
	endpoint_row "*: HTTP 415 *" "set Protocol to what listens there"
	receiver_answer "503 Retry-After: 5"
	run -1 check
	endpoint_row "*: HTTP 503 *" "the receiver, or what stands before it, takes nothing now"
}

@test "what gRPC answers" {
	receiver_answer 16
	run -1 check --set "Endpoint=$RECEIVER_GRPC_URL" --set Protocol=grpc
	endpoint_row "*: gRPC UNAUTHENTICATED (16)*" "it wants other credentials"
	receiver_answer 12
	run -1 check --set "Endpoint=$RECEIVER_GRPC_URL" --set Protocol=grpc
	endpoint_row "*: gRPC UNIMPLEMENTED (12)*" "no receiver of traces is there"
	receiver_answer 200
	run -1 check --set Protocol=grpc
	endpoint_row "*" "set Protocol to what listens there" # what it says is libcurl's, by release
	run -1 check --set "Endpoint=$RECEIVER_GRPC_URL"
	endpoint_row "*" "set Protocol to what listens there"
}

@test "refused, a name that nobody knows, no answer in time" {
	run -1 check --set Endpoint=http://127.0.0.1:1
	endpoint_row "http://127.0.0.1:1/v1/traces: connection refused *" "is the receiver up"
	run -1 check --set Endpoint=http://nobody.invalid:4318
	endpoint_row "*: the host's name is not known *" "is the receiver up"
	receiver_answer "delay 5 200"
	run -1 check --set Timeout=300
	endpoint_row "*: no answer within 300 ms *" "a firewall may drop what goes there"
}

@test "headers: they are sent, and their file is root's alone" {
	local file=$SANDBOX/tls/headers
	echo "Authorization: Bearer s3cr3t-of-the-site" >"$file"
	chmod 600 "$file"
	rm -f "$RECEIVED"/0*
	run -0 check --set "HeadersFile=$file"
	row ok secrets "1 file is root's *"
	row ok endpoint "*"
	grep -q '"authorization": "Bearer s3cr3t-of-the-site"' "$RECEIVED"/0*.json
	receiver_answer 403
	run -1 check --set "HeadersFile=$file"
	endpoint_row "*: HTTP 403 *" "it wants other credentials"
	[[ $output != *s3cr3t* ]]
	chmod 644 "$file"
	run -1 check --set "HeadersFile=$file"
	row fail secrets "HeadersFile: $file can be read or written by others *"
	row warning endpoint "not asked: *"
	chmod 600 "$file"
	chown www-data "$file"
	run -1 check --set "HeadersFile=$file"
	row fail secrets "HeadersFile: $file belongs to uid *"
	echo "no header" >"$file"
	chown root "$file"
	run -1 check --set "HeadersFile=$file"
	row fail endpoint "HeadersFile*line 1*"
}

# tls_up NAME [OPTION...]: a server with the certificate NAME that answers each request with 200;
# TLS_URL.
tls_up() {
	local name=$1
	shift
	cat >"$SANDBOX/tls/answer.py" <<-'E'
	import http.server, ssl, sys
	class Handler(http.server.BaseHTTPRequestHandler):
	    def do_POST(self):
	        self.rfile.read(int(self.headers.get("content-length", 0)))
	        self.send_response(200)
	        self.send_header("Content-Length", "0")
	        self.end_headers()
	    def log_message(self, format, *args):
	        pass
	server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
	context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
	context.load_cert_chain(sys.argv[1] + ".pem", sys.argv[1] + ".key")
	server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
	with open(sys.argv[2], "w") as port:
	    port.write(str(server.server_port) + "\n")
	server.serve_forever(poll_interval=0.1)
	E
	rm -f "$SANDBOX/tls/port"
	"$LENS_TEST_PYTHON" "$SANDBOX/tls/answer.py" "$SANDBOX/tls/$name" "$SANDBOX/tls/port" \
		</dev/null >"$SANDBOX/tls/$name.log" 2>&1 3>&- &
	TLS_PID=$!
	wait_for 30 test -s "$SANDBOX/tls/port"
	TLS_URL=https://127.0.0.1:$(cat "$SANDBOX/tls/port")
}

tls_down() {
	kill "$TLS_PID"
	wait "$TLS_PID" || true
}

@test "TLS: a certificate of ours, of nobody's, of another host, and no TLS at all" {
	tls_up server
	run -1 check --set "Endpoint=$TLS_URL" --set "CertificateFile=$SANDBOX/tls/ca.pem"
	row ok endpoint "$TLS_URL took an empty request (http/protobuf)"
	run -1 check --set "Endpoint=$TLS_URL"
	endpoint_row "$TLS_URL/v1/traces: TLS: *" "does the receiver speak TLS on this port"
	tls_down
	tls_up elsewhere
	run -1 check --set "Endpoint=$TLS_URL" --set "CertificateFile=$SANDBOX/tls/ca.pem"
	endpoint_row "*: TLS: *" "does the receiver speak TLS on this port, is its certificate for this name"
	tls_down
	run -1 check --set "Endpoint=https://127.0.0.1:$RECEIVER_PORT"
	endpoint_row "*: TLS: *" "does the receiver speak TLS"
}

@test "TaskEndpoint, without the agent's headers" {
	receiver_answer 200 401
	run -1 check --set "TaskEndpoint=$RECEIVER_URL"
	row ok endpoint "*"
	row fail tasks "$RECEIVER_URL/v1/traces: HTTP 401 *"
	[[ $output == *"-> it wants credentials, which lens gives to no task"* ]]
	receiver_answer 200
	echo "x-site: a" >"$SANDBOX/tls/headers"
	chmod 600 "$SANDBOX/tls/headers"
	rm -f "$RECEIVED"/0*
	run -0 check --set "TaskEndpoint=$RECEIVER_URL/tasks" --set "HeadersFile=$SANDBOX/tls/headers"
	row ok tasks "$RECEIVER_URL/tasks took an empty request *"
	[ "$(grep -l '"x-site"' "$RECEIVED"/0*.json | wc -l)" = 1 ]
	grep -l /tasks/ "$RECEIVED"/0*.json
}

@test "the receiver's clock" {
	receiver_answer "200 Date: Mon, 30 Nov 2020 20:00:00 GMT"
	run -1 check
	row ok clock "agrees with slurmctld's *"
	row fail clock "* s ahead of the receiver's: *"
}

# asking_pids: the senders of check, which are no agent's.
asking_pids() {
	local pid
	for pid in $(agent_pids); do
		[ "$(ps -o user= -p "$pid")" = www-data ] && echo "$pid"
	done
}

somebody_asks() {
	[ -n "$(asking_pids)" ]
}

@test "root does not talk to the receiver itself" {
	local pid
	run -1 check --set AgentUser=root
	row fail endpoint "*AgentUser root is root: *"
	# Held as long as it takes to look.
	receiver_answer "delay 60 200"
	check --set AgentUser=www-data --set Timeout=60000 >/dev/null 3>&- &
	wait_for 60 somebody_asks
	for pid in $(asking_pids); do
		kill "$(ps -o ppid= -p "$pid" | tr -d ' ')"
	done
	wait $! || true
}
