#!/bin/bash
# Fuzzes each parser for a while (libFuzzer with address and undefined-behaviour sanitizers); needs
# clang and libclang-rt. Stops at the first finding and leaves its input in the build directory.
#   scripts/fuzz.sh [SECONDS_EACH [FUZZER..]]      default: 600, all
# Environment: FUZZ_SEED, of the random choices (default: another one each time).
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
readonly BUILD=$root/build-fuzz
readonly FUZZERS=(report_json_fuzzer capture_fuzzer ftrace_fuzzer perfetto_fuzzer ftrace_text_fuzzer
  perf_script_fuzzer trace_dat_layout_fuzzer perfetto_textproto_fuzzer latency_text_fuzzer
  timehist_text_fuzzer)

readonly SECONDS_EACH=${1:-600}
shift || true
fuzzers=("$@")
(($# > 0)) || fuzzers=("${FUZZERS[@]}")

cmake -S "$root" -B "$BUILD" -G Ninja -DWHYLATE_FUZZ=ON -DCMAKE_C_COMPILER=clang \
  -DCMAKE_CXX_COMPILER=clang++ >&2
cmake --build "$BUILD" --target "${FUZZERS[@]}" make_perfetto_seeds make_trace_dat_seeds make_ftrace_seeds \
  whylate >&2
for fuzzer in "${fuzzers[@]}"; do
  corpus=$BUILD/corpus/$fuzzer
  mkdir -p "$corpus"
  seeds=$root/tests/fuzz/seeds/$fuzzer
  if [[ -d $seeds ]]; then cp -n "$seeds"/* "$corpus"; fi
  if [[ $fuzzer == report_json_fuzzer && ! -e $corpus/seed ]]; then
    # A real report, so that the fuzzer begins behind the schema.
    session=$(mktemp -d)
    "$BUILD/userspace/whylate" run -W audio,custom --cpu-percent 90 --interval 2000 -w burn \
      -d 200ms -o "$session/s" --quiet >&2 || true
    cp "$session/s/report.json" "$corpus/seed"
    rm -r "$session"
  fi
  if [[ $fuzzer == ftrace_fuzzer && ! -e $corpus/frame ]]; then
    "$BUILD/tests/make_ftrace_seeds" "$corpus"
  fi
  if [[ $fuzzer == perfetto_fuzzer && ! -e $corpus/foreign ]]; then
    "$BUILD/tests/make_perfetto_seeds" "$corpus"
  fi
  if [[ $fuzzer == trace_dat_layout_fuzzer && ! -e $corpus/told ]]; then
    "$BUILD/tests/make_trace_dat_seeds" "$corpus"
  fi
  echo "$fuzzer: $SECONDS_EACH s"
  (cd "$BUILD" && "tests/$fuzzer" -max_total_time="$SECONDS_EACH" -seed="${FUZZ_SEED:-0}" -timeout=20 -rss_limit_mb=4096 \
    -print_final_stats=1 -verbosity=0 "$corpus")
done
