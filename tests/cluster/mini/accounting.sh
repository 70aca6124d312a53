# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Accounting of a throwaway cluster: MariaDB, reached by a socket in DIR alone, and a slurmdbd
# on loopback. Sourced by minicluster; DIR, ROOT, VIEW, PORT, NODES, CONF and DBD_PORT are its
# variables.

# accounting_choose: the port, and what slurm.conf says of it.
accounting_choose() {
	DBD_PORT=$((PORT + NODES + 1))
	CONF=("AccountingStorageType=accounting_storage/slurmdbd" "AccountingStorageHost=127.0.0.1"
		"AccountingStoragePort=$DBD_PORT" "AccountingStoragePass=$DIR/run/munge.sock"
		${CONF[@]+"${CONF[@]}"})
}

# mariadb_user: mariadbd refuses to be root.
mariadb_user() {
	if id mysql >/dev/null 2>&1; then
		echo mysql
	else
		echo nobody
	fi
}

mariadb_args() {
	cat <<-E
	--no-defaults
	--user=$(mariadb_user)
	--datadir=$DIR/mariadb
	E
}

# MariaDB is always the host's: a socket reaches into another root too.
mariadb_make() {
	local args
	command -v mariadbd >/dev/null || die "--accounting needs mariadbd (Debian: mariadb-server)"
	mkdir -p "$DIR/mariadb" "$DIR/log"
	chown "$(mariadb_user)" "$DIR/mariadb"
	mapfile -t args < <(mariadb_args)
	[ -d "$DIR/mariadb/mysql" ] ||
		mariadb-install-db "${args[@]}" --auth-root-authentication-method=normal \
			--skip-test-db --skip-name-resolve >"$DIR/log/mariadb-install.out" 2>&1 ||
		die "mariadb-install-db failed; see $DIR/log/mariadb-install.out"
}

mariadb_answers() {
	mariadb-admin --no-defaults --socket="$DIR/mariadb/sock" --user=root ping
}

# Small, and careless about a power cut: it lives for a test.
start_mariadb() {
	local args root=$ROOT view=$VIEW
	mapfile -t args < <(mariadb_args)
	ROOT='' VIEW=0
	spawn mariadbd "$DIR/log/mariadbd.out" mariadbd "${args[@]}" --socket="$DIR/mariadb/sock" \
		--pid-file="$DIR/mariadb/pid" --skip-networking --skip-log-bin \
		--innodb-buffer-pool-size=32M --innodb-log-file-size=32M \
		--innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 \
		--innodb-use-native-aio=0 --performance-schema=0
	ROOT=$root VIEW=$view
	poll mariadb_answers || die "mariadbd did not start; see $DIR/log/mariadbd.out"
}

# slurmdbd would make it after a first connection that failed, and libmariadb 11.8.9 takes no rows over
# a second one of the same handle (docs/slurm-behaviour.md).
database_make() {
	mariadb --no-defaults --socket="$DIR/mariadb/sock" --user=root \
		-e 'CREATE DATABASE IF NOT EXISTS slurm_acct' || die "there is no database slurm_acct"
}

write_slurmdbd_conf() {
	cat <<-E
	DbdHost=localhost
	DbdAddr=127.0.0.1
	DbdPort=$DBD_PORT
	SlurmUser=root
	AuthType=auth/munge
	AuthInfo=socket=$DIR/run/munge.sock
	LogFile=$DIR/log/slurmdbd.log
	PidFile=$DIR/run/slurmdbd.pid
	StorageType=accounting_storage/mysql
	StorageHost=localhost
	StorageLoc=slurm_acct
	StorageUser=root
	${MINICLUSTER_DBD_CONF:-}
	E
}

# MINICLUSTER_DBD_CONF: a further line of slurmdbd.conf, which lies beside slurm.conf. The client
# library finds MariaDB's socket by MYSQL_UNIX_PORT.
start_slurmdbd() {
	(umask 077 && write_slurmdbd_conf >"$DIR/etc/slurmdbd.conf")
	spawn slurmdbd "$DIR/log/slurmdbd.out" env MYSQL_UNIX_PORT="$DIR/mariadb/sock" slurmdbd -D
	poll port_open "$DBD_PORT" || die "slurmdbd did not listen; see $DIR/log/slurmdbd.log"
}

# 22.05 takes no job of a cluster that accounting has not heard of.
accounting_has_cluster() {
	[ "$(query sacctmgr -n -P list cluster format=cluster)" = mini ] ||
		query sacctmgr -i add cluster mini
	[ "$(query sacctmgr -n -P list cluster format=cluster)" = mini ]
}

start_accounting() {
	query sh -c 'command -v slurmdbd' >/dev/null || die "--accounting needs slurmdbd (Debian: slurmdbd)"
	start_mariadb
	database_make
	start_slurmdbd
	poll accounting_has_cluster || die "sacctmgr could not add the cluster; see $DIR/log"
}
