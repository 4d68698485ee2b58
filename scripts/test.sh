#!/bin/bash
# Builds everything and runs all tests; prints ctest's summary. Fails if a test fails.
# Environment: WHYLATE_SANITIZE=address,undefined, CXX, WHYLATE_BUILD_DIR.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=${WHYLATE_BUILD_DIR:-$root/build-test}
"$root/scripts/install_packages.sh" test
"$root/scripts/check_includes"
"$root/scripts/lint.sh" quick
cmake -S "$root" -B "$build" -G Ninja -DWHYLATE_SANITIZE="${WHYLATE_SANITIZE:-}"
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure --no-tests=error
