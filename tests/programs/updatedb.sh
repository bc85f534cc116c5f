#!/usr/bin/env bash
# updatedb of plocate indexes the mount, unless PRUNEFS has fuse.nfsrdma, as nfsrdma-from-nfs(7) says.
. "$(dirname "$0")/lib.sh"
needs plocate updatedb.plocate plocate
mkdir "$export/below"
: >"$export/below/needle"
start_responder
mkdir "$work/root"
mount_export "" "$work/root/mnt"
# index OPTION...: what is found of the mount.
index() {
  updatedb.plocate -l 0 -U "$work/root" -o "$work/db" --prunepaths "" "$@"
  plocate -d "$work/db" needle || true
}
same "$work/root/mnt/below/needle" "$(index --prunefs "nfs4")" "the index without it"
same "" "$(index --prunefs "nfs4 fuse.nfsrdma")" "the index with it"
