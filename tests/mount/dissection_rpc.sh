#!/usr/bin/env bash
# The second view of a capture: one pass of tshark takes each RPC apart, with no malformed mark, whatever has carried it
# and whatever its length, and finds in it what was done.
. "$(dirname "$0")/lib.sh"
. "$here/dissection_lib.sh"
tshark=(tshark)
life_of_a_mount=('nfs.opcode == 42' 'nfs.opcode == 43' 'nfs.opcode == 44')  # EXCHANGE_ID to DESTROY_SESSION

start_responder --delegations write
mkdir "$work/source"
for size in 0 1 2 3 5 4095 4097 16383 16385 100001 1048577 3000003; do head -c $size /dev/urandom >"$work/source/$size"; done

# record NAME OPTIONS: copies there and back, and everyday operations.
record() {
  local name=$1
  mount_export "capture=$work/$name.pcapng,capture_view=rpc${2:+,$2}"
  mkdir "$mnt/$name"
  cp -r "$work/source/." "$mnt/$name"
  ln -s a-target-of-odd-length "$mnt/$name/link"
  same a-target-of-odd-length "$(readlink "$mnt/$name/link")" "symbolic link"
  ls -l "$mnt/$name" >/dev/null
  unmount_export
  mount_export "capture=$work/$name-back.pcapng,capture_view=rpc${2:+,$2}"
  rm "$mnt/$name/link"
  diff -r "$work/source" "$mnt/$name"
  # A callback: the file is written behind the back of who holds its delegation.
  exec 7<"$mnt/$name/5"
  echo changed >"$export/$name/5"
  control recall >/dev/null
  exec 7<&-
  unmount_export
  dissects "$work/$name.pcapng" "${life_of_a_mount[@]}" 'nfs.opcode == 38' 'nfs.opcode == 5' 'nfs.opcode == 27'
  dissects "$work/$name-back.pcapng" "${life_of_a_mount[@]}" 'nfs.opcode == 25' 'nfs.opcode == 26' 'nfs.opcode == 28'
  # Every call has its answer: what tshark counts itself.
  all_answered "$work/$name.pcapng"
}
record plain
# The data is in it: a hash of what READ brought, in the order of the file.
tshark -n -r "$work/plain-back.pcapng" -Y 'nfs.opcode == 25 && rpc.msgtyp == 1' -T fields -e nfs.data 2>/dev/null |
  tr -d '\n,:' | python3 -c '
import sys
text = sys.stdin.read()
want = open(sys.argv[1], "rb").read()[:4096].hex()
sys.exit(0 if want in text else 1)' "$work/source/100001" || fail "the data of a READ is not in its reply"
