#!/usr/bin/env bash
# The code is formatted as .clang-format says. Repair: clang-format -i FILE
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-format >/dev/null || { echo "SKIP: no clang-format"; exit 77; }
git ls-files '*.cc' '*.h' | xargs -r clang-format --dry-run -Werror
