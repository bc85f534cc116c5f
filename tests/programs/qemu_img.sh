#!/usr/bin/env bash
# qemu-img and qemu-io: a qcow2 image with a snapshot, written with O_DIRECT and through the cache, checks, converts and compares; a second
# writer, on another mount too, is kept out by the image's locks.
. "$(dirname "$0")/lib.sh"
needs qemu-utils qemu-img qemu-io
start_responder
second=$work/second
mount_export
mount_export "" "$second"
image=$mnt/disk.qcow2
qemu-img create -q -f qcow2 "$image" 64M
qemu-io -f qcow2 -t none -c 'write -P 0x11 0 4M' -c 'write -P 0x22 40M 1M' "$image" >said.out
qemu-img snapshot -c before "$image"
qemu-io -f qcow2 -t writeback -c 'write -P 0x33 2M 4M' -c 'discard 40M 1M' -c flush "$image" >said.out
qemu-io -f qcow2 -c 'read -P 0x11 0 2M' -c 'read -P 0x33 2M 4M' "$image" >said.out
! grep -i 'failed\|error' said.out || fail "what was read: $(cat said.out)"
qemu-img check -q "$image"
qemu-img convert -q -O raw -t none "$image" "$mnt/disk.raw"
qemu-img compare -q "$image" "$second/disk.raw"
qemu-img convert -q -l before -O qcow2 "$image" "$work/before.qcow2"
qemu-io -f qcow2 -c 'read -P 0x11 0 4M' -c 'read -P 0x22 40M 1M' "$work/before.qcow2" >said.out
! grep -i 'failed\|error' said.out || fail "what the snapshot has: $(cat said.out)"

# One that has it open waits for lines.
mkfifo hold
exec 3<>hold
start_service holder sh -c 'exec qemu-io -f qcow2 "$0" <&3' "$image"
echo 'write -P 0x44 0 64k' >&3
wait_for "the holder's write" grep -q 'wrote 65536' holder.log
for at in "$mnt" "$second"; do
  ! qemu-io -f qcow2 -c 'write 0 64k' "$at/disk.qcow2" >said.out 2>&1 || ! grep -q 'wrote' said.out || fail "a second writer on $at"
  grep -qi 'lock' said.out || fail "a second writer on $at: $(cat said.out)"
done
echo quit >&3
wait "${services[holder]}" || fail "the holder: $(cat holder.log)"
exec 3<&-
qemu-img check -q "$second/disk.qcow2"
