#!/usr/bin/env bash
# nfsrdmactl asks running mounts, and nothing that is done to their control sockets disturbs them.
own_sockets=yes
. "$(dirname "$0")/lib.sh"
# In a mount namespace, where the directories of sockets are the test's own.
if [ "$(id -u)" -eq 0 ] && [ -z "${NFSRDMA_NAMESPACE:-}" ]; then
  cd / && rm -rf "$work"
  NFSRDMA_NAMESPACE=1 exec unshare -m --propagation private bash "$here/$(basename "$0")"
fi
if [ "$(id -u)" -eq 0 ]; then hide_other_sockets; fi
export XDG_RUNTIME_DIR=$work/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
[ -x "$NFSRDMA_BIN/nfsrdmactl" ] || skip "no $NFSRDMA_BIN/nfsrdmactl"
ctl() { timeout 60 "$NFSRDMA_BIN/nfsrdmactl" "$@"; }
# says 'pattern' command...: to its end; one whose reader hangs up fails.
says() {
  local pattern=$1 output
  shift
  output=$("$@" 2>&1) || fail "$*: $output"
  grep -q -- "$pattern" <<<"$output" || fail "$*: expected '$pattern', found $output"
}
# listed NAME...: process, state, mount point and source of each.
listed() { ctl list "$@" | awk 'NR > 1 { print $1, $2, $5, $6 }'; }
# json 'python expression of x': of what is read.
json() { python3 -S -c "import json, sys; x = json.load(sys.stdin); print($1)"; }

start_responder
echo served >"$export/file"
head -c 20000 /dev/zero >"$export/large"  # more than comes with its OPEN
same "[]" "$(ctl list --json)" "mounts before there is one"
mount_export
mount_export control=off "$work/off"
mount_export "control=$work/own.sock" "$work/apart"
pid=${mount_pids[0]}
directory=$XDG_RUNTIME_DIR/nfsrdma
if [ "$(id -u)" -eq 0 ]; then directory=/run/nfsrdma; fi
same "700 600" "$(stat -c %a "$directory" "$directory/$pid.sock" | paste -sd' ')" "modes"
same "$pid.sock" "$(ls "$directory")" "sockets"

# list: by mount point, process, socket, or all.
one="$pid mounted $mnt 127.0.0.1:/"
for name in "" "$mnt" "$mnt/" mnt "$pid" "$directory/$pid.sock"; do
  same "$one" "$(listed ${name:+"$name"})" "list $name"
done
same "$one" "$(ctl list --json | json "' '.join(x[0][n] for n in ('pid', 'state', 'mount_point', 'source'))")" "list --json"
same "$work/apart" "$(listed "$work/own.sock" | cut -d' ' -f3)" "a socket where control= says"
says "$mnt .* $NFSRDMA_PROTO" ctl list
refused "no daemon of this user answers for it" ctl list "$work/off"

# stat, counters: what was done is counted.
cat "$mnt/large" >/dev/null
dd if=/dev/zero of="$mnt/new" bs=64k count=16 status=none
! cat "$mnt/none" 2>/dev/null || fail "a file that is not there"
operations="{o['operation']: o for o in x[0]['operations']}"
same "1 True True" "$(ctl stat --json "$mnt" | json "(lambda o: ' '.join(str(v) for v in (o['READ']['requests'],
  o['WRITE']['bytes_sent'] > 1 << 20, o['LOOKUP']['failures']['NFS4ERR_NOENT'] > 0)))($operations)")" "READ, WRITE, LOOKUP"
says '^LOOKUP: NFS4ERR_NOENT [0-9]* times' ctl stat "$mnt"
same "$(counter nfs_WRITE_requests)" "$(ctl counters "$mnt" | sed -n 's/^nfs_WRITE_requests //p')" "the counters of stats="
same 1 "$(ctl counters --json "$mnt" | json "x[0]['counters']['nfs_READ_requests']")" "counters"
says 'READ xid .* NFS4_OK$' ctl trace "$mnt"
same True "$(ctl trace --json | json "any('LOOKUP xid' in r['request'] for r in x)")" "trace"

# waiting: what, and for whom, while the server is silent; asking does not wait for it.
same "[]" "$(ctl waiting --json)" "what waits"
same ok "$(control stop)" "stop"
cat "$mnt/late" >/dev/null 2>&1 &
reader=$!
waits() { [ "$(ctl waiting "$mnt" | grep -c "by process $reader \|LOOKUP xid")" = 2 ]; }
wait_for "a request that waits, in both views" waits
same 2 "$(ctl waiting --json | json "len(x)")" "what waits"
same "$one" "$(listed "$mnt")" "a mount whose server is silent"
same ok "$(control continue)" "continue"
wait $reader && fail "a file that is not there"

