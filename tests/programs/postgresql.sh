#!/usr/bin/env bash
# PostgreSQL: a cluster on the mount is loaded by pgbench, its processes are killed in the middle, and it recovers: every
# transaction that was acknowledged is there, and pg_amcheck finds no damage.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "the cluster runs as another user than the mount's"
for folder in /usr/lib/postgresql/*/bin; do if [ -x "$folder/pg_amcheck" ]; then PATH=$folder:$PATH; fi; done
needs postgresql initdb postgres pgbench pg_amcheck
start_responder
mount_export allow_other
chmod 755 "$work"
cluster=$mnt/cluster
mkdir -m 700 "$cluster" "$work/socket"
chown $ordinary_user:$ordinary_user "$cluster" "$work/socket"
cd "$work/socket"
"${as_other[@]}" env HOME="$work/socket" initdb -D "$cluster" -U postgres --no-sync --data-checksums -A trust >"$work/initdb.log" 2>&1 || fail "initdb"
export PGHOST=$work/socket PGUSER=postgres
begin() {
  start_service postgres "${as_other[@]}" postgres -D "$cluster" -k "$work/socket" -c listen_addresses= -c shared_buffers=16MB \
    -c max_connections=20 -c full_page_writes=on -c restart_after_crash=off
  wait_for "the database" psql -XAtc 'select 1' postgres
}
# Of the cluster: their working directory is that.
processes() { local each; for each in /proc/[0-9]*; do [ "$(readlink "$each/cwd" 2>/dev/null)" = "$cluster" ] && echo "${each#/proc/}"; done; return 0; }
none_left() { [ -z "$(processes)" ]; }
begin
"${as_other[@]}" pgbench -q -i -s 1 postgres >"$work/pgbench.log" 2>&1 || fail "pgbench -i"
psql -Xqc 'create extension amcheck; create table acknowledged (client int, i int)' postgres

# Each client notes what was acknowledged.
client() {
  local i
  for i in $(seq 100000); do
    psql -Xqc "begin; insert into acknowledged values ($1, $i); update pgbench_branches set bbalance = bbalance + 1; commit" postgres >/dev/null 2>&1 || return 0
    echo "$i" >>"$work/client$1.done"
  done
}
client 1 & clients=($!)
client 2 & clients+=($!)
"${as_other[@]}" pgbench -n -c 2 -T 600 postgres >"$work/pgbench.log" 2>&1 &
clients+=($!)
many_done() { [ "$(wc -l <"$work/client1.done")" -ge 15 ] && [ "$(wc -l <"$work/client2.done")" -ge 15 ]; }
wait_for "transactions" many_done
# shellcheck disable=SC2046
kill -KILL $(processes)
end_service postgres KILL
wait "${clients[@]}" || true
wait_for "the end of all its processes" none_left
begin
for each in 1 2; do
  missing=$(psql -XAtc "select i from acknowledged where client = $each" postgres | sort | comm -13 - <(sort "$work/client$each.done") | wc -l)
  same 0 "$missing" "transactions of client $each that were acknowledged and are lost"
done
pg_amcheck --heapallindexed --install-missing -d postgres >"$work/amcheck.log" 2>&1 || fail "pg_amcheck"
psql -Xqc 'vacuum full' -c checkpoint postgres
end_service postgres INT
wait_for "the end of the database" none_left
grep -q 'automatic recovery in progress' "$work/postgres.log" || fail "it did not recover"
pg_checksums --check -D "$cluster" >"$work/checksums.log" 2>&1 || fail "pg_checksums"
