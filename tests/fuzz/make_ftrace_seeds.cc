// Writes seeds for ftrace_fuzzer into a directory: pages that a machine might have, so that the fuzzer
// begins behind the numbers of the events.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/made_ftrace.h"

namespace whylate {
namespace {

using F = FtraceField;

void AppendPage(uint8_t cpu, const MadePage& page, std::string* seed) {
  std::vector<uint8_t> bytes = page.Bytes();
  bytes.resize(FtracePageBytes(FtracePageLayout(), bytes));
  seed->push_back(static_cast<char>(cpu));
  seed->push_back(static_cast<char>(bytes.size() & 0xff));
  seed->push_back(static_cast<char>(bytes.size() >> 8));
  seed->append(bytes.begin(), bytes.end());
}

// A frame of task 1 that waits behind task 2, and what else there is.
std::string Frame(const MadeFtrace& ftrace) {
  const auto on = [&](int32_t prev, int32_t state, int32_t next) {
    return ftrace.Record("sched_switch", {{F::kTid, prev},
                                          {F::kPriority, 120},
                                          {F::kState, state},
                                          {F::kNextTid, next},
                                          {F::kNextPriority, 120}});
  };
  std::string seed;
  MadePage page(500);
  page.Add(0, on(1, 1, 2))
      .Add(500, ftrace.Record("local_timer_entry", {}))
      .Add(10, ftrace.Record("hrtimer_expire_entry", {{F::kTimer, 16}, {F::kNow, 1010}}))
      .Add(10, ftrace.Record("sched_waking", {{F::kTid, 1}}, {.current = 2, .flags = 8}))
      .Add(10, ftrace.Record("sched_wakeup", {{F::kTid, 1}, {F::kPriority, 120}}))
      .Add(10, ftrace.Record("local_timer_exit", {}))
      .Add(30000, on(2, 0, 1))
      .Add(20000, on(1, 0, 0))
      .Extend(5000)
      .Add(0, on(0, 0, 1));
  AppendPage(0, page, &seed);
  AppendPage(0, MadePage(60000).Missed(4).Add(0, on(1, 1, 2)), &seed);
  return seed;
}

// One record of each event, for task 1 or from it.
std::string EachEvent(const MadeFtrace& ftrace) {
  std::string seed;
  MadePage page(1000);
  for (const FtraceEventRow& row : FtraceSchedEvents()) {
    MadeFtrace::Values values;
    for (const FtraceEventRow::Field& field : row.fields) {
      if (field.name != nullptr && field.field != F::kName && field.field != F::kNextName) {
        values[field.field] = 1;
      }
    }
    page.Add(100, ftrace.Record(row.name, values, {.current = 1}));
  }
  AppendPage(1, page, &seed);
  MadePage calls(2000);
  calls.Add(0, ftrace.Record("sys_enter", {{F::kCallArguments, 1}}, {.current = 2}))
      .Add(100, ftrace.Record("sys_exit", {}, {.current = 2}));
  AppendPage(2, calls, &seed);
  return seed;
}

}  // namespace
}  // namespace whylate

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_ftrace_seeds DIRECTORY\n";
    return 2;
  }
  const whylate::MadeFtrace ftrace;
  std::ofstream(absl::StrCat(argv[1], "/frame"), std::ios::binary) << whylate::Frame(ftrace);
  std::ofstream(absl::StrCat(argv[1], "/each"), std::ios::binary) << whylate::EachEvent(ftrace);
  return 0;
}
