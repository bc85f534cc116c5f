# NFS-Ganesha as a real NFSv4.1 server over TCP, on a private port of loopback. Sourced on top of
# tests/mount/lib.sh. Gives:
#
#   need_ganesha           skips the test, and says why, where Ganesha cannot run
#   start_ganesha BACKEND  vfs serves $export, mem serves memory; as /export; sets $port
#   stop_ganesha, kill_ganesha
#   ganesha_log            what it has logged as warnings and worse since ganesha_log_mark
#
# Ganesha needs root. It uses no rpcbind, and nothing outside $work.
# Environment: NFSRDMA_GANESHA  trixie or trixie-backports: the one of that suite (see tree) instead of this machine's

ganesha_tree=
ganesha=(/usr/bin/ganesha.nfsd)
ganesha_plugins=$(ls -d /usr/lib/*/ganesha 2>/dev/null | head -n 1 || true)
# Of another release: by its own dynamic linker, with its own libraries.
use_ganesha_of() {
  local status=0 libraries
  ganesha_tree=$("$here/../interop/ganesha/tree" "$1") || status=$?
  [ $status -eq 0 ] || skip "no NFS-Ganesha of $1"
  libraries=$(echo "$ganesha_tree"/usr/lib/*-linux-gnu)
  ganesha=("$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$ganesha_tree/usr/lib/ganesha" "$ganesha_tree/usr/bin/ganesha.nfsd")
  ganesha_plugins=$libraries/ganesha
}
ganesha_pid=
ganesha_lease=10  # seconds
ganesha_grace=5   # seconds
ganesha_owners="Only_Numeric_Owners = true;"
ganesha_export=  # more of the block EXPORT
ganesha_fsal=    # and of its FSAL
ganesha_mem_file=2097152  # bytes of a file that the back end mem keeps, at most

need_ganesha() {
  [ "$(id -u)" -eq 0 ] || skip "NFS-Ganesha needs root"
  [ -z "${NFSRDMA_GANESHA:-}" ] || use_ganesha_of "$NFSRDMA_GANESHA"
  [ -x "${ganesha[0]}" ] || skip "NFS-Ganesha is not installed (Debian: nfs-ganesha nfs-ganesha-$1)"
  [ -e "$ganesha_plugins/libfsal$1.so" ] || skip "no back end $1 (Debian: nfs-ganesha-$1)"
}

free_port() {
  python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

ganesha_config() {
  local path=/mem
  case $1 in
  vfs) path=$export ;;
  gluster) path=/ ;;
  esac
  cat <<EOF
NFS_CORE_PARAM {
  NFS_Port = $port; Bind_addr = 127.0.0.1; Protocols = 4; Plugins_Dir = "$ganesha_plugins";
  Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = false; Allow_Set_Io_Flusher_Fail = true;
}
NFSV4 {
  Minor_Versions = 1; Lease_Lifetime = $ganesha_lease; Grace_Period = $ganesha_grace;
  RecoveryBackend = fs_ng; RecoveryRoot = "$work/recovery"; $ganesha_owners
}
NFS_KRB5 { Active_krb5 = false; }
LOG {
  Default_Log_Level = WARN;
  Facility { name = FILE; destination = "$work/ganesha.log"; enable = active; }
}
MEM { Inode_Size = $ganesha_mem_file; }
EXPORT {
  Export_Id = 1; Path = "$path"; Pseudo = /export; Protocols = 4; Transports = TCP; SecType = sys, none;
  Access_Type = RW; Squash = No_Root_Squash; MaxRead = 1048576; MaxWrite = 1048576; $ganesha_export
  FSAL { Name = ${1^^}; $ganesha_fsal }
}
EOF
}

port_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

start_ganesha() {
  mkdir -p "$work/recovery"
  [ -n "${port:-}" ] || port=$(free_port)
  ganesha_config "$1" >"$work/ganesha.conf"
  "${ganesha[@]}" -F -f "$work/ganesha.conf" -L "$work/ganesha.log" -p "$work/ganesha.pid" \
    >"$work/ganesha.out" 2>&1 </dev/null 5<&- 6<&- &  # nor what the script has open on a mount
  ganesha_pid=$!
  for _ in $(seq $patience); do
    if port_answers; then return 0; fi
    kill -0 $ganesha_pid 2>/dev/null || fail "ganesha ended: $(tail -n 3 "$work/ganesha.log")"
    sleep $between_looks
  done
  fail "ganesha does not listen"
}

end_ganesha() {
  [ -n "$ganesha_pid" ] || return 0
  kill "$1" "$ganesha_pid" 2>/dev/null || true
  for _ in $(seq $patience); do
    kill -0 "$ganesha_pid" 2>/dev/null || break
    sleep $between_looks
  done
  kill -KILL "$ganesha_pid" 2>/dev/null || true
  wait "$ganesha_pid" 2>/dev/null || true
  ganesha_pid=
}
stop_ganesha() { end_ganesha -TERM; }
kill_ganesha() { end_ganesha -KILL; }

# What it says while it starts and ends is about D-Bus, rpcbind and Kerberos, which are not there.
ganesha_log_mark() { ganesha_logged=$(wc -l <"$work/ganesha.log"); }
ganesha_log() {
  tail -n +$((ganesha_logged + 1)) "$work/ganesha.log" | grep -E ':(WARN|CRIT|MAJ|FATAL) :' || true
}

# Mounts go before the server, which lib.sh knows nothing of.
finish_ganesha() {
  local status=$?
  trap - EXIT
  end_mounts || status=1
  stop_ganesha
  clean_up $status
}
trap finish_ganesha EXIT

NFSRDMA_PROTO=tcp
exported=/export
