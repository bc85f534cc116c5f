#!/usr/bin/env bash
# Delegations that NFS-Ganesha 9 grants on the back end GLUSTER (VFS and MEM know none): one for reading is recalled
# when another client writes, and what is written under one for writing is there, whatever size the server shows.
# GlusterFS and Ganesha run in namespaces of their own, on a copy of their tree that goes with the test.
if [ -z "${NFSRDMA_NAMESPACE:-}" ]; then
  # Packages come before: there they cannot be reached.
  [ "${NFSRDMA_GANESHA:-}" != trixie-backports ] || "$(dirname "$0")/tree" trixie-backports gluster >/dev/null || exit
  NFSRDMA_NAMESPACE=1 exec unshare --net --mount --pid --fork --mount-proc bash "$0"
fi
. "$(dirname "$0")/../../mount/lib.sh"
. "$here/../interop/ganesha/server.sh"
[ "$(id -u)" -eq 0 ] || skip "NFS-Ganesha needs root"
[ "${NFSRDMA_GANESHA:-}" = trixie-backports ] || skip "NFSRDMA_GANESHA is not trixie-backports"
status=0
tree=$("$here/../interop/ganesha/tree" "$NFSRDMA_GANESHA" gluster) || status=$?
[ $status -eq 0 ] || skip "no NFS-Ganesha with GlusterFS"

# The tree as it is, and what is written to it in $work; $work is where it is outside, too.
root=$work/root
mkdir "$root" "$work/upper" "$work/overlay"
mount -t overlay -o "lowerdir=$tree,upperdir=$work/upper,workdir=$work/overlay" tree "$root" || skip "no overlayfs here"
mkdir -p "$root$work" "$root"/var/{lib/glusterd,log/glusterfs,run/gluster} "$root/brick"
finish_gluster() {
  local status=$?
  trap - EXIT
  end_mounts || status=1
  stop_ganesha
  umount -R -l "$root"
  clean_up $status
}
trap finish_gluster EXIT
mount --bind "$work" "$root$work"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
cp /etc/passwd /etc/group "$root/etc/"
echo "127.0.0.1 localhost gluster.test" >"$root/etc/hosts"
ip link set lo up
ip address add 192.0.2.1/32 dev lo  # with 127.0.0.1 alone Ganesha's look-up of addresses (AI_ADDRCONFIG) finds none
export PATH=$PATH:/usr/sbin:/sbin

gluster() { chroot "$root" gluster --mode=script "$@" >>"$work/gluster.log" 2>&1; }
rm "$root"/usr/lib/*/glusterfs/gsyncd  # glusterd's first start would take a minute or more for it
chroot "$root" glusterd -p /run/glusterd.pid -l "$work/glusterd.log"
wait_for "glusterd" gluster volume list
gluster volume create served gluster.test:/brick force || fail "no volume"
gluster volume set served features.leases on || fail "no leases"
gluster volume start served || fail "the volume does not start"

ganesha=(chroot "$root" /usr/bin/ganesha.nfsd)
ganesha_plugins=/usr/lib/x86_64-linux-gnu/ganesha
ganesha_owners="Only_Numeric_Owners = true; Delegations = true;"
ganesha_export="Delegations = readwrite;"
ganesha_fsal='Hostname = "gluster.test"; Volume = "served";'
start_ganesha gluster
mount_export
for name in read written turns; do echo one >"$mnt/$name"; done
unmount_export
mount_points=() mount_pids=()
mount_export actimeo=0
mount_export actimeo=0 "$work/second"

same one "$(cat "$mnt/read")" "a file"
same 1 "$(counter delegations_granted)" "delegations for reading"
echo two >>"$work/second/read"
same 1 "$(counter delegations_recalled)" "delegations that were recalled"
same "one two" "$(paste -sd' ' "$mnt/read")" "what another client has added"

granted=$(counter delegations_granted)
stat -c %s "$work/second/written" >/dev/null
exec 6<>"$mnt/written"
[ "$(counter delegations_granted)" -gt "$granted" ] || fail "no delegation for writing"
printf 'ONE\nmore\n' >&6
same 9 "$(stat -c %s "$mnt/written")" "the size of what was written under it"
same 9 "$(stat -c %s "$work/second/written")" "and that another client is told"
printf 'and more\n' >&6
same 18 "$(stat -c %s "$mnt/written")" "the size after another client has asked for it"
exec 6>&-
for i in 1 2 3; do echo "$i" >>"$mnt/turns"; done
same "one 1 2 3" "$(paste -sd' ' "$mnt/turns")" "what was appended under a delegation for writing"
unmount_export "$work/second"
unmount_export
same 18 "$(stat -c %s "$root/brick/written")" "the size at the server"
same "one 1 2 3" "$(paste -sd' ' "$root/brick/turns")" "what was appended, at the server"