# log: the end of a mount has a line of this level, which is looked for below.
! grep ' D ' mount0.log mount2.log || fail "a line of level debug before its time"
ctl log debug "$mnt"
refused "trace, debug, info, warning or error" ctl log loud "$mnt"
for wrong in "" "nonsense" "list --nonsense" "log"; do
  status=0
  # shellcheck disable=SC2086
  ctl $wrong >said.out 2>&1 || status=$?
  same 2 $status "exit status of nfsrdmactl $wrong"
done
refused "there is no subcommand stats (did you mean stat?)" ctl stats
same 1 "$(ctl stats 2>&1 | wc -l)" "lines for an unknown subcommand"
refused "--count= is followed by a number" ctl top --count=abc
for word in --help help; do says mountstats ctl $word; done
says '^nfsrdmactl [0-9]' ctl --version

# The programs of nfs-utils read what the kernel's client would have said.
ctl mountstats "$mnt" >mountstats.txt
mountstats=$(PATH=$PATH:/usr/sbin:/sbin command -v mountstats || true)
if [ -n "$mountstats" ]; then
  "$mountstats" mountstats -f mountstats.txt >said.out
  grep -q "^Stats for 127.0.0.1:/ mounted on $mnt:" said.out || fail "mountstats: $(cat said.out)"
  grep -q '	1 ops ' <<<"$(grep -A1 '^READ:' said.out)" || fail "mountstats: $(cat said.out)"
  says "Transport protocol: $NFSRDMA_PROTO" "$mountstats" mountstats -x -f mountstats.txt
  says "^127.0.0.1:/ mounted on $mnt:" "$mountstats" iostat -f mountstats.txt
  sed "s,/proc/self/mountstats,$work/mountstats.txt,g" "$(dirname "$mountstats")/nfsiostat" >nfsiostat.py
  says "^127.0.0.1:/ mounted on $mnt:" python3 nfsiostat.py
  echo "nfs-utils: read"
fi

# As JSON: the same numbers.
same True "$(ctl mountstats --json "$mnt" | json "x[0]['operations']['READ'][0] == 1 and len(x[0]['events']) == 27 and
  x[0]['mount']['mount_point'] == '$mnt' and len(x[0]['bytes']) == 8")" "mountstats --json"
same "$mnt 1" "$(ctl metrics --json "$mnt" | json "' '.join(str(s[n]) for s in x for n in ('mount_point', 'value')
  if s['name'] == 'nfsrdma_nfs_requests' and s['operation'] == 'READ')")" "metrics --json"

# OpenMetrics: each family once, its samples together, and the end. The older text format, of the textfile collector, takes it, too.
ctl metrics >metrics.txt
if command -v promtool >/dev/null; then
  promtool check metrics <metrics.txt >said.out 2>&1 || true  # it has wishes about names and help
  ! grep -i 'error while linting\|parsing error' said.out || fail "promtool does not read it"
fi
python3 -S - metrics.txt <<'PY'
import re, sys
label = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
sample = re.compile(rf'([a-zA-Z_:][a-zA-Z0-9_:]*)\{{({label}(?:,{label})*)\}} ([0-9]+)')
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
assert lines[-2:] == ["# EOF", ""], lines[-2:]
families, series, family = set(), set(), None
for line in lines[:-2]:
    name, labels, value = sample.fullmatch(line).groups()
    if name != family:
        assert name not in families, line
        families.add(name)
        family = name
    assert (name, labels) not in series, line
    series.add((name, labels))
assert "nfsrdma_nfs_rtt_us_p99" in families and len(families) > 100, families
PY

# top: what was done between two looks, and no more.
ctl top --interval=1000 --count=1 "$mnt" >top.out &
top=$!
while kill -0 $top 2>/dev/null; do dd if="$mnt/new" of=/dev/null bs=64k iflag=direct status=none; done
wait $top || fail "top"
same 1 "$(grep -c '^READ  ' top.out)" "lines of READ in top: $(cat top.out)"
! grep -q '^WRITE' top.out || fail "top: $(cat top.out)"

# state: what is held at the server. reconnect and return: only where they are named.
exec 9<>"$mnt/new"
inode=$(stat -c %i "$mnt/new")
flock -x 9
says "^  open inode $inode by user $(id -u): read and write, 1 times" ctl state "$mnt"
same True "$(ctl state --json "$mnt" | json "any(s['state'].startswith('open inode $inode ') for s in x)")" "state"
says "^  lock inode $inode by process [0-9]*: exclusive, bytes 0 to the end" ctl state "$mnt"
refused "name the mount" ctl reconnect
refused "name the mount" ctl return
before=$(ctl counters "$mnt" | sed -n 's/^reconnects //p')
ctl reconnect "$mnt"
same served "$(cat "$mnt/file")" "a file after a new connection"
same $((before + 1)) "$(ctl counters "$mnt" | sed -n 's/^reconnects //p')" "connections"
says 'delegations are given back' ctl return "$mnt"
exec 9>&-

