# Shared by the cells of the interop matrix: source it first. On top of tests/mount/lib.sh:
#
#   use_knfsd TRANSPORT PATH   mounts go to PATH of the guest's knfsd, over siw or tcp
#   caused REGEX               kernel messages of the guest that the cell provokes itself
#   many_at_server PATH ENTRIES   the big directory of workload.sh
#   use_guest, into_guest, run_in_guest   for what runs in the guest itself
#   mount_second PATH, unmount_second   the guest's kernel is a client of its knfsd, too, on $second
#   renew_guest                the cells behind this one get a guest of their own
# and guest_run. The cell fails when the guest's kernel has complained meanwhile.
#
# Environment: NFSRDMA_INTEROP  folder of the running guest (default: build/interop)

interop=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$interop/../mount/lib.sh"
. "$interop/guest/guest.sh"
state=${NFSRDMA_INTEROP:-$interop/../../build/interop}
guest_watched=
guest_caused=
second=/mnt/second
second_mounted=

finish_cell() {
  local status=$?
  trap - EXIT
  end_mounts || status=1
  # One that stays is a client of knfsd in the cells behind this one, and what their kernel mounts through a proxy joins it.
  [ -z "$second_mounted" ] || unmount_second || status=1
  if [ -n "$guest_watched" ]; then
    guest_log_check "$guest_watched" "$guest_caused" || status=1
  fi
  clean_up $status
}
trap finish_cell EXIT

caused() { guest_caused+="${guest_caused:+|}$1"; }

# use_guest: the running guest, for cells that need no mount from here.
use_guest() {
  [ ! -s "$state/unavailable" ] || skip "no guest: $(tail -n 1 "$state/unavailable")"
  guest_use "$state/guest"
  guest_alive || skip "no guest runs; tests/interop/matrix starts one"
  guest_dir=$(cd "$guest_dir" && pwd)
  guest_watched=cell-$$
  guest_log_mark "$guest_watched"
}

use_knfsd() {
  use_guest
  # Leftovers of a cell that failed are not this one's.
  [ "$2" = / ] || guest_run "find /export$2 -mindepth 1 ! -name lost+found ! -path '/export$2/many' ! -path '/export$2/many/*' -delete"
  exported=$2
  case $1 in
  siw) port=$(guest_port 20049) standing=nocrc ;;  # siw misjudges CRCs; crc.sh is about that
  tcp) port=$(guest_port 2049); NFSRDMA_PROTO=tcp ;;
  *) fail "transport $1" ;;
  esac
}

mount_second() {
  guest_run "modprobe nfsv4; mkdir -p $second; mount -t nfs -o vers=4.1,proto=tcp,noac 127.0.0.1:$1 $second"
  second_mounted=yes
}
unmount_second() {
  second_mounted=
  guest_run "umount $second"
}

# renew_guest: looks at the kernel's log for the last time, then ends the guest and boots another, for a cell
# that knfsd does not get over.
renew_guest() {
  unmount_export
  guest_log_check "$guest_watched" "$guest_caused" || fail "the guest's kernel has complained"
  guest_watched=
  "$interop/guest/start"
}

# many_at_server PATH ENTRIES: a directory PATH/many of that many entries, made in the guest and kept
# there: creating them through an emulated server would take minutes in each cell.
many_at_server() {
  GUEST_PATIENCE=300 guest_run "cd /export$1; [ -e many/$2 ] || { rm -rf many; mkdir many; cd many;
    seq -f 'made-at-the-server-with-a-long-name-%.0f' $(($2 - 1)) | xargs touch; touch $2; }"
}

# into_guest PROGRAM...: copies programs of $NFSRDMA_BIN, with the libraries that the guest lacks;
# they are then run_in_guest PROGRAM ARGUMENT...
into_guest() {
  local there=$guest_dir/share/programs program library missing
  mkdir -p "$there/lib"
  for program; do
    [ -x "$NFSRDMA_BIN/$program" ] || skip "no $NFSRDMA_BIN/$program"
    cp "$NFSRDMA_BIN/$program" "$there/"
    # What a library needs is known when it is there itself.
    while missing=$(guest_run "LD_LIBRARY_PATH=/share/programs/lib ldd /share/programs/$program" |
      awk '/not found/ { print $1 }') && [ -n "$missing" ]; do
      for library in $missing; do
        cp -L "$(ldd "$NFSRDMA_BIN/$program" | awk -v name="$library" '$1 == name { print $3 }')" \
          "$there/lib/"
      done
    done
  done
}
run_in_guest() {
  local program=$1
  shift
  guest_run "LD_LIBRARY_PATH=/share/programs/lib /share/programs/$program $*"
}
