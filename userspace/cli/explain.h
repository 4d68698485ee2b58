// `whylate explain SESSION`: one late frame of a session, or the worst N, with timeline and verdict.
#ifndef WHYLATE_USERSPACE_CLI_EXPLAIN_H_
#define WHYLATE_USERSPACE_CLI_EXPLAIN_H_

#include <cstdint>
#include <optional>
#include <string>

namespace whylate {

struct ExplainFlags {
  std::string session;           // its directory, or a cell's recording
  std::string cell;              // "video/burn", "video/burn#2"; "" for all
  std::optional<int64_t> frame;  // its index; takes a cell
  std::optional<int32_t> worst;  // the N latest ones; the default is 1
  bool json = false;             // the misses as in report.json, each with its cell
};

int RunExplain(const ExplainFlags& flags);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_EXPLAIN_H_
