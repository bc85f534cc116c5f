# Shared by the scripts of this folder, each of which is one test of a real program: source it first. tests/mount/lib.sh, and:
#
#   needs PACKAGE PROGRAM...  skips the test, with the name of the Debian package, where a program is missing
#   "${as_other[@]}" command...   as the ordinary user, for services that refuse to be root's; mount with allow_other then
#   start_service NAME command...  in the background; what it says goes to NAME.log, and it is ended with the test
#   end_service NAME [SIGNAL]      and waits for its end
# shellcheck shell=bash
programs_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$programs_folder/../mount/lib.sh"
export HOME=$work LC_ALL=C.UTF-8 TMPDIR=$work

needs() {
  local package=$1 each
  shift
  for each in "$@"; do command -v "$each" >/dev/null || skip "no $each (Debian package $package)"; done
}

# No function: in the background that would be a shell, whose process id is not the service's.
as_other=(setpriv --reuid $ordinary_user --regid $ordinary_user --clear-groups)

declare -A services=()
start_service() {
  local name=$1
  shift
  "$@" >"$work/$name.log" 2>&1 &
  services[$name]=$!
}
end_service() {
  local pid=${services[$1]}
  unset "services[$1]"
  kill "-${2:-TERM}" "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
}
end_services() {
  local name
  for name in "${!services[@]}"; do end_service "$name" KILL; done
}
trap 'status=$?; end_services; clean_up $status' EXIT
