#!/usr/bin/env bash
# The stressors of stress-ng that work on files, one after another on one mount, with their own checks: some of them for a
# second each, with NFSRDMA_FULL_SIZE all, two of each at a time, for eight. When they are done no file
# and no open is left.
. "$(dirname "$0")/lib.sh"
command -v stress-ng >/dev/null || skip "no stress-ng"
start_responder
mount_export

stressors=(aio chown dentry dirdeep fallocate filename flock fpunch getdent hdd iomix lease lockf mmap open rename seek
  splice symlink utime)
for_each=(1 --timeout 1)
if [ -n "${NFSRDMA_FULL_SIZE:-}" ]; then
  stressors+=(access aiol chdir chmod copy-file dir dirmany dup fcntl fiemap file-ioctl fsize fstat handle inode-flags
    inotify io-uring link locka lockofd mknod msync null readahead revio sendfile sync-file touch vm-splice xattr)
  for_each=(2 --timeout 8)
fi

# stress NAME FOLDER: whether that stressor finds nothing wrong. Statuses 3 and 4 say that this machine cannot run it (no
# privilege, no such call).
stress() {
  local status=0
  timeout -k 5 120 stress-ng --temp-path "$2" --verify --oom-avoid --"$1" "${for_each[@]}" >"$work/stress.out" 2>&1 ||
    status=$?
  case $status in
  0) ran=$((ran + 1)) ;;
  3 | 4) echo "$1 cannot run here" ;;
  *) return 1 ;;
  esac
}

ran=0
mkdir "$work/local"
for name in "${stressors[@]}"; do
  stress "$name" "$mnt" && continue
  cp "$work/stress.out" "$work/on_the_mount.out"
  # What goes wrong without us is not our fault: some misjudge newer kernels.
  stress "$name" "$work/local" && { cat "$work/on_the_mount.out" >&2; fail "$name finds fault"; }
  echo "$name finds fault with the local file system, too"
done
echo "$ran of ${#stressors[@]} stressors ran"
[ "$ran" -gt $((${#stressors[@]} * 3 / 4)) ] || fail "most stressors have to run"

wait_for "files that are gone are closed" eval '[ "$(counter fs_open_files)" -eq 0 ]'
# The kernel may send RMDIR before the RELEASE of what was open in the folder and has its silly name: then an empty folder stays.
left=$(find "$export" -mindepth 1 ! \( -type d -empty \))
[ -z "$left" ] || fail "left at the server: $left"
find "$mnt" -mindepth 1 -type d -delete
