#!/usr/bin/env bash
# What goes over the wire to a real server is dissected by tshark without a complaint: no malformed
# message, no bad CRC, nothing unknown. Usage: capture.sh TRANSPORT PATH
. "$(dirname "$0")/lib.sh"
command -v tshark >/dev/null || skip "no tshark: tests/install-packages test"
use_knfsd "$1" "$2"
standing=crc
mount_export "capture=$work/wire.pcapng"
head -c 1000000 /dev/urandom >"$work/source"
mkdir "$mnt/wire"
cp "$work/source" "$mnt/wire/file"
for i in $(seq 100); do echo $i >"$mnt/wire/a-name-of-some-length-$i"; done
ls -l "$mnt/wire" >/dev/null
mv "$mnt/wire/file" "$mnt/wire/moved"
ln -s moved "$mnt/wire/link"
unmount_export
mount_export "capture=$work/back.pcapng"
cmp "$work/source" "$mnt/wire/link"
rm -r "$mnt/wire"
unmount_export

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
