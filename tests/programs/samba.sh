#!/usr/bin/env bash
# Samba: smbd serves two mounts, on behalf of another user than its own, with asynchronous I/O from threads; what its clients put by the one share
# they get by the other, whole, after renames and removals too, and the files are that user's.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "smbd changes users, which only root may"
needs samba smbd
needs smbclient smbclient
mkdir -m 1777 "$export/share"
start_responder
second=$work/second
mount_export allow_other
mount_export allow_other,acregmin=0,acregmax=0,acdirmin=0,acdirmax=0,lookupcache=none "$second"
chmod 755 "$work"
mkdir samba
smb_port=$(python3 -S -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >smb.conf <<CONF
[global]
  server role = standalone
  smb ports = $smb_port
  interfaces = lo
  bind interfaces only = yes
  private dir = $work/samba
  lock directory = $work/samba
  state directory = $work/samba
  cache directory = $work/samba
  pid directory = $work/samba
  ncalrpc dir = $work/samba/ncalrpc
  log file = $work/clients.log
  map to guest = Bad User
  guest account = nobody
  load printers = no
  printing = bsd
  disable spoolss = yes
  ea support = no
  store dos attributes = no
  force create mode = 0666
  force directory mode = 0777
[one]
  path = $mnt/share
  guest ok = yes
  read only = no
[two]
  path = $second/share
  guest ok = yes
  read only = no
CONF
start_service smbd smbd -F -s "$work/smb.conf"
# share NAME COMMAND...: of smbclient, one after the other; each has to succeed.
share() {
  local name=$1 commands
  shift
  commands=$(printf '%s; ' "$@")
  smbclient -s "$work/smb.conf" "//127.0.0.1/$name" -p "$smb_port" -U% -c "$commands" >said.out 2>&1 && ! grep -q 'NT_STATUS_' said.out
}
wait_for "smbd" share one ls
head -c 5000000 /dev/urandom >large
mkdir -p tree/below
for i in $(seq 30); do head -c $((i * 701)) /dev/urandom >tree/below/file$i; done

share one "put large large" "mkdir folder" "recurse on" "prompt off" "mput tree" || fail "put: $(cat said.out)"
share two "get large back" || fail "get: $(cat said.out)"
cmp large back
same 65534 "$(stat -c %u "$export/share/large")" "the owner of what was put"
mkdir copy
share two "lcd copy" "recurse on" "prompt off" "mget tree" || fail "mget: $(cat said.out)"
diff -r tree copy/tree
share two "rename large folder\\moved" "del tree\\below\\file1" || fail "rename: $(cat said.out)"
share two "put copy/tree/below/file30 folder/moved" || fail "replace: $(cat said.out)"
share two "get folder/moved back" || fail "get: $(cat said.out)"
cmp back tree/below/file30
share one "deltree tree" || fail "deltree: $(cat said.out)"
same "folder folder/moved" "$(cd "$export/share" && find . -mindepth 1 -printf '%P\n' | sort | paste -sd' ')" "what is left"
end_service smbd
