#!/usr/bin/env bash
# A core dump of the program holds no data of files: no memory that the kernel would put into one has any of what was read
# and written, small or large, inline or by RDMA, through the page cache or direct.
. "$(dirname "$0")/lib.sh"
start_responder
mark="a-secret-of-some-user"

# filled NAME BYTES: a file of nothing but the mark.
filled() { (yes "$mark" 2>/dev/null || true) | head -c "$2" >"$1"; }
sizes=(100 3000 12000 60000 1048576)
for bytes in "${sizes[@]}"; do filled "$export/read.$bytes" "$bytes"; done
filled "$work/data" 1048576
mount_export

for bytes in "${sizes[@]}"; do
  cmp "$export/read.$bytes" "$mnt/read.$bytes"
  dd if="$mnt/read.$bytes" of=/dev/null bs=4096 iflag=direct status=none
  head -c "$bytes" "$work/data" >"$mnt/written.$bytes"
  dd if="$work/data" of="$mnt/direct.$bytes" bs=4096 count=$(((bytes + 4095) / 4096)) oflag=direct status=none
  sync "$mnt/written.$bytes"
  cmp "$export/read.$bytes" "$export/written.$bytes"
done

cat >"$work/dumped.py" <<'P'
"""dumped.py PID MARK: prints each mapping with MARK in it that a core dump of PID would hold. The last line: bytes seen."""
import re, sys
pid, mark = sys.argv[1], sys.argv[2].encode()
seen = 0
with open(f"/proc/{pid}/smaps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
    mappings = re.findall(r"^([0-9a-f]+)-([0-9a-f]+) (r\S+) (.*)\n(?:\S+:.*\n)*?VmFlags: (.*)$", maps.read(), re.M)
    for begin, end, rights, what, flags in mappings:
        if "w" not in rights or "dd" in flags.split() or "io" in flags.split():
            continue
        begin, end = int(begin, 16), int(end, 16)
        for at in range(begin, end, 1 << 24):
            memory.seek(at)
            piece = memory.read(min(1 << 24, end - at))
            seen += len(piece)
            if mark in piece:
                print(f"{at + piece.index(mark):x}, {piece.count(mark)} times, in {begin:x}-{end:x} {what}")
print(seen)
P
python3 "$work/dumped.py" "${mount_pids[0]}" "$mark" >"$work/dumped" || fail "the memory cannot be read"
[ "$(tail -n 1 "$work/dumped")" -gt 100000 ] || fail "hardly any memory was seen: $(cat "$work/dumped")"
same "" "$(head -n -1 "$work/dumped")" "data of files in memory that a core dump holds"
