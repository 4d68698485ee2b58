#!/bin/bash
# What watching costs: `perf bench sched pipe` pinned to one CPU, a worst case of some 200,000 round
# trips a second, without tracing, under our capture, and under `perf sched record`.
#
#   scripts/benchmark.sh build/tests/trace_capture [ROUNDS [LOOPS [CPU]]]
#
# Rounds are interleaved, so that a slow spell of the machine hits every configuration; the ratios are
# medians over the rounds of one round's time to the same round's time without tracing. Needs root,
# perf and taskset. It reports, and asserts nothing.
set -euo pipefail

readonly CAPTURE=${1:?usage: $0 TRACE_CAPTURE_BINARY [ROUNDS [LOOPS [CPU]]]}
readonly ROUNDS=${2:-9}
readonly LOOPS=${3:-200000}
readonly CPU=${4:-0}
readonly CONFIGURATIONS=(none whylate whylate_without_affinity_calls perf_sched_record)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pipe() {
  "$@" taskset -c "$CPU" perf bench sched pipe -l "$LOOPS"
}

# Runs one configuration; its output goes to $work/out.
run() {
  case $1 in
  none) pipe env ;;
  whylate) pipe "$CAPTURE" ;;
  whylate_without_affinity_calls) pipe "$CAPTURE" --no-affinity-calls ;;
  perf_sched_record) pipe perf sched record -o "$work/perf.data" -- ;;
  esac >"$work/out" 2>&1
}

# "EVENTS LOST BYTES" of the run that was just made.
facts() {
  case $1 in
  none) echo 0 0 0 ;;
  whylate*) sed -n 's/^capture: events=\([0-9]*\) lost=\([0-9]*\) .* bytes=\([0-9]*\) .*/\1 \2 \3/p' "$work/out" ;;
  perf*)
    perf report -i "$work/perf.data" --stats 2>/dev/null |
      awk -v bytes="$(stat -c %s "$work/perf.data")" '
        /SAMPLE events:/ && !samples { samples = $3 }
        /LOST(_SAMPLES)? events:/ { lost += $3 }
        END { print samples + 0, lost + 0, bytes }'
    ;;
  esac
}

for ((round = 1; round <= ROUNDS; round++)); do
  for configuration in "${CONFIGURATIONS[@]}"; do
    run "$configuration"
    usecs=$(awk '/usecs\/op/ { print $1 }' "$work/out")
    echo "$round $configuration $usecs $(facts "$configuration")" >>"$work/results"
  done
done

echo "perf bench sched pipe -l $LOOPS on CPU $CPU, $ROUNDS rounds, kernel $(uname -r)"
printf '%-32s %12s %8s %12s %10s %14s\n' configuration usecs/op ratio events lost bytes
for configuration in "${CONFIGURATIONS[@]}"; do
  awk -v name="$configuration" '
    function median(values, n,   i, j, swap) {
      for (i = 2; i <= n; i++)
        for (j = i; j > 1 && values[j] < values[j - 1]; j--) {
          swap = values[j]; values[j] = values[j - 1]; values[j - 1] = swap
        }
      return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
    }
    $2 == "none" { base[$1] = $3 }
    $2 == name {
      n++; usecs[n] = $3; ratio[n] = $3 / base[$1]; events[n] = $4; lost += $5; bytes[n] = $6
    }
    END {
      printf "%-32s %12.3f %8.3f %12d %10d %14d\n", name, median(usecs, n), median(ratio, n),
             median(events, n), lost, median(bytes, n)
    }' "$work/results"
done
echo "events and bytes: median of a round; lost: all rounds"
