#!/usr/bin/env bash
# cmake --install puts everything where it belongs, and uninstall takes all of it away again.
set -euo pipefail
: "${NFSRDMA_BUILD:=$(cd "$(dirname "$0")/../.." && pwd)/build/release}"
root=$(mktemp -d -t nfsrdma-install-XXXXXX)
trap 'rm -rf "$root"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
same() { [ "$1" = "$2" ] || fail "$3: '$2' instead of '$1'"; }

prefix=/usr/local
DESTDIR=$root cmake --install "$NFSRDMA_BUILD" --prefix $prefix >"$root.log" || { cat "$root.log"; exit 1; }
rm "$root.log"
usr=$root$prefix

grep -q '^nfsrdma ' <<<"$("$usr/bin/nfsrdma" --version)" || fail "the program does not run"
grep -q mountstats <<<"$("$usr/bin/nfsrdmactl" --help)" || fail "nfsrdmactl does not run"
grep -q listen <<<"$("$usr/bin/nfsrdma-exporter" --help)" || fail "nfsrdma-exporter does not run"
[ -s "$usr/share/nfsrdma/grafana-dashboard.json" ] && [ -s "$usr/lib/systemd/system/nfsrdma-exporter.service" ] || fail "no dashboard or unit"
grep -q export <<<"$("$usr/bin/nfsrdma-responder" --help)" || fail "the responder does not run"
grep -q SUBCOMMAND <<<"$("$usr/bin/nfsrdma-lab" --help)" || fail "the lab does not run"
[ -s "$(echo "$usr"/lib/*/wireshark/plugins/rpcrdma2.lua)" ] || fail "no dissector of version 2"
# As a helper the program knows what mount(8) calls it with.
for helper in mount.nfsrdma mount.fuse.nfsrdma; do
  same "$usr/bin/nfsrdma" "$(readlink -f "$usr/sbin/$helper")" "$helper"
  "$usr/sbin/$helper" 127.0.0.1:/ "$root" -f -o rw,port=1 || fail "$helper does not take a fake mount"
done
for page in 1/nfsrdma-lab 8/nfsrdma 8/mount.nfsrdma 8/mount.fuse.nfsrdma 8/nfsrdmactl 8/nfsrdma-exporter 8/nfsrdma-responder \
  7/nfsrdma-semantics 7/nfsrdma-messages 7/nfsrdma-from-nfs 7/nfsrdma-counters 7/nfsrdma-tracing \
  7/nfsrdma-security 7/nfsrdma-tuning 7/nfsrdma-containers; do
  grep -q '^\.TH NFSRDMA' <<<"$(gzip -dc "$usr/share/man/man${page%%/*}/${page#*/}.${page%%/*}.gz")" || fail "no page ${page#*/}(${page%%/*})"
done
for script in latency credit-waits registrations; do
  [ -s "$usr/share/nfsrdma/bpftrace/nfsrdma-$script.bt" ] || fail "no $script.bt"
done
for unit in system user; do
  [ -s "$usr/lib/systemd/$unit/nfsrdma@.service" ] || fail "no unit for $unit"
done
if command -v systemd-analyze >/dev/null; then
  for unit in system user; do
    # The unit names the program where packages have it.
    sed "s,/usr/bin/nfsrdma,$usr/bin/nfsrdma," "$usr/lib/systemd/$unit/nfsrdma@.service" >"$root/nfsrdma@x.service"
    said=$(systemd-analyze verify --man=no "$root/nfsrdma@x.service" 2>&1 | grep nfsrdma@x || true)
    same "" "$said" "what systemd says of the $unit unit"
  done
fi

# complete_line PROGRAM WORD...: what completion offers for the last word of the command line.
complete_line() {
  PATH=$usr/bin:$PATH bash -c '
    . "$1/share/bash-completion/completions/$2"
    compopt() { :; }
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
    "_$1"
    printf "%s\n" "${COMPREPLY[@]}"' _ "$usr" "$@" | sort | tr '\n' ' '
}
same "rsize= " "$(complete_line nfsrdma -o rsi)" "completion of an option"
same "proto=rdma proto=rdma6 proto=tcp proto=tcp6 " "$(complete_line nfsrdma -o prot)" "completion of values"
same "ro,acregmax= ro,acregmin= " "$(complete_line nfsrdma -o ro,acreg)" "completion of a second option"
same "--verbose --version " "$(complete_line nfsrdma --ver)" "completion of a letter's long form"
same "list log " "$(complete_line nfsrdmactl l)" "completion of a subcommand"
same "--json " "$(complete_line nfsrdmactl stat --j)" "completion of an option of nfsrdmactl"
same "debug " "$(complete_line nfsrdmactl log d)" "completion of a level"
# Every option that help lists is offered.
offered=$(complete_line nfsrdma -o "")
for word in $("$usr/bin/nfsrdma" --help | sed -n '/^Options/,/^Refused/s/^  \([a-z][a-z0-9_.]*\)\([= [].*\)*$/\1/p'); do
  [[ " $offered" =~ \ ${word//./\\.}(=[^ ]*)?\  ]] || fail "completion does not offer $word"
done

DESTDIR=$root cmake --build "$NFSRDMA_BUILD" --target uninstall >/dev/null
left=$(cd "$root" && find . ! -type d | grep -v nfsrdma@x.service || true)
same "" "$left" "what uninstall leaves"
[ ! -e "$usr/share/doc/nfsrdma" ] && [ ! -e "$usr/share/nfsrdma" ] || fail "uninstall leaves a folder"