# Askers who say nothing, too much, or do not read what they asked for.
python3 -S - "$directory/$pid.sock" "$mnt/file" <<'PY'
import os, socket, sys
def asker():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(30)
    s.connect(sys.argv[1])
    return s
silent = [asker() for _ in range(7)]
for s in silent[:3]:
    s.send(b"counters\n")
for s in silent[3:5]:
    s.send(b"half a request")
long = asker()
long.sendall(b"a" * 256)
assert long.recv(6) == b"error:"
assert open(sys.argv[2]).read() == "served\n"
for _ in range(300):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        s.send(os.urandom(20))
os.stat(sys.argv[2])
PY
wait_for "an answer after them" ctl list "$mnt"

# Mount points with any characters.
odd=$work/$'odd \x1b[2J\\ "\xff'
mount_export "" "$odd"
says "^ *${mount_pids[3]} .*odd \\\\033\[2J\\\\134" ctl list "$odd"
says 'mounted on .*/odd\\040\\033' ctl mountstats "$odd"
same "${mount_pids[3]}" "$(ctl list --json "$odd" | json "x[0]['pid']")" "a mount point with odd characters"

# A daemon that was killed leaves a socket on which nothing answers: nfsrdmactl removes it, and so does the start of another daemon.
# killed N: the daemon of a mount is, and it is unmounted.
killed() {
  kill -KILL "${mount_pids[$1]}"
  wait "${mount_pids[$1]}" 2>/dev/null || true
  fusermount3 -uz "${mount_points[$1]}"
  left=$directory/${mount_pids[$1]}.sock
  [ -S "$left" ] || fail "the killed daemon left no socket"
  mount_pids[$1]=
}
killed 3
same "$one" "$(listed)" "mounts after one was killed"
[ ! -e "$left" ] || fail "its socket is still there after a list"
mount_export "" "$odd"
killed 4
mount_export "" "$odd"
[ ! -e "$left" ] || fail "its socket is still there after the start of another"
unmount_export "$odd"

# Not over what is not a socket: the mount goes on without.
echo precious >"$work/victim.sock"
mount_export "control=$work/victim.sock" "$work/without"
same precious "$(cat "$work/victim.sock")" "a file that control= named"
grep -q 'no nfsrdmactl for this mount: .*victim.sock is not a socket' "$work/mount6.log" || fail "no word of it"

# Two daemons have one mount point: it is said which, and each can be named; metrics have the younger one, once.
place=$work/twice
mount_export "" "$place"
exec 8<"$place/file"
fusermount3 -uz "$place"
older=${#mount_pids[@]}
older=$((older - 1))
mount_export "" "$place" 8<&-
younger=${mount_pids[older + 1]}
refused "there are several: name the process (" ctl state "$place"
for process in "${mount_pids[older]}" "$younger"; do
  refused "$process" ctl state "$place"
  same "$process" "$(ctl list --json "$process" | json "x[0]['pid']")" "a process that was named"
done
stat "$place/large" >/dev/null
ctl metrics >metrics.txt
same 1 "$(grep -c "^nfsrdma_fs_inodes{mount_point=\"$place\"," metrics.txt)" "series of two mounts in one place"
same "nfsrdma_fs_inodes{mount_point=\"$place\",source=\"127.0.0.1:/\"} $(ctl counters "$younger" | sed -n 's/^fs_inodes //p')" \
  "$(grep "^nfsrdma_fs_inodes{mount_point=\"$place\"," metrics.txt)" "whose series it is"
exec 8<&-
wait "${mount_pids[older]}" || fail "the older one ends with $?"
mount_pids[older]=
same "$younger" "$(ctl list --json "$place" | json "x[0]['pid']")" "the mount at $place"
unmount_export "$place"

unmount_export
unmount_export "$work/apart"
same "" "$(ls "$directory")" "sockets after the end"
# Each request of the kernel in and out, and what the server was asked for it.
for line in 'fuse: request [0-9]*: getattr of inode' 'fuse: answer to request [0-9]*, [a-z]*: errno 0, ' \
  'READ xid 0x[0-9a-f]* slot [0-9]* for request [0-9]*: .* NFS4_OK'; do
  grep -q " D $mnt: $line" mount0.log || fail "no line of level debug like '$line'"
done
! grep ' D ' mount2.log || fail "lines of level debug of another mount"
[ ! -e "$work/own.sock" ] || fail "the socket of control= is still there"
