#include "analysis/attribution/changes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

class ChangeFinder {
 public:
  ChangeFinder(const Timeline& timeline, const Cast& cast)
      : timeline_(timeline),
        cast_(cast),
        cell_{timeline.recording().frames.origin_ns, timeline.recording().frames.end_ns} {
    for (const Tid tid : timeline.recording().WatchedThreads()) threads_[tid] = Thread();
    std::optional<CpuSet> before = timeline.recording().allowed_before;
    if (before) threads_[timeline.recording().watched].allowed = before->ToString();
  }

  std::vector<Change> Run() {
    for (size_t i = 0; i < timeline_.events().size(); ++i) Visit(i);
    return std::move(changes_);
  }

 private:
  struct Thread {
    std::optional<TaskStanding> standing;
    std::string allowed;
    std::string cgroup;
  };

  Thread* Find(Tid tid) {
    const auto found = threads_.find(tid);
    return found == threads_.end() ? nullptr : &found->second;
  }

  void Visit(size_t index) {
    const SchedEventBody& body = timeline_.events()[index]->body;
    if (const auto* switched = std::get_if<SwitchEvent>(&body)) {
      // What a task leaves with; what it comes with was told by the call, or is told then.
      Standing(index, switched->prev, switched->prev_standing, std::nullopt);
      if (switched->prev_allowed) Allowed(index, switched->prev, *switched->prev_allowed, {});
    } else if (const auto* standing = std::get_if<StandingEvent>(&body)) {
      Standing(index, standing->task, standing->standing, standing->by);
    } else if (const auto* affinity = std::get_if<AffinityEvent>(&body)) {
      Allowed(index, affinity->task, affinity->allowed, affinity->by);
    } else if (const auto* cgroup = std::get_if<CgroupEvent>(&body)) {
      Thread* thread = Find(cgroup->task);
      if (thread == nullptr) return;
      Add(index, cgroup->task, "cgroup", std::exchange(thread->cgroup, cgroup->path), cgroup->path,
          cgroup->by);
    }
  }

  void Standing(size_t index, Tid tid, const TaskStanding& now, const std::optional<Tid>& by) {
    Thread* thread = Find(tid);
    if (thread == nullptr || now.sched_class == SchedClass::kUnknown) return;
    if (!thread->standing.has_value()) {
      thread->standing = now;
      // Of a call, the state before it is not known, and that it changed is.
      if (by.has_value()) Add(index, tid, "policy", "", StandingInWords(now), by);
      return;
    }
    if (StandingInWords(*thread->standing) == StandingInWords(now)) return;
    const bool is_lent = !by.has_value() && now.sched_class < thread->standing->sched_class;
    if (is_lent) return;
    const TaskStanding before = std::exchange(*thread->standing, now);
    Add(index, tid, "policy", StandingInWords(before), StandingInWords(now), by);
  }

  void Allowed(size_t index, Tid tid, const CpuSet& now, const std::optional<Tid>& by) {
    Thread* thread = Find(tid);
    if (thread == nullptr) return;
    std::string text = now.ToString();
    if (thread->allowed == text) return;
    const std::string before = std::exchange(thread->allowed, text);
    // The first reading of a thread is no change of it.
    if (before.empty() && !by.has_value()) return;
    Add(index, tid, "affinity", before, text, by);
  }

  void Add(size_t index, Tid tid, absl::string_view what, const std::string& from,
           const std::string& to, const std::optional<Tid>& by) {
    const int64_t time_ns = timeline_.events()[index]->time_ns;
    if (time_ns < cell_.start_ns || time_ns >= cell_.end_ns) return;
    Change change;
    change.time_ns = time_ns;
    change.task = cast_.NameOf(timeline_.tasks().Find(tid, index), time_ns);
    change.what = std::string(what);
    change.from = from;
    change.to = to;
    if (by) change.by = cast_.NameOf(timeline_.tasks().Find(*by, index), time_ns);
    changes_.push_back(std::move(change));
  }

  const Timeline& timeline_;
  const Cast& cast_;
  const Interval cell_;
  std::map<Tid, Thread> threads_;
  std::vector<Change> changes_;
};

}  // namespace

std::string StandingInWords(const TaskStanding& standing) {
  switch (standing.sched_class) {
    case SchedClass::kRealTime:
      return standing.rt_priority ? absl::StrCat("real-time ", *standing.rt_priority) : "real-time";
    case SchedClass::kFair:
    case SchedClass::kExt:
      return absl::StrCat("nice ", standing.nice.value_or(0));
    case SchedClass::kIdlePolicy:
      return "SCHED_IDLE";
    case SchedClass::kUnknown:
      return "";
    case SchedClass::kStop:
    case SchedClass::kDeadline:
    case SchedClass::kIdle:
      break;
  }
  return ToString(standing.sched_class);
}

std::vector<Change> FindChanges(const Timeline& timeline, const Cast& cast) {
  return ChangeFinder(timeline, cast).Run();
}

}  // namespace whylate
