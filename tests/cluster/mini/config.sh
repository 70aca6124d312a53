# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The configuration files of a throwaway cluster. Sourced by minicluster.

# Short waits everywhere; a requeued job waits cred_expire + 1 s.
slurm_conf_defaults() {
	cat <<-E
	ClusterName=mini
	SlurmctldHost=localhost(127.0.0.1)
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	AuthInfo=socket=$DIR/run/munge.sock,cred_expire=5
	SlurmctldPort=$PORT
	SlurmdPort=$PORT
	StateSaveLocation=$DIR/state
	SlurmdSpoolDir=$DIR/spool/%n
	SlurmctldPidFile=$DIR/run/slurmctld.pid
	SlurmdPidFile=$DIR/run/slurmd.%n.pid
	SlurmctldLogFile=$DIR/log/slurmctld.log
	SlurmdLogFile=$DIR/log/slurmd.%n.log
	PlugStackConfig=$DIR/etc/plugstack.conf
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	SlurmdParameters=config_overrides
	JobAcctGatherType=jobacct_gather/none
	AccountingStorageType=accounting_storage/none
	MpiDefault=none
	SchedulerType=sched/backfill
	SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1,requeue_delay=0
	ReturnToService=2
	SlurmdTimeout=5
	SlurmctldTimeout=5
	MessageTimeout=10
	KillWait=2
	MinJobAge=3600
	InactiveLimit=0
	CompleteWait=0
	DebugFlags=NO_CONF_HASH
	E
}

# write_slurm_conf NODES CPUS NODECONF [KEY=VALUE...]: the defaults, but what
# KEY=VALUE names, then those.
write_slurm_conf() {
	local nodes=$1 cpus=$2 nodeconf=$3 line extra host i
	shift 3
	while IFS= read -r line; do
		for extra in "$@"; do
			[ "${extra%%=*}" = "${line%%=*}" ] && continue 2
		done
		echo "$line"
	done < <(slurm_conf_defaults)
	[ $# -eq 0 ] || printf '%s\n' "$@"
	for ((i = 1; i <= nodes; i++)); do
		host=localhost
		[ "$UTS" = 1 ] && host=n$i
		echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((PORT + i))" \
			"CPUs=$cpus RealMemory=2000$nodeconf State=UNKNOWN"
	done
	echo "PartitionName=p Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO"
}

# The machine's users, each with a shell to log in with.
write_passwd() {
	getent passwd | sed -E 's#:[^:]*/(nologin|false)$#:/bin/sh#'
}

write_hosts() { # NODES
	local i
	echo "127.0.0.1 localhost $(uname -n)"
	for ((i = 1; i <= $1; i++)); do
		echo "127.0.0.1 n$i"
	done
}

# free_ports COUNT: the first of a block of COUNT free ports. Blocks begin at a
# multiple of 40 that depends on the pid, so clusters started together differ.
free_ports() {
	local base=$((20000 + (BASHPID % 300) * 40)) i
	while :; do
		for ((i = 0; i < $1; i++)); do
			port_open $((base + i)) && break
		done
		[ "$i" -eq "$1" ] && break
		base=$((base + 40))
	done
	echo "$base"
}
