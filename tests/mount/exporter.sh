#!/usr/bin/env bash
# nfsrdma-exporter serves what mounts count; a real Prometheus scrapes it and has every series that the dashboard of
# Grafana asks for.
. "$(dirname "$0")/lib.sh"
# In a mount namespace, where the directories of sockets are the test's own.
if [ "$(id -u)" -eq 0 ] && [ -z "${NFSRDMA_NAMESPACE:-}" ]; then
  cd / && rm -rf "$work"
  NFSRDMA_NAMESPACE=1 exec unshare -m --propagation private bash "$here/$(basename "$0")"
fi
if [ "$(id -u)" -eq 0 ]; then hide_other_sockets; fi
export XDG_RUNTIME_DIR=$work/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
[ -x "$NFSRDMA_BIN/nfsrdma-exporter" ] || skip "nfsrdma-exporter is not built: no libmicrohttpd"
dashboard=$here/../../fuse/ctl/grafana-dashboard.json

# get URL: the body; fails for a status that is none of success. put: the status of another method.
get() { python3 -S -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode())' "$1"; }
helpers=()
trap 'status=$?; for each in "${helpers[@]}"; do kill "$each" 2>/dev/null && wait "$each" || true; done; clean_up $status' EXIT

start_responder
echo served >"$export/file"
head -c 20000 /dev/zero >"$export/large"  # more than comes with its OPEN
mount_export
"$NFSRDMA_BIN/nfsrdma-exporter" --listen=0 >exporter.out 2>exporter.log &
exporter=$!
helpers+=($exporter)
wait_for "the exporter" grep -q '^listening on port [1-9]' exporter.out
server_port=$port
port=$(sed -n 's/^listening on port //p' exporter.out)
url=http://127.0.0.1:$port

# Every page that there is, and those that there are not.
get "$url/metrics" >metrics.txt
same "# EOF" "$(tail -n 1 metrics.txt)" "the end"
grep -q "^nfsrdma_mount_info{mount_point=\"$mnt\",source=\"127.0.0.1:/\",state=\"mounted\",connection=\".*\",pid=\"${mount_pids[0]}\"} 1$" metrics.txt ||
  fail "no mount: $(grep nfsrdma_mount_info metrics.txt)"
same "" "$(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' metrics.txt | sort | uniq -d)" "families that stand twice"
grep -q 'href="/metrics"' <<<"$(get "$url/")" || fail "no index"
python3 -S - "$port" <<'PY'
import http.client, socket, sys
def status(method, path):
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
    connection.request(method, path, body=b"x" * 100000 if method == "POST" else None)
    reply = connection.getresponse()
    return reply.status, reply.getheader("Content-Type")
assert status("GET", "/metrics") == (200, "application/openmetrics-text; version=1.0.0; charset=utf-8")
assert status("HEAD", "/metrics")[0] == 200
assert status("GET", "/../etc/passwd")[0] == 404
assert status("POST", "/metrics")[0] == 405
# Askers that say nothing delay no other.
silent = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(4)]
assert status("GET", "/metrics")[0] == 200
PY
if command -v promtool >/dev/null; then
  "$NFSRDMA_BIN/nfsrdmactl" metrics >older-form.txt
  promtool check metrics <older-form.txt >said.out 2>&1 || true  # it has wishes about names and help
  ! grep -i 'error while linting\|parsing error' said.out || fail "promtool does not read what nfsrdmactl says"
fi
grep -q '^nfsrdma-exporter [0-9]' <<<"$("$NFSRDMA_BIN/nfsrdma-exporter" --version)" || fail "no version"
for wrong in --nonsense --listen=1:2:3:x --listen=70000; do
  status=0
  "$NFSRDMA_BIN/nfsrdma-exporter" "$wrong" >said.out 2>&1 || status=$?
  same 2 $status "exit status with $wrong"
done

