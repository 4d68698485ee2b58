#!/bin/bash
# Style: clang-format and shellcheck; clang-tidy as well unless told "quick".
#   scripts/lint.sh [quick|all] [BUILD_DIR]      default: all, build
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
mapfile -t sources < <(find analysis userspace tests bpf -name '*.cc' -o -name '*.h' -o -name '*.c' | sort)
clang-format --dry-run --Werror "${sources[@]}"
shellcheck scripts/*.sh scripts/check_includes .ci/run
[[ "${1:-all}" == quick ]] && exit 0

mapfile -t units < <(find analysis userspace tests -name '*.cc' | sort)
printf '%s\n' "${units[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "${2:-build}"
