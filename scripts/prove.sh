#!/bin/bash
# The long proofs: every disturbance provoked again and again, and named right each time, here and on
# other kernels; by both sources alike; burn named under burn; and nothing left of a program that is killed.
#
#   scripts/prove.sh [BUILD_DIR [RUNS [SECONDS]]]      default: build-test, 20 runs of 10 s
#
# As root, on a machine with two CPUs or more and nothing else to do. Prints what went wrong, and
# a table; fails if anything did. About 75 minutes by default.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
readonly BUILD=${1:-$root/build-test}
readonly RUNS=${2:-20}
readonly SECONDS_EACH=${3:-10}
readonly TESTS=$BUILD/tests/whylate_integration_tests
WHYLATE=$BUILD/userspace/whylate
# From the start of a run: while it calibrates, while its processes start, when the trace does,
# while the load settles, in the cell, and as the cell ends.
readonly KILL_AFTER=(0.05 0.3 0.7 1.2 2.2 3.4)
readonly PATIENCE=5

((EUID == 0)) || {
  echo "prove.sh: needs root" >&2
  exit 1
}
# Instances of ftrace are looked for where it is mounted.
# shellcheck disable=SC2016  # the inner shell expands
[[ -e /sys/kernel/tracing/trace ]] || exec unshare --mount bash -c '
  mount -t tracefs tracefs /sys/kernel/tracing && exec "$0" "$@"' "$0" "$@"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

build() {
  cmake -S "$root" -B "$BUILD" -G Ninja >&2
  cmake --build "$BUILD" --target whylate_integration_tests whylate >&2
}

# tests FILTER: in a session of its own, which the scheduler's autogroups set above all others, so
# that what else runs on the machine disturbs little. Inside it nothing changes.
tests() {
  local log=$work/$1.log
  # shellcheck disable=SC2016  # the inner shell expands
  WHYLATE_EXACT=1 WHYLATE_RUNS=$RUNS WHYLATE_SECONDS=$SECONDS_EACH setsid -w bash -c '
    echo -19 2>/dev/null >/proc/self/autogroup || true
    exec "$0" --gtest_filter="$1.*"' "$TESTS" "$1" >"$log" 2>&1 || {
    failed=1
    grep -vE '^(\[|ground-truth |invariants |Note|Running)' "$log" || true
    grep -E '^\[  FAILED' "$log" | sort -u || true
  }
  if grep -E '^\[  SKIPPED' "$log"; then failed=1; fi
}

# Every cause of the ground truth, by the program itself. In the caller's session: a task under a CPU quota
# leaves its autogroup, and is to stand beside the others as ever.
selftest() {
  "$WHYLATE" selftest --quiet --runs "$RUNS" --seconds "$SECONDS_EACH" --workdir "$BUILD" || failed=1
}

# On other kernels, of 8 CPUs behind two caches, and under cgroup version 2. What needs two busy CPUs needs
# a clock that stands while one of them is emulated: not 6.1's. Left out is what needs a disk, thousands of
# files, or more than an emulated CPU can do: floods of packets and messages, a split to the microsecond.
kernels() {
  local -x WHYLATE_QEMU_CPUS=8 WHYLATE_QEMU_SHIFT=3 WHYLATE_QEMU_SECONDS=900
  local play="$WHYLATE selftest --quiet --seconds 2s --scenario"
  "$root/scripts/qemu_kernels.sh" "$play quota_idle" || failed=1
  WHYLATE_QEMU_KERNELS=linux-image-6.12-cloud-amd64 "$root/scripts/qemu_kernels.sh" \
    "$play hog_pinned,hog_free,burn_pinned,widened_mask,placement,rt_bandwidth,quota_idle" \
    "$play lock_holder_delayed,lock_until,stopped,frozen,overload,chain,nothing,predict_remove" || failed=1
}

# What of the kernel a killed program might leave, one line each.
kernel_objects() {
  # What is looked at may vanish meanwhile.
  local -
  set +e +o pipefail
  local kind
  for kind in prog map link; do
    bpftool "$kind" list | sed -nE "s/^([0-9]+):.*/$kind \1/p"
  done
  find /sys/kernel/tracing/instances -mindepth 1 -maxdepth 1 2>/dev/null | sed 's/^/instance /'
  find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$WHYLATE" 2>/dev/null |
    sed 's/^/process /'
}

# kill_after SECONDS: what is new and still there, PATIENCE seconds after SIGKILL.
kill_after() {
  local victim loaded deadline
  kernel_objects | sort >"$work/before"
  "$WHYLATE" run -W video -w burn -d 2s -o "$work/killed-$1" >/dev/null 2>&1 &
  victim=$!
  sleep "$1"
  loaded=$(kernel_objects | sort | comm -13 "$work/before" - | grep -vc '^process' || true)
  kill -KILL "$victim" 2>/dev/null || true
  wait "$victim" 2>/dev/null || true
  deadline=$((SECONDS + PATIENCE))
  while kernel_objects | sort | comm -13 "$work/before" - >"$work/left" && [[ -s $work/left ]]; do
    ((SECONDS >= deadline)) && break
    sleep 0.2
  done
  printf '%-14s %14s %6s\n' "$1" "$loaded" "$(wc -l <"$work/left")"
  if [[ -s $work/left ]]; then
    failed=1
    sed 's/^/  left: /' "$work/left"
  fi
}

build
WHYLATE=$(realpath "$WHYLATE")
echo "kernel $(uname -r), $(nproc) CPUs; $RUNS runs of $SECONDS_EACH s"
selftest
echo
tests GroundTruthTest
sed -n -e 's/^ground-truth //p' -e '/^burn had/p' "$work/GroundTruthTest.log"
echo
tests SourcesAgreeTest
sed -n 's/^sources-agree //p' "$work/SourcesAgreeTest.log"
echo
kernels
echo
tests AttributionInvariantsTest
sed -n 's/^invariants //p' "$work/AttributionInvariantsTest.log"
echo
printf '%-14s %14s %6s\n' "killed after s" "kernel objects" left
for moment in "${KILL_AFTER[@]}"; do kill_after "$moment"; done
((failed == 0)) && echo "all proven"
exit "$failed"
