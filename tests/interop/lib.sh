# Shared by the cells of the interop matrix: source it first. On top of tests/mount/lib.sh:
#
#   use_knfsd TRANSPORT PATH   mounts go to PATH of the guest's knfsd, over siw or tcp
#   caused REGEX               kernel messages of the guest that the cell provokes itself
# and guest_run. The cell fails when the guest's kernel has complained meanwhile.
#
# Environment: NFSRDMA_INTEROP  folder of the running guest (default: build/interop)

. "$(dirname "${BASH_SOURCE[0]}")/../mount/lib.sh"
interop=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$interop/guest/guest.sh"
state=${NFSRDMA_INTEROP:-$interop/../../build/interop}
guest_watched=
guest_caused=

finish_cell() {
  local status=$?
  trap - EXIT
  for i in "${!mount_points[@]}"; do
    end_mount "$i" || status=1
  done
  if [ -n "$guest_watched" ]; then
    guest_log_check "$guest_watched" "$guest_caused" || status=1
  fi
  clean_up $status
}
trap finish_cell EXIT

caused() { guest_caused+="${guest_caused:+|}$1"; }

use_knfsd() {
  [ ! -s "$state/unavailable" ] || skip "no guest: $(tail -n 1 "$state/unavailable")"
  guest_use "$state/guest"
  guest_alive || skip "no guest runs; tests/interop/matrix starts one"
  guest_dir=$(cd "$guest_dir" && pwd)
  guest_watched=cell-$$
  guest_log_mark "$guest_watched"
  # Leftovers of a cell that failed are not this one's.
  [ "$2" = / ] || guest_run "find /export$2 -mindepth 1 ! -name lost+found -delete"
  exported=$2
  case $1 in
  siw) port=$(guest_port 20049) standing=nocrc ;;  # siw misjudges CRCs; crc.sh is about that
  tcp) port=$(guest_port 2049); NFSRDMA_PROTO=tcp ;;
  *) fail "transport $1" ;;
  esac
}
