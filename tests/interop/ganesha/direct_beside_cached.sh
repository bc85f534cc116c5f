#!/usr/bin/env bash
# O_DIRECT writes that run side by side beside cached readers, on NFS-Ganesha: tests/mount/direct_beside_cached.sh.
. "$(dirname "$0")/../../mount/lib.sh"
. "$here/../interop/ganesha/server.sh"
need_ganesha vfs
start_ganesha vfs
mount_export
. "$here/direct_beside_cached_lib.sh"
