// `whylate analyze FILE`: who made the tasks of a recorded trace wait. Needs no rights.
#ifndef WHYLATE_USERSPACE_CLI_ANALYZE_H_
#define WHYLATE_USERSPACE_CLI_ANALYZE_H_

#include <cstdint>
#include <optional>
#include <string>

namespace whylate {

struct AnalyzeFlags {
  std::string file;
  std::optional<std::string> task;      // a name or a tid; unset: all tasks
  std::optional<std::string> deadline;  // "5ms" after the waking
  std::optional<std::string> period;    // the same, as a period; not both
  std::optional<int32_t> worst;         // the N that are explained; the default is 10
  bool json = false;
};

int RunAnalyze(const AnalyzeFlags& flags);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_ANALYZE_H_
