// `whylate selftest`: provoke known causes, and show that they are named right.
//
// JSON, schema "whylate.selftest/1", on standard output and nothing else there:
//   {"schema": "whylate.selftest/1", "kernel": "6.18.0", "runs": 1, "seconds": 3.0, "ok": true,
//    "scenarios": [{
//      "name": "hog_pinned", "row": 1, "what": "...", "runs": 1, "wrong": 0, "skipped": null,
//      "wrong_verdicts": [],          // each in words, with its frame's segments
//      "injections": 15, "injected_ns": 210000000, "named_ns": 209990000,
//      "confusion": {"hog": 16},      // late and skipped frames, by subject of complete verdicts
//      "incomplete": 0,               // those without one
//      "late": 15, "dropped": 1, "lost_events": 0, "unknown_ns": 0, "delay_ns": 320000000,
//      "decisions": {"hog": {"higher_class": 210100000}},   // ns charged to it, by how
//      "unproven": [],                // what else the proof lacks, in words
//      "prediction": null}]}          // or {"predicted": 53.2, "low": 52.1, "high": 55.0, "pairs": 5}
#ifndef WHYLATE_USERSPACE_CLI_SELFTEST_H_
#define WHYLATE_USERSPACE_CLI_SELFTEST_H_

#include <string>

#include "userspace/selftest/selftest.h"

namespace whylate {

struct SelftestFlags {
  SelftestOptions options;
  std::string seconds;  // of a run, as given
  bool list = false;
  bool quiet = false;
  bool json = false;
};

// Returns the exit code: 0 where all that was not skipped is proven; 1 where a verdict is wrong, a proof
// is not complete, or nothing could be tried at all; 2 usage; 130 interrupted.
int RunSelftestCommand(SelftestFlags flags);

// What it prints of a result. Text is at most 100 columns wide but for long names.
std::string SelftestText(const SelftestResult& result, const SelftestOptions& options);
std::string SelftestJson(const SelftestResult& result, const SelftestOptions& options);
// The scenarios that there are, one a line.
std::string SelftestList();

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_SELFTEST_H_
