#!/bin/bash
# Formats every source file in place.
set -euo pipefail
cd "$(dirname "$0")/.."
find analysis userspace tests bpf \( -name '*.cc' -o -name '*.h' -o -name '*.c' \) -print0 |
  xargs -0 clang-format -i
