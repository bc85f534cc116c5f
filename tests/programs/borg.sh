#!/usr/bin/env bash
# borg: a repository on the mount takes two backups, one of them from another mount, loses none, checks its data, and gives them back.
. "$(dirname "$0")/lib.sh"
needs borgbackup borg
start_responder
second=$work/second
mount_export
mount_export "" "$second"
export BORG_BASE_DIR=$work/borg BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes BORG_RELOCATED_REPO_ACCESS_IS_OK=yes
mkdir -p tree/below
for i in $(seq 50); do head -c $((i * 1031)) /dev/urandom >tree/below/file$i; done
borg init -e none "$mnt/repository"
borg create "$mnt/repository::first" tree
head -c 2000000 /dev/urandom >tree/large
borg create "$second/repository::second" tree
same "first second" "$(borg list --short "$mnt/repository" | paste -sd' ')" "archives"
borg check --verify-data "$mnt/repository"
mkdir back
(cd back && borg extract "$mnt/repository::second")
diff -r tree back/tree
borg delete "$mnt/repository::first"
borg compact "$mnt/repository"
borg check "$second/repository"
