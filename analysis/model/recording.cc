#include "analysis/model/recording.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"

namespace whylate {

namespace {

bool IsUsable(int64_t time_ns) {
  constexpr int64_t kMostNs = int64_t{1} << 60;  // 36 years
  return time_ns >= 0 && time_ns < kMostNs;
}

bool IsUsable(const SchedEvent& event) {
  if (!IsUsable(event.time_ns)) return false;
  const auto* switched = std::get_if<SwitchEvent>(&event.body);
  return switched == nullptr || (IsUsable(switched->stolen.irq_ns.value_or(0)) &&
                                 IsUsable(switched->stolen.softirq_ns.value_or(0)) &&
                                 IsUsable(switched->stolen.steal_ns.value_or(0)));
}

bool IsUsable(const CellFrames& cell) {
  if (!IsUsable(cell.origin_ns) || !IsUsable(cell.end_ns)) return false;
  int64_t last_ns = cell.origin_ns;
  return std::all_of(cell.frames.begin(), cell.frames.end(), [&](const Frame& frame) {
    const bool in_order = frame.release_ns <= frame.start_ns &&
                          frame.start_ns <= frame.completion_ns && last_ns <= frame.completion_ns;
    last_ns = frame.completion_ns;
    return in_order && frame.index >= 0 && IsUsable(frame.release_ns) &&
           IsUsable(frame.completion_ns) && IsUsable(frame.cpu_ns) && IsUsable(frame.demand_ns);
  });
}

bool AreUsableStages(const Recording& recording) {
  const CellFrames& cell = recording.frames;
  if (!cell.HasWholeStages()) return false;
  if (cell.stages.empty()) return true;
  if (cell.stages.size() > kMostStages || cell.stages.front().tid != recording.watched)
    return false;
  for (const Stage& stage : cell.stages) {
    if (!IsUsable(stage.demand_ns)) return false;
  }
  for (size_t i = 0; i < cell.frames.size(); ++i) {
    if (!cell.PassesInOrder(i)) return false;
  }
  return true;
}

template <typename Stretch>
bool AreUsable(const std::vector<Stretch>& stretches) {
  return std::all_of(stretches.begin(), stretches.end(), [](const Stretch& stretch) {
    return IsUsable(stretch.begin_ns) && IsUsable(stretch.end_ns);
  });
}

}  // namespace

bool HasUsableTimes(const Recording& recording) {
  return IsUsable(recording.begin_ns) && IsUsable(recording.end_ns) &&
         recording.begin_ns <= recording.end_ns && IsUsable(recording.frames) &&
         AreUsableStages(recording) && AreUsable(recording.losses) &&
         AreUsable(recording.omitted) &&
         std::all_of(recording.events.begin(), recording.events.end(),
                     [](const SchedEvent& event) { return IsUsable(event); });
}

std::vector<Tid> Recording::WatchedThreads() const {
  std::vector<Tid> threads = {watched};
  for (const Stage& stage : frames.stages) {
    if (std::find(threads.begin(), threads.end(), stage.tid) == threads.end()) {
      threads.push_back(stage.tid);
    }
  }
  return threads;
}

std::string Role::ToString() const {
  switch (kind) {
    case RoleKind::kWorkload:
      return "workload";
    case RoleKind::kLoad:
      return absl::StrCat("load:", load);
    case RoleKind::kKernel:
      return "kernel";
    case RoleKind::kObserver:
      return "observer";
    case RoleKind::kOther:
      return "other";
    case RoleKind::kIdle:
      return "idle";
    case RoleKind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace whylate
