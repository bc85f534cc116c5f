#!/usr/bin/env bash
# What every cell of the matrix does on its mount: workload.sh DIR REFERENCE_DIR
# A tree goes in and comes back; both are compared. DIR and REFERENCE_DIR are empty.
set -euo pipefail
dir=$1 reference=$2
head -c 20000000 /dev/urandom >"$reference/large"
cp "$reference/large" "$dir/large"
cp -a "$(dirname "$0")/.." "$reference/tree"
cp -a "$reference/tree" "$dir/tree"
diff -r --no-dereference "$reference" "$dir"
