#!/bin/bash
# Builds whylate and runs a short session: audio and video under none, burn and compile. As root on
# Debian 12, from a fresh checkout. Arguments, if any, replace that session's: scripts/run.sh -d 10s
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/install_packages.sh" build
cmake -S "$root" -B "$root/build" -G Ninja >&2
cmake --build "$root/build" --target whylate >&2

if (($# == 0)); then
  set -- --workload audio,video --load none,burn,compile --duration 3s
fi
status=0
"$root/build/userspace/whylate" run "$@" || status=$?
# 3: it ran, and says of some cell why it is not valid. That is a result too.
((status == 3)) && exit 0
exit "$status"
