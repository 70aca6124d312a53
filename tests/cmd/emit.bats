#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2153 # SPAN is of emit.bash
# slurm-lens emit: spans from intervals, to a receiver that others wrote.

bats_require_minimum_version 1.5.0
load emit

# closed_port: one that nobody listens on.
closed_port() {
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

@test "a tree of spans in a new trace" {
	run --separate-stderr -0 emit --service launch \
		--span python,1700000000.2,1700000001.1,launch \
		--span launch,1700000000.0,1700000003.0 \
		--span 'set up, 2023-11-14T22:13:20Z, 2023-11-14T22:13:21.5+00:00'
	# shellcheck disable=SC2154 # of bats
	[ "$output$stderr" = "" ]
	check <<-'E'
	assert len(requests) == 1 and requests[0]["path"] == "/v1/traces", requests
	assert requests[0]["headers"]["content-type"] == "application/x-protobuf"
	assert requests[0]["headers"]["user-agent"].startswith("OTel-OTLP-Exporter-slurm-lens/")
	assert [span["name"] for span in spans] == ["python", "launch", "set up"]
	assert len({span["trace_id"] for span in spans}) == 1
	assert len({span["span_id"] for span in spans}) == 3
	launch, python, setup = by_name["launch"], by_name["python"], by_name["set up"]
	assert (launch["start"], launch["end"]) == (1700000000000000000, 1700000003000000000)
	assert (python["start"], python["end"]) == (1700000000200000000, 1700000001100000000)
	assert (setup["start"], setup["end"]) == (1700000000000000000, 1700000001500000000)
	assert launch["parent_span_id"] == setup["parent_span_id"] == ""
	assert python["parent_span_id"] == launch["span_id"]
	for span in spans:
	    assert span["kind"] == 1 and span["flags"] == 3 and span["status"]["code"] == 0
	    assert span["resource"] == {"service.name": "launch"}, span["resource"]
	    assert span["scope"]["name"] == "slurm-lens" and span["scope"]["version"]
	E
}

@test "inside TRACEPARENT: its trace, below its span, with its flags" {
	TRACEPARENT=00-$TRACE-$SPAN-01 emit --span a,1,2 --span b,1,2,a
	check <<-E
	assert {span["trace_id"] for span in spans} == {"$TRACE"}
	assert by_name["a"]["parent_span_id"] == "$SPAN"
	assert by_name["b"]["parent_span_id"] == by_name["a"]["span_id"]
	assert {span["flags"] for span in spans} == {1}
	E
	rm "$RECEIVED"/0*
	TRACEPARENT=00-$TRACE-$SPAN-01-more emit --span a,1,2
	check <<-E
	assert one["trace_id"] != "$TRACE" and one["parent_span_id"] == ""
	E
}

@test "a trace that is not sampled stays out" {
	export TRACEPARENT=00-$TRACE-$SPAN-00
	run -0 emit --span a,1,2
	[ "$output" = "" ]
	run -0 emit -v --span a,1,2
	[ "$output" = "slurm-lens emit: nothing was sent: the trace of TRACEPARENT is not sampled" ]
	nothing_arrived
}

@test "one bad span, and nothing is sent" {
	local case_
	local refused=(
		"a,1,2 a,3,4|span \`a\`: its name is there more than once"
		"good,1,2 a,1,2,b|span \`a\`: no span has the name of its parent, \`b\`"
		"good,1,2 a,1,2,b b,1,2,a|it is its own ancestor"
		"good,1,2 a,nan,2|its start \`nan\`: it is not finite"
		"good,1,2 a,1,inf|its end \`inf\`: it is not finite"
		"good,1,2 a,1.0301,1|its end is 30.100000 ms before its start"
		"good,1,2 a,x,2|its start \`x\`: it is not seconds since 1970"
		"good,1,2 a,1700000000000,2|seconds are taken, not milliseconds"
		"good,1,2 a,1|it is not NAME,START,END[,PARENT]"
		"good,1,2 ,1,2|its name is missing"
	)
	for case_ in "${refused[@]}"; do
		local arguments=() span
		for span in ${case_%%|*}; do
			arguments+=(--span "$span")
		done
		run --separate-stderr -1 emit "${arguments[@]}"
		[ "$output" = "" ]
		# shellcheck disable=SC2154
		[[ ${stderr_lines[0]} == "slurm-lens emit: "*"${case_#*|}"* ]]
		[ "${stderr_lines[-1]}" = "slurm-lens emit: nothing was sent: the spans are not valid" ]
	done
	nothing_arrived
}

@test "the problems of many spans are counted, not all told" {
	local i
	for i in {1..30}; do
		echo "{\"name\":\"s$i\",\"start\":2,\"end\":1}"
	done >"$BATS_TEST_TMPDIR/spans"
	run -1 emit --file "$BATS_TEST_TMPDIR/spans"
	[ "${#lines[@]}" = 22 ]
	[ "${lines[20]}" = "slurm-lens emit: and 10 more" ]
	nothing_arrived
}

@test "an end a little before its start becomes the start" {
	run -0 emit --span a,1.03,1
	[[ $output == *"span \`a\`: its end is 30.000000 ms before its start: set to the start" ]]
	check <<-'E'
	assert one["start"] == one["end"] == 1030000000
	E
}

@test "attributes, kinds and statuses, of all and of one" {
	emit --span a,1,2 --span a:b,1,2 --span c,1,2 --attr all=1 --attr k=v=w \
		--span-attr 'a:b:k=x' --span-attr 'c:é=ü' --kind client --status ok \
		--span-status 'a:b:error:it: broke' --span-status c:unset
	check <<-'E'
	assert by_name["a"]["attributes"] == {"all": "1", "k": "v=w"}, by_name["a"]
	assert by_name["a:b"]["attributes"] == {"all": "1", "k": "x"}
	assert by_name["c"]["attributes"] == {"all": "1", "k": "v=w", "é": "ü"}
	assert {span["kind"] for span in spans} == {3}
	assert by_name["a"]["status"] == {"code": 1, "message": ""}
	assert by_name["a:b"]["status"] == {"code": 2, "message": "it: broke"}
	assert by_name["c"]["status"]["code"] == 0
	E
}

@test "spans from a file and from standard input, typed" {
	cat >"$BATS_TEST_TMPDIR/spans" <<-'E'
	{"name":"a,b","start":1700000000.123456789,"end":"2023-11-14T22:13:21Z","parent":"root"}

	{"name":"c","start":1,"end":2,"kind":"server","status":"error","message":"why","attributes":{"n":9007199254740993,"f":1.5,"b":false,"l":["x","y"]}}
	E
	echo '{"name":"d","start":1,"end":2}' |
		emit --file "$BATS_TEST_TMPDIR/spans" --file - --span root,1,2 --kind client
	check <<-'E'
	assert len(spans) == 4
	assert by_name["a,b"]["start"] == 1700000000123456789
	assert by_name["a,b"]["parent_span_id"] == by_name["root"]["span_id"]
	c = by_name["c"]
	assert c["attributes"] == {"n": 9007199254740993, "f": 1.5, "b": False, "l": ["x", "y"]}
	assert c["kind"] == 2 and c["status"] == {"code": 2, "message": "why"}
	assert by_name["d"]["kind"] == by_name["root"]["kind"] == 3
	E
	run -1 emit --file - <<<'{"name":"d","start":1}'
	[[ ${lines[0]} == "slurm-lens emit: standard input:1: its start or its end is missing" ]]
	run -2 emit --file "$BATS_TEST_TMPDIR/none"
	[[ $output == "slurm-lens emit: $BATS_TEST_TMPDIR/none: No such file or directory" ]]
	run -2 emit --file "$BATS_TEST_TMPDIR"
	[[ $output == *": Is a directory" ]]
	run -1 emit --file - </dev/null
	[ "$output" = "slurm-lens emit: nothing was sent: there are no spans" ]
}

@test "many spans go in several requests" {
	python3 -c 'for i in range(4500): print(f"""{{"name":"s{i}","start":1,"end":2,"parent":"s{i // 2 - 1 if i > 1 else ""}"}}""" if i > 1 else f"""{{"name":"s{i}","start":1,"end":2}}""")' |
		emit --file -
	check <<-'E'
	assert len(requests) == 3, len(requests)
	assert len(spans) == len({span["span_id"] for span in spans}) == 4500
	ids = {span["span_id"] for span in spans}
	assert all(span["parent_span_id"] in ids for span in spans if span["parent_span_id"])
	assert sum(not span["parent_span_id"] for span in spans) == 2
	E
}

@test "a request that is too large goes in halves" {
	receiver_answer 413 200
	emit --span a,1,2 --span b,1,2 --span c,1,2
	check <<-'E'
	assert [request["status"] for request in requests] == [413, 200, 200]
	assert sorted(by_name) == ["a", "b", "c"]
	E
	receiver_answer 413
	run -1 emit --span a,1,2
	[[ $output == "slurm-lens emit: the span was not sent: "*413* ]]
}

@test "what the receiver refuses is 1, and not sent again" {
	receiver_answer 400
	run -1 emit --span a,1,2 --span b,1,2
	[[ $output == "slurm-lens emit: nothing was sent: $RECEIVER_URL/v1/traces: "*400* ]]
	check <<-'E'
	assert len(requests) == 1
	E
}

@test "spans that the receiver took in part are told, and are 1" {
	# partial_success: of what came one was not taken, and why.
	"$LENS_TEST_PYTHON" -c 'import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = bytes([0x0a, 10, 0x08, 1, 0x12, 6]) + b"quota!"
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open("port.part", "w") as port:
    print(server.server_port, file=port)
os.rename("port.part", "port")
server.handle_request()' >/dev/null 2>&1 3>&- &
	wait_for 30 test -s port
	OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$(cat port) run -1 emit --span a,1,2 --span b,1,2
	[[ $output == "slurm-lens emit: 1 of 2 spans were not taken: "*quota!* ]]
}

@test "what is busy is asked again, within the time" {
	receiver_answer 503 429 200
	run -0 emit --timeout 60000 -v --span a,1,2
	[[ ${lines[0]} =~ ^"slurm-lens emit: trace "[0-9a-f]{32}": 1 spans sent to $RECEIVER_URL"$ ]]
	[ "${lines[1]}" = "slurm-lens emit:   1.000 s a" ]
	check <<-'E'
	assert [request["status"] for request in requests] == [503, 429, 200]
	assert one["name"] == "a"
	E
	receiver_answer '503 Retry-After: 3600'
	run -1 emit --span a,1,2
	[[ $output == *503* ]]
}

@test "nobody listens: 1, after the time at the latest" {
	local port
	port=$(closed_port)
	export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$port OTEL_EXPORTER_OTLP_TIMEOUT=300
	run -1 emit --span a,1,2
	[ "$output" = "slurm-lens emit: the span was not sent: http://127.0.0.1:$port/v1/traces: connection refused" ]
}

@test "nobody listens where nobody was named: says which variable would" {
	! (exec 3<>/dev/tcp/localhost/4318) 2>/dev/null || skip "something listens on port 4318"
	unset OTEL_EXPORTER_OTLP_ENDPOINT
	run -1 emit --timeout 300 --span a,1,2
	[[ $output == *"http://localhost:4318/v1/traces: connection refused (no OTEL_EXPORTER_OTLP_ENDPOINT is set)" ]]
}

@test "gRPC, JSON and gzip, by their variables" {
	OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_ENDPOINT=$RECEIVER_GRPC_URL \
		OTEL_EXPORTER_OTLP_HEADERS='X-Token=a%2Cb' emit --span a,1,2 --status ok --kind producer
	OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json OTEL_EXPORTER_OTLP_PROTOCOL=grpc emit --span b,1,2
	OTEL_EXPORTER_OTLP_COMPRESSION=gzip emit --span c,1,2
	# Without a scheme it is https, unless that is said to be needless.
	OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_INSECURE=true \
		OTEL_EXPORTER_OTLP_ENDPOINT=${RECEIVER_GRPC_URL#http://} emit --span d,1,2
	check <<-'E'
	types = [request["headers"]["content-type"] for request in requests]
	assert types == ["application/grpc", "application/json", "application/x-protobuf", "application/grpc"], types
	assert requests[0]["headers"]["x-token"] == "a,b"
	assert requests[2]["headers"]["content-encoding"] == "gzip"
	assert sorted(by_name) == ["a", "b", "c", "d"]
	assert by_name["a"]["status"]["code"] == 1 and by_name["a"]["kind"] == 4
	E
}

@test "the endpoint of the signal is taken as it is" {
	OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 \
		OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=$RECEIVER_URL/v1/traces emit --span a,1,2
	check <<-'E'
	assert requests[0]["path"] == "/v1/traces"
	E
}

@test "the headers' values are told to nobody" {
	receiver_answer 401
	export OTEL_EXPORTER_OTLP_HEADERS='authorization=Bearer%20hunter2-of-mine'
	run -1 emit -v --span a,1,2
	[[ $output == *401* && $output != *hunter2* ]]
	OTEL_EXPORTER_OTLP_HEADERS='hunter2-of-mine' run -2 emit --span a,1,2
	[[ $output == *"OTEL_EXPORTER_OTLP_HEADERS: "* && $output != *hunter2* ]]
	check <<-'E'
	assert requests[0]["headers"]["authorization"] == "Bearer hunter2-of-mine"
	E
}

@test "TLS with the user's own files" {
	local tls=$BATS_TEST_TMPDIR/tls
	mkdir "$tls"
	"$LENS_TEST_SRCDIR/tests/make-certificates" "$tls"
	"$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cluster/receiver.py" "$tls/in" --tls "$tls" \
		</dev/null >"$tls/log" 2>&1 3>&- &
	wait_for 30 test -s "$tls/in/port"
	export OTEL_EXPORTER_OTLP_ENDPOINT
	OTEL_EXPORTER_OTLP_ENDPOINT=https://127.0.0.1:$(cat "$tls/in/port")
	export OTEL_EXPORTER_OTLP_CERTIFICATE=$tls/ca.pem
	export OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=$tls/client.pem
	export OTEL_EXPORTER_OTLP_CLIENT_KEY=$tls/client.key
	run emit --span a,1,2
	local status_=$status output_=$output
	OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE=$tls/stranger.pem run emit --timeout 500 --span b,1,2
	kill %1
	[ "$output_" = "" ]
	[ "$status_" = 0 ]
	[ "$status" = 1 ]
	[[ $output == *"TLS: "* ]]
	RECEIVED=$tls/in check <<-'E'
	assert one["name"] == "a"
	E
	OTEL_EXPORTER_OTLP_CERTIFICATE=$tls/none run -2 emit --span a,1,2
	[[ $output == *"OTEL_EXPORTER_OTLP_CERTIFICATE: $tls/none: No such file or directory" ]]
	OTEL_EXPORTER_OTLP_CLIENT_KEY='' run -2 emit --span a,1,2
	[[ $output == *"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY go together" ]]
}

@test "the console: OTLP/JSON on standard output, nothing elsewhere" {
	local variable
	for variable in NEMO_LENS_EXPORTER OTEL_TRACES_EXPORTER; do
		env "$variable=console" "$LENS" emit --service s --span a,1,2 --span b,1,2,a >"$BATS_TEST_TMPDIR/out"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" = 1 ]
		[ "$("$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cluster/decode.py" "$BATS_TEST_TMPDIR/out" \
			--eval '[s["name"] + s["resource"]["service.name"] for s in spans]')" = '["as", "bs"]' ]
	done
	nothing_arrived
	OTEL_TRACES_EXPORTER=console,otlp emit --span a,1,2 >"$BATS_TEST_TMPDIR/out"
	[ -s "$BATS_TEST_TMPDIR/out" ]
	check <<-'E'
	assert one["name"] == "a"
	E
}

@test "a console that takes nothing is a failure" {
	run bash -c 'NEMO_LENS_EXPORTER=console "$1" emit --span a,1,2 2>&1 >/dev/full' - "$LENS"
	[ "$status" != 0 ]
	[[ $output == *"No space left on device"* ]]
}

@test "--dry-run sends nothing, wherever it would go" {
	run --separate-stderr -0 emit --dry-run --span a,1,2
	[[ $output == '{"resourceSpans":['*'"name":"a"'* ]]
	NEMO_LENS_ENABLED=0 run -0 emit --dry-run --span a,1,2
	[[ $output == '{"resourceSpans":['* ]]
	run -1 emit --dry-run --span a,2,1
	nothing_arrived
}

@test "without libcurl it says what is missing; what sends nothing does not miss it" {
	mkdir none
	touch none/libcurl.so.4 none/libcurl-gnutls.so.4 # found first, and none
	LD_LIBRARY_PATH=$PWD/none run -2 emit --span a,1,2
	[[ $output == "slurm-lens emit: "*"libcurl is needed for it: "*"file too short"*libcurl4* ]]
	nothing_arrived
	LD_LIBRARY_PATH=$PWD/none run -0 emit --dry-run --span a,1,2
	LD_LIBRARY_PATH=$PWD/none run -0 "$LENS" status --help
}

@test "switched off: 0, and a note for those who ask" {
	local off
	for off in NEMO_LENS_ENABLED=0 OTEL_SDK_DISABLED=true OTEL_TRACES_EXPORTER=none; do
		run -0 env "$off" "$LENS" emit --span a,1,2
		[ "$output" = "" ]
		run -0 env "$off" "$LENS" emit --verbose --span a,1,2
		[[ $output == "slurm-lens emit: nothing was sent: ${off%%=*}"* ]]
		# What is wrong is told all the same.
		run -1 env "$off" "$LENS" emit --span a,2,1
	done
	nothing_arrived
}

@test "the resource is OTEL_RESOURCE_ATTRIBUTES, integers typed" {
	OTEL_SERVICE_NAME=of-env \
		OTEL_RESOURCE_ATTRIBUTES='slurm.job.id=7,slurm.ntasks=4,nv.dl.rank=3,team=caf%C3%A9,service.name=x,service.instance.id=demo-rank3,telemetry.sdk.name=opentelemetry' \
		emit --span a,1,2
	check <<-'E'
	assert one["resource"] == {
	    "slurm.job.id": "7", "slurm.ntasks": 4, "nv.dl.rank": 3, "team": "café",
	    "service.name": "of-env", "service.instance.id": "demo-rank3"}, one["resource"]
	E
}

@test "the same point in every locale" {
	LC_ALL=de_DE.UTF-8 emit --span a,1.25,2.5
	check <<-'E'
	assert (one["start"], one["end"]) == (1250000000, 2500000000)
	E
}

@test "a file that the user may not read is not read, and nothing of root's is needed" {
	local as=(env)
	[ "$(id -u)" != 0 ] || as=(setpriv --reuid=nobody --clear-groups env)
	# Where whoever runs the tests keeps them, others may not come.
	local place
	place=$(mktemp -d /tmp/lens-emit.XXXXXX)
	install -m 755 "$LENS" "$place/lens"
	chmod 755 "$place"
	echo secret >"$place/closed"
	chmod 000 "$place/closed"
	run "${as[@]}" -C / "$place/lens" emit --span a,1,2
	local first=$status
	run "${as[@]}" -C / OTEL_EXPORTER_OTLP_CERTIFICATE="$place/closed" "$place/lens" emit --span a,1,2
	rm -rf "$place"
	[ "$first" = 0 ]
	[ "$status" = 2 ]
	[[ $output == *"closed: Permission denied" && $output != *secret* ]]
	check <<-'E'
	assert one["name"] == "a"
	E
}

@test "usage errors: 2, and what would have been right" {
	local case_
	local refused=(
		"|nothing to send: give --span or --file, or a command behind \`--\`"
		"--service s|nothing to send"
		"--|the command behind \`--\` is missing"
		"true|true: not expected here; a command stands behind \`--\`"
		"--span a,1,2 true|true: not expected here"
		"--span a,1,2 -- true|a command does not go with --span"
		"--status ok -- true|a command does not go with --span"
		"--dry-run -- true|a command does not go with --span"
		"--span a,1,2 --name b|--name goes with a command"
		"--span a,1,2 --command-args|--command-args goes with a command"
		"--span a,1,2 --attr b|--attr=b: not KEY=VALUE"
		"--span a,1,2 --attr =b|--attr==b: not KEY=VALUE"
		"--span a,1,2 --kind big|--kind=big: not internal, server, client, producer or consumer"
		"--span a,1,2 --status bad|--status=bad: not unset, ok, error or error:MESSAGE"
		"--span a,1,2 --timeout soon|--timeout=soon: not a number of milliseconds"
		"--span a,1,2 --timeout -1|--timeout=-1: not a number of milliseconds"
		"--span|--span: its value is missing"
		"--colour|unknown option --colour"
		"-x|unknown option -x"
		"-vx|unknown option -x"
	)
	for case_ in "${refused[@]}"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr -2 emit ${case_%%|*}
		[ "$output" = "" ]
		[[ $stderr == "slurm-lens emit: ${case_#*|}"*"; see slurm-lens emit --help" ]]
	done
	run -2 emit --span a,1,2 --span-attr b:k=v
	[ "$output" = "slurm-lens emit: --span-attr=b:k=v: it does not begin with a span's name and a \`:\`" ]
	run -2 emit --span a,1,2 --span-status a:bad
	[[ $output == *"not NAME:STATUS, which is unset, ok"* ]]
	NEMO_LENS_EXPORTER=zipkin run -2 emit --span a,1,2
	[ "$output" = "slurm-lens emit: NEMO_LENS_EXPORTER=zipkin: not otlp or console" ]
	OTEL_EXPORTER_OTLP_ENDPOINT=collector run -2 emit --span a,1,2
	[[ $output == *"OTEL_EXPORTER_OTLP_ENDPOINT: \`collector\`: write it as http://HOST:4318"* ]]
	nothing_arrived
	run -0 emit --help
	[[ $output == "Usage: slurm-lens emit "* ]]
}