# A daemon that is stopped is counted, and the others are there.
if [ "$NFSRDMA_PROTO" = rdma ]; then
  port_of_exporter=$port
  port=$rdma_port
  mount_export "" "$work/stopped"
  port=$port_of_exporter
  kill -STOP "${mount_pids[1]}"
  get "$url/metrics" >metrics.txt
  kill -CONT "${mount_pids[1]}"
  grep -qx 'nfsrdma_silent_mounts 1' metrics.txt || fail "silent mounts: $(grep silent metrics.txt)"
  grep -q "^nfsrdma_mount_info{mount_point=\"$mnt\"" metrics.txt || fail "the other mount is not there"
fi

# umount -l, and the same mounted again: no series stands twice, which Prometheus would refuse the page for.
exec 8<"$mnt/file"
fusermount3 -uz "$mnt"
older=${mount_pids[0]}
port_of_exporter=$port
port=$server_port
mount_export "" "$mnt" 8<&-
port=$port_of_exporter
get "$url/metrics" >metrics.txt
same "" "$(grep -v '^#' metrics.txt | sed 's/ [0-9]*$//' | sort | uniq -d | head -n 3)" "series that stand twice"
same "$(printf '%s\n' "$older" "${mount_pids[-1]}" | sort)" "$(sed -n "s,^nfsrdma_mount_info{mount_point=\"$mnt\".*pid=\"\([0-9]*\)\".*,\1,p" metrics.txt | sort)" \
  "the processes of $mnt"
exec 8<&-
wait "$older" || fail "the older one ends with $?"
mount_pids[0]=

command -v prometheus >/dev/null || skip "no prometheus (Debian package prometheus): only what the exporter itself says was tried"
cat "$mnt/large" >/dev/null
dd if=/dev/zero of="$mnt/new" bs=64k count=4 status=none
! cat "$mnt/none" 2>/dev/null || fail "a file that is not there"
web=$(python3 -S -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >prometheus.yml <<YML
scrape_configs:
  - job_name: nfsrdma
    scrape_interval: 1s
    static_configs:
      - targets: ["127.0.0.1:$port"]
YML
prometheus --config.file=prometheus.yml --storage.tsdb.path="$work/tsdb" --web.listen-address="127.0.0.1:$web" 2>prometheus.log &
helpers+=($!)
# value EXPRESSION: of the first series, or nothing.
value() { python3 -S - "$web" "$1" <<'PY'
import json, sys, urllib.parse, urllib.request
url = f"http://127.0.0.1:{sys.argv[1]}/api/v1/query?" + urllib.parse.urlencode({"query": sys.argv[2]})
result = json.load(urllib.request.urlopen(url, timeout=60))["data"]["result"]
print(result[0]["value"][1] if result else "")
PY
}
has() { [ "$(value "$1" 2>/dev/null)" = "$2" ]; }
wait_for "a scrape that succeeds" has 'up{job="nfsrdma"}' 1
wait_for "READ" has "nfsrdma_nfs_requests{mount_point=\"$mnt\",operation=\"READ\"}" 1
wait_for "an error with its status" has "nfsrdma_nfs_errors_by_status{mount_point=\"$mnt\",operation=\"LOOKUP\",status=\"NFS4ERR_NOENT\"} > bool 0" 1
# Each expression of the dashboard is one that Prometheus takes, and each metric in it has series.
mapfile -t expressions < <(python3 -S -c 'import json, sys
for panel in json.load(open(sys.argv[1]))["panels"]:
    for target in panel["targets"]:
        print(target["expr"].replace("$mount", ".*").replace("$__rate_interval", "1m"))' "$dashboard")
[ ${#expressions[@]} -gt 8 ] || fail "no dashboard"
for expression in "${expressions[@]}"; do
  value "$expression" >said.out 2>&1 || fail "Prometheus does not take $expression"
  for metric in $(grep -o 'nfsrdma_[a-z0-9_]*' <<<"$expression"); do
    same 1 "$(value "count($metric) > bool 0")" "series of $metric, which the dashboard shows"
  done
done
echo "Prometheus: scraped, ${#expressions[@]} expressions of the dashboard"

kill -TERM $exporter
wait $exporter || fail "the exporter ends with $?"
