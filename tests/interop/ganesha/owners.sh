#!/usr/bin/env bash
# NFS-Ganesha sends owners as user@domain and takes no numbers (RFC 8881 section 5.9): they are seen
# right at the first look, chown works, another domain's are nobody's. And new files have the times of
# their creation, though Ganesha keeps the verifier of an exclusive create there.
. "$(dirname "$0")/../../mount/lib.sh"
. "$here/../interop/ganesha/server.sh"
need_ganesha vfs
ganesha_owners="Only_Numeric_Owners = false; Allow_Numeric_Owners = false; UseGetpwnam = true; DomainName = interop.example;"
start_ganesha vfs
touch "$export/of-bin" "$export/of-nobody-known" "$export/given"
echo secret >"$export/of-bin"
chmod 600 "$export/of-bin"
chown bin:games "$export/of-bin"
chown 424242:424242 "$export/of-nobody-known"

mount_export domain=interop.example
same secret "$(cat "$mnt/of-bin")" "its content"
same "bin games" "$(stat -c '%U %G' "$mnt/of-bin")" "an owner by name"
same "root root" "$(stat -c '%U %G' "$mnt/given")" "root by name"
same "65534" "$(stat -c %u "$mnt/of-nobody-known")" "an owner without a name"
chown bin:games "$mnt/given"
same "bin games" "$(stat -c '%U %G' "$export/given")" "chown at the server"
same "bin games" "$(stat -c '%U %G' "$mnt/given")" "chown here"
refused "Invalid argument" chown 434343 "$mnt/given"
same "bin" "$(stat -c %U "$mnt/given")" "after a chown that was refused"
# Who owns a file may use it at once: the kernel judges by the owner it was told.
chmod 755 "$work"
mount_export "domain=interop.example,allow_other" "$work/second"
same secret "$(setpriv --reuid=bin --regid=games --clear-groups cat "$work/second/of-bin")" "the owner reads"
unmount_export

mount_export domain=other.example
same "65534 65534" "$(stat -c '%u %g' "$mnt/of-bin")" "an owner of another domain"
mkdir "$mnt/times"
python3 "$here/created_times.py" "$mnt/times"
same "$(stat -c '%X %Y' "$export/times/exclusive")" "$(stat -c '%X %Y' "$mnt/times/exclusive")" "times at the server"
unmount_export
