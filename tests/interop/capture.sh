#!/usr/bin/env bash
# What goes over the wire to a real server is dissected by tshark without a complaint: no malformed
# message, no bad CRC, nothing unknown. Usage: capture.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
command -v tshark >/dev/null || skip "no tshark: tests/install-packages test"
use_knfsd "$1" "$2"
standing=crc
caused 'siw: crc error'
head -c 1000000 /dev/urandom >"$work/source"

# recorded FILE STEPS: they are done on a mount that is captured; once more when siw, which misjudges
# a CRC now and then (crc.sh), has ended the connection: the next one is without CRCs.
recorded() {
  for _ in 1 2 3; do
    rm -f "$work/$1.pcapng"
    mount_points=() mount_pids=()
    mount_export "capture=$work/$1.pcapng"
    "$2"
    unmount_export
    [ "$(counter_at_end reconnects)" != 0 ] || return 0
  done
  fail "siw has ended three connections in a row"
}
write_there() {
  rm -rf "$mnt/wire"
  mkdir "$mnt/wire"
  cp "$work/source" "$mnt/wire/file"
  for i in $(seq 100); do echo $i >"$mnt/wire/a-name-of-some-length-$i"; done
  ls -l "$mnt/wire" >/dev/null
  mv "$mnt/wire/file" "$mnt/wire/moved"
  ln -s moved "$mnt/wire/link"
}
read_back() {
  cmp "$work/source" "$mnt/wire/link"
  rm -f "$mnt"/wire/a-name*
}
recorded wire write_there
recorded back read_back
guest_run "rm -r /export$2/wire"

# dissect FILE FILTER: what tshark shows of it.
dissect() { tshark -2 -n -r "$1" -Y "$2" 2>>"$work/tshark.log"; }
for file in wire back; do
  found=$(dissect "$work/$file.pcapng" '_ws.malformed || _ws.expert.severity == error')
  [ -z "$found" ] || fail "$file: tshark complains: $(head -n 5 <<<"$found")"
  good=$(tshark -n -r "$work/$file.pcapng" -V 2>>"$work/tshark.log" | grep -c 'CRC check: .*Good CRC32')
  all=$(dissect "$work/$file.pcapng" iwarp_mpa.crc_check | wc -l)
  [ "$good" -ge "$all" ] || fail "$file: $good of the CRCs in $all packets are good"
  [ "$(dissect "$work/$file.pcapng" nfs | wc -l)" -gt 50 ] || fail "$file: too few NFS messages"
done
