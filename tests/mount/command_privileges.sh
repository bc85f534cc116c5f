#!/usr/bin/env bash
# What an ordinary user lacks is said in so many words: the device, fusermount3, the right to write to
# the mount point, user_allow_other. Run as root, which takes each of them away in a private mount
# namespace.
. "$(dirname "$0")/lib.sh"
. "$here/command_lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to take privileges away"
unshare -m true 2>/dev/null || skip "no mount namespaces"
mknod "$work/device" c 10 229 2>/dev/null || skip "no device nodes in $work"
start_responder

# The user cannot reach the build folder of another user: copies.
chmod 755 "$work"
cp "$NFSRDMA_BIN/nfsrdma" "$work/nfsrdma"
chown $ordinary_user "$mnt"
echo '# nothing' >"$work/fuse.conf"

# as_user "preparation in the namespace" [nfsrdma argument...]
cat >"$work/as_user" <<'EOF'
#!/usr/bin/env bash
if [ -z "${prepared:-}" ]; then exec env prepared=yes unshare -m --propagation private "$0" "$@"; fi
set -e
eval "$1"
shift
exec setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all "$work/nfsrdma" "$@"
EOF
chmod 755 "$work/as_user"
export work user=$ordinary_user

chmod 600 "$work/device"
expect 1 "/dev/fuse: Permission denied" \
  "$work/as_user" 'mount --bind "$work/device" /dev/fuse' -o "port=$port" 127.0.0.1:/ "$mnt"
chmod 666 "$work/device"
device='mount --bind "$work/device" /dev/fuse'
expect 32 "fusermount3 is missing: install the package fuse3" \
  "$work/as_user" "$device; mount --bind /dev/null /usr/bin/fusermount3" -o "port=$port" 127.0.0.1:/ "$mnt"
expect 1 "user_allow_other in /etc/fuse.conf" \
  "$work/as_user" "$device; mount --bind \"\$work/fuse.conf\" /etc/fuse.conf" \
  -o "port=$port,allow_other" 127.0.0.1:/ "$mnt"
mkdir "$work/roots"
expect 1 "the mount point must be writable for this user" \
  "$work/as_user" "$device" -o "port=$port" 127.0.0.1:/ "$work/roots"
