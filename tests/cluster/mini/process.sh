# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Processes of a throwaway cluster: started, remembered by pid and start time,
# and ended by exactly that. Sourced by minicluster; DIR, ROOT, PREFIX, BIND,
# VIEW and CENV are its variables.

now_ms() {
	local t=${EPOCHREALTIME/./}
	echo $((t / 1000))
}

# starttime PID: field 22 of its stat; the name before may hold blanks.
starttime() {
	local stat fields
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	read -ra fields <<<"${stat##*) }"
	echo "${fields[19]}"
}

# alive PID STARTTIME: still that very process, and no zombie.
alive() {
	local stat fields
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	read -ra fields <<<"${stat##*) }"
	[ "${fields[0]}" != Z ] && [ "${fields[19]}" = "$2" ]
}

record() { # NAME PID
	echo "$1 $2 $(starttime "$2")" >>"$DIR/run/pids"
}

# last_pid NAME: "PID STARTTIME" of the last process recorded so.
last_pid() {
	awk -v name="$1" '$1 == name { last = $2 " " $3 } END { print last }' "$DIR/run/pids"
}

# enter CMD...: becomes CMD with the cluster's Slurm. In another distribution's
# root every command has a mount namespace of its own: nothing stays mounted.
enter() {
	[ -n "$PREFIX" ] && PATH=$PREFIX/sbin:$PREFIX/bin:$PATH
	if [ -z "$ROOT" ]; then
		[ "$VIEW" = 1 ] || [ -n "${MINICLUSTER_PRELOAD:-}" ] ||
			exec env "${CENV[@]}" PATH="$PATH" "$@"
		# shellcheck disable=SC2016 # the inner shell's
		exec env "${CENV[@]}" PATH="$PATH" VIEW="$VIEW" unshare -m --propagation private sh -c '
			if [ "$VIEW" = 1 ]; then
				[ -e /etc/hosts ] || : >/etc/hosts
				mount --bind "$0/etc/hosts" /etc/hosts
				mount --bind "$0/etc/passwd" /etc/passwd
			fi
			if [ -n "$MINICLUSTER_PRELOAD" ]; then
				[ -e /etc/ld.so.preload ] || : >/etc/ld.so.preload
				mount --bind "$MINICLUSTER_PRELOAD" /etc/ld.so.preload
			fi
			unset VIEW MINICLUSTER_PRELOAD
			exec "$@"' "$DIR" "$@"
	fi
	# shellcheck disable=SC2016 # the inner shell's
	exec env "${CENV[@]}" unshare -m --propagation private bash -c '
		r=$1 d=$2 w=$PWD; shift 2
		mount -t proc proc "$r/proc" 2>/dev/null
		mount --rbind /sys "$r/sys"; mount --rbind /dev "$r/dev"
		for x in "$d" $MC_BIND; do mkdir -p "$r$x"; mount --bind "$x" "$r$x"; done
		[ -e "$r/etc/hosts" ] || : >"$r/etc/hosts"
		mount --bind "$d/etc/hosts" "$r/etc/hosts"
		exec chroot "$r" sh -c "cd \"\$0\" 2>/dev/null || cd /; exec \"\$@\"" "$w" "$@"' \
		enter "$ROOT" "$DIR" "$@"
}

# query CMD...: a client command that must not hang.
query() {
	(enter timeout 10 "$@") 2>/dev/null
}

# spawn NAME LOG CMD...: a daemon in its own session. Descriptors above 2 stay
# behind: a test runner waits for those that it opened.
spawn() {
	local name=$1 log=$2 pid
	shift 2
	(
		cd "$DIR/log" || exit 1
		trap '' HUP
		exec 3>&- 4>&- 5>&- 6>&-
		enter setsid "$@"
	) </dev/null >>"$log" 2>&1 &
	pid=$!
	disown "$pid" 2>/dev/null
	record "$name" "$pid"
}

# poll CMD...: every 20 ms, until it succeeds or DEADLINE is over.
poll() {
	until "$@" >/dev/null 2>&1; do
		[ "$(now_ms)" -lt "$DEADLINE" ] || return 1
		sleep 0.02
	done
}

port_open() {
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# stop_pid PID STARTTIME SIGNAL LIMIT_MS: ends it, with SIGKILL after the limit.
stop_pid() {
	local end
	alive "$1" "$2" || return 0
	kill -"$3" "$1" 2>/dev/null
	end=$(($(now_ms) + $4))
	while alive "$1" "$2"; do
		if [ "$(now_ms)" -ge "$end" ]; then
			kill -KILL "$1" 2>/dev/null
			return 1
		fi
		sleep 0.02
	done
}

# our_stepds: pids of slurmstepd that work or write below DIR.
our_stepds() {
	local exe
	find /proc/[0-9]*/exe -maxdepth 0 -lname '*/slurmstepd*' 2>/dev/null | while read -r exe; do
		case $(readlink "${exe%/exe}/cwd" "${exe%/exe}"/fd/* 2>/dev/null) in
		*"$DIR/"*) echo "$exe" | cut -d/ -f3 ;;
		esac
	done
}

# descendants PID: children first.
descendants() {
	local child children=()
	read -ra children < <(cat "/proc/$1"/task/*/children 2>/dev/null | tr '\n' ' ')
	for child in "${children[@]}"; do
		descendants "$child"
		echo "$child"
	done
}
