# The Linux kernel's client in the guest, and a server on this machine: the responder, or nfsrdma-lab's proxy.
# Sourced on top of ../lib.sh. Connections go through QEMU's user network; to the guest this machine is 10.0.2.2.
#
#   serve_kernel siw|tcp [OPTION...]   starts the responder with these options, for a client over that transport
#   mount_kernel PORT [OPTIONS [PATH]] mounts it in the guest, on $there
#   in_mount LINE...    runs a line of shell in the guest, in the mount
#   launch NAME LINE... the same in the background: $jobs/NAME.status has its exit status, NAME.out its output
#   await NAME          until it has ended; fails unless well
#   fault RULE          tells the responder; prints the rule's number
#   met NUMBER FAULT [TIMES]    the rule has been used
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
there=/mnt/responder
kernel_server=10.0.2.2
operation_patience=60  # seconds an operation of the kernel's client may take, recovery included
job_patience=$((6 * patience))  # looks at a job of many operations, each of which may wait for a new connection
kernel_mounted=
proxy_pid=

leave_kernel() {
  local status=$?
  if [ -n "$responder_pid" ] && kill -0 "$responder_pid" 2>/dev/null; then
    control clear >/dev/null 2>&1 || true
    control continue >/dev/null 2>&1 || true
  fi
  if [ -n "$kernel_mounted" ] && [ $status -ne 0 ]; then
    guest_run "tail -n +1 /share/kernel/*.out; dmesg | tail -n 30
      for process in /proc/[0-9]*; do case \$(readlink \$process/cwd) in $there*) kill -KILL \${process#/proc/} ;; esac; done
      umount -fl $there" >"$work/guest.log" 2>&1 || true
  elif [ -n "$kernel_mounted" ]; then
    unmount_kernel || status=1
  fi
  if [ -n "$proxy_pid" ]; then
    kill "$proxy_pid" 2>/dev/null
    wait "$proxy_pid" || status=1
  fi
  set +e
  (exit $status)
  finish_cell
}
trap leave_kernel EXIT

use_kernel_client() {
  use_guest
  jobs=$guest_dir/share/kernel
  rm -rf "$jobs"
  mkdir -p "$jobs"
  guest_run "modprobe -a nfsv4 rpcrdma; rdma-device siw eth0 >/dev/null"
}

serve_kernel() {
  kernel_proto=tcp
  [ "$1" = tcp ] || kernel_proto=rdma
  shift
  use_kernel_client
  start_responder --no-crc "$@"  # siw misjudges CRCs that come in pieces
  kernel_port=$rdma_port
  [ $kernel_proto = rdma ] || kernel_port=$tcp_port
}

mount_kernel() {
  guest_run "mkdir -p $there; mount -t nfs -o vers=4.1,proto=$kernel_proto,port=$1${2:+,$2} $kernel_server:${3:-/} $there" ||
    fail "no mount in the guest"
  kernel_mounted=yes
}

unmount_kernel() {
  kernel_mounted=
  guest_run "umount $there" || { guest_run "umount -fl $there"; return 1; }
}

in_mount() { guest_run "set -e; cd $there; $*"; }

launch() {
  local name=$1
  shift
  rm -f "$jobs/$name".*
  printf 'set -e\ncd %s\n%s\n' "$there" "$*" >"$jobs/$name.job"
  guest_run "(bash /share/kernel/$name.job >/share/kernel/$name.out 2>&1; echo \$? >/share/kernel/$name.status) >/dev/null 2>&1 &"
}
await() {
  local patience=$job_patience
  wait_for "$1 in the guest" test -s "$jobs/$1.status"
  same 0 "$(cat "$jobs/$1.status")" "how $1 ended in the guest: $(tail -n 3 "$jobs/$1.out")"
}

fault() { control fault "$1" | sed 's/ok //'; }
met() { [ "$(server_counter "fault_$1_$2")" -ge "${3:-1}" ]; }
