# shellcheck shell=bash disable=SC2154
# Which user may do what where the server alone decides: source it after lib.sh.
as_other() { setpriv --reuid $ordinary_user --regid $ordinary_user --clear-groups "$@"; }

# permit FILE BITS: an ACL (acl(5)) that gives $ordinary_user these rights; the group of the mode stands for its mask.
permit() {
  python3 - "$1" "$2" $ordinary_user <<'PY' || skip "no ACLs on $export"
import os, struct, sys
name, bits, user = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
OWNER, USER, GROUP, MASK, OTHER, NOBODY = 1, 2, 4, 16, 32, 0xffffffff
entries = [(OWNER, 7, NOBODY), (USER, bits, user), (GROUP, 0, NOBODY), (MASK, 7, NOBODY), (OTHER, 0, NOBODY)]
acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
os.setxattr(name, "system.posix_acl_access", acl)
PY
}

# export_for_some: files for root, and for $ordinary_user by an ACL.
export_for_some() {
  echo permitted >"$export/by_acl"
  chmod 600 "$export/by_acl"
  permit "$export/by_acl" 6
  as_other cat "$export/by_acl" >/dev/null || skip "the ACL has no effect here"
  mkdir "$export/roots" "$export/dir_by_acl"
  echo secret >"$export/roots/file"
  echo inside >"$export/dir_by_acl/file"
  chmod 644 "$export/roots/file" "$export/dir_by_acl/file"
  chmod 700 "$export/roots" "$export/dir_by_acl"
  permit "$export/dir_by_acl" 5
}

# decided_by_server: what only an ACL permits is permitted, and no user gets past a directory because the kernel remembers
# what is in it for another one.
decided_by_server() {
  same permitted "$(as_other cat "$mnt/by_acl")" "a file that an ACL opens"
  as_other sh -c "echo changed >'$mnt/by_acl'" || fail "writing what an ACL permits to write"
  same changed "$(cat "$export/by_acl")" "what was written"
  same inside "$(as_other cat "$mnt/dir_by_acl/file")" "a directory that an ACL opens"
  same file "$(as_other ls "$mnt/dir_by_acl")" "its names"
  refused "Permission denied" as_other sh -c "echo x >'$mnt/dir_by_acl/new'"

  # Root looks at everything first, and the kernel remembers what it can.
  exec 5<"$mnt/roots/file"
  same secret "$(cat <&5)" "root's file"
  ls -l "$mnt/roots" >/dev/null
  stat "$mnt/roots/file" "$mnt/roots" >/dev/null
  stat "$mnt/roots/missing" 2>/dev/null && fail "a name that is not there"
  refused "Permission denied" as_other stat "$mnt/roots/file"
  refused "Permission denied" as_other cat "$mnt/roots/file"
  refused "Permission denied" as_other stat "$mnt/roots/missing"
  refused "Permission denied" as_other ls "$mnt/roots"
  refused "can't cd" as_other sh -c "cd '$mnt/roots'"
  refused "Permission denied" as_other sh -c "echo x >'$mnt/roots/file'"
  refused "Permission denied" as_other truncate -s 0 "$mnt/roots/file"
  refused "Permission denied" as_other rm -f "$mnt/roots/file"
  refused "Permission denied" as_other mv "$mnt/roots/file" "$mnt/moved"
  refused "Permission denied" as_other ln "$mnt/roots/file" "$mnt/linked"
  refused "not permitted" as_other chmod 777 "$mnt/roots"
  exec 5<&-
}
