#!/usr/bin/env bash
# The probes for bpftrace: the program has those that nfsrdma-tracing(7) lists and that the installed scripts look at, each one
# nop; and the scripts, on a mount at work, print what they say.
. "$(dirname "$0")/lib.sh"
nfsrdma=$(readlink -f "$program")
page=$here/../../man/nfsrdma-tracing.7
scripts=$here/../../fuse/ctl/bpftrace
command -v readelf >/dev/null || skip "no readelf (Debian package binutils)"
readelf -n "$nfsrdma" >notes.txt
if ! grep -q stapsdt notes.txt && ! echo '#include <sys/sdt.h>' | c++ -E -x c++ - >/dev/null 2>&1; then
  skip "built without systemtap-sdt-dev"
fi

# What readelf sees, what the page lists with as many arguments, and what the scripts ask for.
sed -n 's/^ *Name: //p' notes.txt | sort -u >has.txt
sed -n '/^\.SH PROBES/,/^\.SH SEE/s/^\.BI \([a-z0-9_]*\) "\(.*\)"$/\1/p' "$page" | sort -u >listed.txt
[ "$(wc -l <listed.txt)" -gt 10 ] || fail "the page lists no probes"
same "$(cat listed.txt)" "$(cat has.txt)" "the probes of the program"
awk '/Name: /{ name = $2 } /Arguments: /{ print name, NF - 1 }' notes.txt | sort -u >arguments.txt
sed -n '/^\.SH PROBES/,/^\.SH SEE/s/^\.BI \([a-z0-9_]*\) " *\(.*\)"$/\1 \2/p' "$page" | awk '{ print $1, NF - 1 }' | sort -u >listed_arguments.txt
same "$(cat listed_arguments.txt)" "$(cat arguments.txt)" "arguments of the probes"
for script in "$scripts"/*.bt; do
  for probe in $(sed -n 's,^usdt:/usr/bin/nfsrdma:nfsrdma:\([a-z0-9_]*\).*,\1,p' "$script"); do
    grep -qx "$probe" has.txt || fail "$script looks at $probe, which the program has not"
  done
done

# One byte, 0x90, at the place of each: read from the file, whose first segment of code says where that is.
python3 -S - "$nfsrdma" notes.txt <<'PY'
import re, struct, sys
program = open(sys.argv[1], "rb").read()
offset, size, count = struct.unpack_from("<Q", program, 32)[0], *struct.unpack_from("<HH", program, 54)
segments = [struct.unpack_from("<IIQQQQ", program, offset + size * i) for i in range(count)]
places = [int(place, 16) for place in re.findall(r"Location: (0x[0-9a-f]+)", open(sys.argv[2]).read())]
assert len(places) > 10
for place in places:
    at = next(place - s[3] + s[2] for s in segments if s[0] == 1 and s[3] <= place < s[3] + s[5])
    assert program[at] == 0x90, hex(place)
PY

command -v bpftrace >/dev/null || skip "no bpftrace: only readelf was tried"
same "$(sed "s,^,usdt:$nfsrdma:nfsrdma:," has.txt)" "$(bpftrace -l "usdt:$nfsrdma:*" | sort -u)" "what bpftrace lists"
[ "$(id -u)" -eq 0 ] || skip "only root runs bpftrace"
timeout 60 bpftrace -e "usdt:$nfsrdma:nfsrdma:fuse_answer { exit(); } BEGIN { exit(); }" >try.txt 2>&1 ||
  skip "bpftrace does not run here: $(tail -n 1 try.txt)"

start_responder
mount_export
control fault credits=2 >/dev/null
ls "$mnt" >/dev/null
tracers=()
for script in "$scripts"/*.bt; do
  name=$(basename "$script" .bt)
  sed "s,/usr/bin/nfsrdma,$nfsrdma,; \$a BEGIN { printf(\"attached\\\\n\"); }" "$script" >"$name.bt"
  bpftrace -B none "$name.bt" >"$name.txt" 2>&1 &
  tracers+=($!)
  wait_for "$name" grep -q attached "$name.txt"
done
for number in 1 2 3 4; do
  dd if=/dev/urandom of="$mnt/file$number" bs=64k count=32 oflag=direct status=none &
  writers[number]=$!
done
wait "${writers[@]}"
cat "$mnt"/file* >/dev/null
for tracer in "${tracers[@]}"; do kill -INT "$tracer"; wait "$tracer" || fail "bpftrace ended with $?"; done
for histogram in 'server_us\[38\]' 'all_us\[38\]' 'queue_us\[38\]' slot_us after_reply_us 'kernel_request_us\[16\]'; do
  grep -q "^@$histogram:" nfsrdma-latency.txt || fail "no $histogram: $(cat nfsrdma-latency.txt)"
done
if [ "$NFSRDMA_PROTO" = rdma ]; then
  grep -q '^@wait_us:' nfsrdma-credit-waits.txt || fail "no waits for credits: $(cat nfsrdma-credit-waits.txt)"
  grep -q '^@exposed_us:' nfsrdma-registrations.txt || fail "no registrations: $(cat nfsrdma-registrations.txt)"
fi
echo "bpftrace: $(wc -l <has.txt) probes, $(ls "$scripts" | wc -l) scripts at work"
