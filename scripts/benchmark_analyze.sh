#!/bin/bash
# How fast traces are read: the same seconds recorded by perf and by whylate, then `perf sched
# timehist` on the one against `whylate analyze` on the other, in turns.
#
#   scripts/benchmark_analyze.sh build/userspace/whylate [ROUNDS [SECONDS]]
#
# Prints events a second of CPU time of both, medians over the rounds, and their ratio. Needs root and
# perf. It reports, and asserts nothing.
set -euo pipefail

WHYLATE=$(readlink -f "${1:?usage: $0 WHYLATE_BINARY [ROUNDS [SECONDS]]}")
readonly WHYLATE
readonly ROUNDS=${2:-7}
readonly SECONDS_EACH=${3:-5}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

perf sched record -a -o perf.data -- "$WHYLATE" run -W video -w hack -L 2 -d "${SECONDS_EACH}s" \
  --record all --quiet -o session >/dev/null 2>&1
readonly RECORDING=session/video-hack-1.pftrace

# CPU seconds of a command, user and system.
cpu_seconds() {
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

median() {
  sort -n | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

# Samples of the events that both look at; perf's other samples cost it little.
perf_events=$(perf report -i perf.data --stats 2>/dev/null | awk '/SAMPLE events:/ { print $3; exit }')
whylate_events=$("$WHYLATE" analyze "$RECORDING" --task video --worst 1 --json |
  sed -E 's/.*"events":([0-9]+).*/\1/')

for ((round = 1; round <= ROUNDS; round++)); do
  cpu_seconds perf sched timehist -i perf.data >>perf.seconds
  cpu_seconds "$WHYLATE" analyze "$RECORDING" --task video --worst 1 >>whylate.seconds
done

echo "the same ${SECONDS_EACH} s of video under hack, $ROUNDS rounds, kernel $(uname -r)"
awk -v pe="$perf_events" -v pb="$(stat -c %s perf.data)" -v ps="$(median <perf.seconds)" \
  -v we="$whylate_events" -v wb="$(stat -c %s "$RECORDING")" -v ws="$(median <whylate.seconds)" '
  BEGIN {
    format = "%-22s %10s %12s %10s %14s\n"
    printf format, "", "events", "bytes", "CPU s", "events/CPU s"
    printf format, "perf sched timehist", pe, pb, ps, int(pe / ps)
    printf format, "whylate analyze", we, wb, ws, int(we / ws)
    printf "ratio of events a second: %.2f\n", (we / ws) / (pe / ps)
  }'
