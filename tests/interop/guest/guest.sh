# Starts, uses and ends a guest: a virtual machine of Debian's kernel, emulated by QEMU. Sourced.
#
#   guest_start DIR PORT...   boots; PORT of the guest is then reached by guest_port PORT here
#   guest_use DIR             goes on with a guest that another script started
#   guest_run COMMAND...      runs a line of shell in the guest: its output and exit status
#   guest_stop                powers off
# DIR holds share/ (/share in the guest), console.log and what this file needs. Each function waits
# for a bounded time, and QEMU ends by itself after $guest_lifetime.

guest_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
guest_dir=
guest_boot_patience=180  # seconds, for a busy machine: it takes 5 on an idle one
guest_run_patience=120   # seconds, for one command; GUEST_PATIENCE overrides
guest_lifetime=${NFSRDMA_GUEST_SECONDS:-3600}
guest_memory=4096        # MiB
guest_attempts=3         # a port that was free may be taken when QEMU binds it

guest_free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# guest_port PORT: the port of this host that leads to PORT of the guest.
guest_port() { awk -v port="$1" '$1 == port { print $2 }' "$guest_dir/ports"; }

guest_use() { guest_dir=$1; }

# guest_alive: QEMU runs, and it is the one of this folder.
guest_alive() {
  local pid
  pid=$(cat "$guest_dir/qemu.pid" 2>/dev/null) || return 1
  grep -qzF "$guest_dir/" "/proc/$pid/cmdline" 2>/dev/null
}

guest_qemu() {
  local image=$1 forwards=
  shift
  : >"$guest_dir/ports"
  for port; do
    local here_port
    here_port=$(guest_free_port)
    echo "$port $here_port" >>"$guest_dir/ports"
    forwards+=",hostfwd=tcp:127.0.0.1:$here_port-:$port"
  done
  # In emulation the kernel need not defend itself against the processor, nor calibrate its clock.
  setsid timeout -k 5 $guest_lifetime qemu-system-x86_64 -nodefaults -no-reboot -display none \
    -machine pc,accel=tcg -cpu max -smp 2 -m $guest_memory \
    -kernel "$image/vmlinux" -initrd "$image/initramfs" \
    -append "console=ttyS0 loglevel=5 log_buf_len=16M panic=-1 mitigations=off nokaslr tsc=reliable" \
    -drive "file=$image/root.img,if=virtio,format=raw,snapshot=on,cache=unsafe" \
    -virtfs "local,path=$guest_dir/share,mount_tag=share,security_model=none,multidevs=remap" \
    -netdev "user,id=net$forwards" -device virtio-net-pci,netdev=net,romfile= \
    -chardev "pipe,id=commands,path=$guest_dir/commands" -device virtio-serial-pci \
    -device virtserialport,chardev=commands,name=commands \
    -device virtio-rng-pci -pidfile "$guest_dir/qemu.pid" \
    -serial "file:$guest_dir/console.log" </dev/null >"$guest_dir/qemu.log" 2>&1 &
  disown
}

guest_start() {
  local image status=0 attempt
  guest_dir=$1
  shift
  image=$("$guest_here/build") || return $?
  for attempt in $(seq $guest_attempts); do
    rm -rf "$guest_dir"
    mkdir -p "$guest_dir/share/commands"
    cp -r "$guest_here/inside" "$guest_dir/share/guest"
    mkfifo "$guest_dir/commands.in" "$guest_dir/commands.out"
    guest_qemu "$image" "$@"
    exec {guest_answers}<>"$guest_dir/commands.out"
    status=0
    guest_await ready $guest_boot_patience >/dev/null || status=$?
    exec {guest_answers}<&-
    [ $status -eq 0 ] && return 0
    grep -q "Could not set up host forwarding" "$guest_dir/qemu.log" || break
  done
  echo "the guest does not start:" >&2
  tail -n 20 "$guest_dir/qemu.log" "$guest_dir/console.log" >&2
  return 1
}

# guest_await NAME SECONDS: the status the guest answers for NAME.
guest_await() {
  local name status part answer= end=$((SECONDS + $2))
  while [ $SECONDS -lt $end ]; do
    if IFS= read -r -t 1 -u "$guest_answers" part; then
      read -r name status <<<"$answer$part"
      answer=
      [ "$name" = "$1" ] && { echo "$status"; return 0; }
    elif ! guest_alive && [ -f "$guest_dir/qemu.pid" -o $SECONDS -ge $((end - $2 + 5)) ]; then
      echo "the guest ended" >&2
      return 1
    else
      answer+=$part  # half a line, when the second ends in the middle of one: the rest follows
    fi
  done
  echo "the guest did not answer within $2 s" >&2
  return 1
}

guest_run() {
  local name status=0 file
  name=$(date +%s%N)-$BASHPID
  file=$guest_dir/share/commands/$name
  printf '%s\n' "$*" >"$file"
  guest_alive || { echo "no guest runs in $guest_dir" >&2; return 1; }
  exec {guest_answers}<>"$guest_dir/commands.out"
  echo "$name" >"$guest_dir/commands.in"
  status=$(guest_await "$name" "${GUEST_PATIENCE:-$guest_run_patience}") || status=1
  exec {guest_answers}<&-
  cat "$file.out"
  rm -f "$file" "$file.out"
  return "$status"
}

# guest_refused: how many RPCs knfsd has refused as malformed.
guest_refused() { guest_run "awk '\$1 == \"rpc\" { print \$3 }' /proc/net/rpc/nfsd"; }

# guest_note_refused BEFORE: those since there were BEFORE are what a test has sent on purpose.
guest_note_refused() { echo $(($(guest_refused) - $1)) >>"$guest_dir/refused-on-purpose"; }

guest_stop() {
  local pid
  guest_alive || return 0
  pid=$(cat "$guest_dir/qemu.pid")
  echo poweroff >"$guest_dir/commands.in"
  for _ in $(seq 200); do
    guest_alive || return 0
    sleep 0.1
  done
  echo "the guest does not power off" >&2
  kill "$pid"
  return 1
}

# What the guest's kernel must not have to say. The second is what is harmless and said all the same.
guest_log_bad='BUG|WARNING|Oops|Call Trace|general protection|segfault|lost|[Cc][Rr][Cc] error'
guest_log_bad+='|blocked for more than|Out of memory|siw: |svcrdma: |rpcrdma: |nfsd: |I/O error'
guest_log_bad+='|RPC: .*(fail|error)|NFSD: .*([Ff]ail|[Ee]rror|[Uu]nable)|(EXT4-fs|XFS).*([Ee]rror|[Cc]orrupt)'
guest_log_harmless='siw: (loading out-of-tree module|module verification failed)'

# guest_log_mark NAME: where guest_log_check NAME begins.
guest_log_mark() { guest_run "echo 'mark $1' >/dev/kmsg"; }

# guest_log_check NAME [CAUSED]: fails when the kernel has said something bad since the mark; lines
# that match CAUSED are the test's own doing.
guest_log_check() {
  local found
  found=$(guest_run dmesg) || return 1
  found=$(sed "1,/mark $1\$/d" <<<"$found" | grep -E "$guest_log_bad" |
    grep -vE "$guest_log_harmless${2:+|$2}") || return 0
  printf 'kernel log of the guest:\n%s\n' "$found" >&2
  return 1
}
