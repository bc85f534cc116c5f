#!/usr/bin/env bash
# What this file system does not have: a program gets an error that says so, or the general form that the kernel or the C
# library makes of READ and WRITE, and the file keeps its data.
. "$(dirname "$0")/lib.sh"
start_responder
mount_export

head -c 3000000 /dev/urandom >"$work/data"
cp "$work/data" "$mnt/f"
: >"$mnt/copy"
opened() { echo "os.open('$mnt/$1', os.O_RDWR)"; }
fallocate() { errno_of "libc.fallocate($(opened f), $1, ctypes.c_long(0), ctypes.c_long(4096))"; }

# Extended attributes, and with them ACLs. 95 is ENOTSUP and EOPNOTSUPP on Linux.
same ENOTSUP "$(errno_of "os.setxattr('$mnt/f', 'user.name', b'value')")" "setxattr"
same ENOTSUP "$(errno_of "os.getxattr('$mnt/f', 'user.name')")" "getxattr"
same ENOTSUP "$(errno_of "os.listxattr('$mnt/f')")" "listxattr"

# NFSv4.2's operations: ALLOCATE, DEALLOCATE, CLONE, SEEK.
same ENOTSUP "$(fallocate 0)" "fallocate"
same ENOTSUP "$(fallocate 3)" "fallocate with FALLOC_FL_PUNCH_HOLE"
ficlone=0x40049409
same ENOTSUP "$(errno_of "fcntl.ioctl($(opened copy), $ficlone, $(opened f))")" "FICLONE"
same "0 3000000" "$(python3 -c "import os
file = $(opened f)
print(os.lseek(file, 0, os.SEEK_DATA), os.lseek(file, 0, os.SEEK_HOLE))")" "the data, and the hole behind it"

same ENOTSUP "$(errno_of "os.open('$mnt', os.O_RDWR | os.O_TMPFILE)")" "O_TMPFILE"
cmp "$work/data" "$mnt/f"

# The C library writes a byte to each block instead.
same ok "$(errno_of "os.posix_fallocate($(opened f), 0, 4000000)")" "posix_fallocate"
same 4000000 "$(stat -c %s "$mnt/f")" "the size after posix_fallocate"
cmp -n 3000000 "$work/data" "$mnt/f"
cmp -n 3000000 "$work/data" "$export/f"
