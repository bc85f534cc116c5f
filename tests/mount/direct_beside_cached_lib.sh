# Sourced by direct_beside_cached.sh, here and for NFS-Ganesha, when there is a mount.
for writer in ${NFSRDMA_WRITERS:-libaio io_uring threads}; do
  status=0
  timeout "${NFSRDMA_PATIENCE:-40}" "$NFSRDMA_BIN/nfsrdma-direct-beside-cached" "$writer" \
    "${NFSRDMA_ROUNDS:-150}" "$mnt/$writer" || status=$?
  # 77: the kernel has no io_uring for this user.
  [ $status -eq 0 ] || [ $status -eq 77 ] || fail "$writer: status $status"
done
