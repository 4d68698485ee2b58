#include "tests/support/trace_oracle.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "tests/support/trace_replay.h"

namespace whylate {
namespace {

using oracle::Cpu;
using oracle::Dispatch;
using oracle::Replay;
using oracle::Sleep;
using oracle::Snapshot;
using oracle::State;
using oracle::Task;

struct SleepVerdict {
  std::string kind = "blocked";
  std::string subject = "unknown";
  bool absorbs = true;
};

class Judge {
 public:
  Judge(const Recording& recording, int64_t unit)
      : recording_(recording),
        unit_(unit),
        replay_(recording, unit),
        frame_(recording.frames.frames.front()),
        release_(frame_.release_ns / unit),
        completion_(frame_.completion_ns / unit) {}

  OracleFrame Run() {
    FindBigWaits();
    OracleFrame out;
    int64_t ran = 0;
    for (int64_t t = release_; t < completion_; ++t) {
      OracleInstant instant = Classify(t);
      if (instant.kind == "running") {
        ran += unit_;
      } else {
        const std::string decision = instant.decision.empty() ? "-" : instant.decision;
        out.causes[instant.subject + "/" + instant.kind + "/" + decision] += unit_;
      }
      out.instants.push_back(std::move(instant));
    }
    out.self_ns = std::max<int64_t>(0, ran - frame_.demand_ns);
    FindVerdict(&out);
    return out;
  }

 private:
  const Task& W(int64_t t) const { return replay_.At(t).tasks.at(recording_.watched.value); }

  bool Idle(int32_t cpu, int64_t t) const {
    const Snapshot& at = replay_.At(t);
    const SchedClass on = at.cpus[static_cast<size_t>(cpu)].sched_class;
    if (on != SchedClass::kIdle && on != SchedClass::kIdlePolicy) return false;
    for (const auto& [tid, task] : at.tasks) {
      const bool matters = task.standing.sched_class != SchedClass::kIdlePolicy;
      if (task.state == State::kQueued && task.cpu == cpu && matters) return false;
    }
    for (const Dispatch& dispatch : replay_.dispatches()) {
      const bool now = dispatch.start <= t && t < dispatch.end;
      const SchedClass woken = at.tasks.at(dispatch.tid).standing.sched_class;
      if (now && dispatch.target == cpu && woken != SchedClass::kIdlePolicy) return false;
    }
    return true;
  }

  bool Allowed(int32_t cpu, int64_t t) const { return replay_.At(t).allowed.Contains(CpuId{cpu}); }
  int32_t CpuCount() const { return static_cast<int32_t>(recording_.cpus.size()); }

  bool Avoidable(int64_t t) const {
    const int32_t queue = W(t).cpu;
    if (replay_.At(t).cpus[static_cast<size_t>(queue)].tid == 0) return false;
    for (int32_t cpu = 0; cpu < CpuCount(); ++cpu) {
      if (cpu != queue && Allowed(cpu, t) && Idle(cpu, t)) return true;
    }
    return false;
  }

  bool Placement(int64_t t) const {
    const Snapshot& at = replay_.At(t);
    if (!at.by_wakeup || !at.placed_at.has_value()) return false;
    for (int32_t cpu = 0; cpu < CpuCount(); ++cpu) {
      if (cpu == W(t).cpu || !Allowed(cpu, t) || !Allowed(cpu, *at.placed_at)) continue;
      bool stayed = true;
      for (int64_t s = *at.placed_at; s <= t && stayed; ++s) stayed = Idle(cpu, s);
      if (stayed) return true;
    }
    return false;
  }

  // The waits whose avoidable time within the window counts for decisions.
  void FindBigWaits() {
    std::map<int64_t, int64_t> avoidable;
    for (int64_t t = release_; t < completion_; ++t) {
      if (W(t).state == State::kQueued && Avoidable(t)) {
        avoidable[replay_.At(t).wait_start] += unit_;
      }
    }
    for (const auto& [start, ns] : avoidable) {
      if (ns >= 100'000) big_waits_.insert(start);
    }
  }

  std::string Decide(int64_t t) const {
    const Snapshot& at = replay_.At(t);
    const Cpu& on = at.cpus[static_cast<size_t>(W(t).cpu)];
    const TaskStanding mine = W(t).standing;
    const bool rt = mine.sched_class == SchedClass::kRealTime;
    if (rt) {
      for (int64_t s = at.here_since; s <= t; ++s) {
        const Cpu& then = replay_.At(s).cpus[static_cast<size_t>(W(t).cpu)];
        if (then.since == s && then.sched_class > SchedClass::kRealTime) return "rt_bandwidth";
      }
    }
    if (on.tid == 0) return "idle_exit";
    int rank = 0;
    if (on.sched_class != mine.sched_class) {
      rank = on.sched_class < mine.sched_class ? 1 : -1;
    } else if (rt && *on.priority != *mine.rt_priority) {
      rank = *on.priority > *mine.rt_priority ? 1 : -1;
    }
    if (rank < 0 && on.since < at.here_since) return "not_preemptible";
    if (rank > 0) return "higher_class";
    if (big_waits_.contains(at.wait_start) && Avoidable(t)) {
      return Placement(t) ? "placement" : "missed_pull";
    }
    if (at.by_wakeup) return rank == 0 ? "no_preempt" : "undetermined";
    if (!at.last_in.has_value()) return "undetermined";
    const auto& then = replay_.At(*at.last_in).tasks;
    const auto task = then.find(on.tid);
    const bool was_queued = task != then.end() && task->second.life == on.life &&
                            task->second.state == State::kQueued &&
                            task->second.cpu == at.last_in_cpu;
    if (!was_queued) return "displaced";
    return rank == 0 ? "slice" : "undetermined";
  }

  std::string SubjectOf(int32_t tid, int64_t t) const {
    const Task& task = replay_.At(t).tasks.at(tid);
    return task.load.empty() ? task.name : task.load;
  }

  SleepVerdict Classify(const Sleep& sleep) const {
    SleepVerdict verdict;
    std::optional<int64_t> expires;
    std::optional<bool> absolute;
    bool fired = false;
    for (const SchedEvent& event : recording_.events) {
      const int64_t t = event.time_ns / unit_;
      const auto* start = std::get_if<TimerStartEvent>(&event.body);
      const auto* expire = std::get_if<TimerExpireEvent>(&event.body);
      if (start != nullptr && t >= sleep.run_start && t <= sleep.start) {
        expires = start->expires_ns;
        absolute = start->absolute;
      }
      if (expire != nullptr && t >= sleep.start && t <= sleep.end) fired = true;
    }
    const bool by_task = sleep.waking != nullptr && sleep.waking->context == WakerContext::kTask;
    const bool stopped = (sleep.prev_state & 0x800c) != 0;
    const bool deep = (sleep.prev_state & 2) != 0;
    if (sleep.start <= release_ && !stopped && !deep) {
      const bool at_release = expires.has_value()
                                  ? *absolute && std::abs(*expires - frame_.release_ns) <= 1'000'000
                                  : !by_task && sleep.run_start < 0;
      if (at_release) return {"late_release", "timer", false};
    }
    if (by_task) {
      verdict.subject = SubjectOf(sleep.waking->waker.value, sleep.end);
    } else if (sleep.waking != nullptr) {
      verdict.subject = sleep.waking->source_name.empty() ? "irq" : sleep.waking->source_name;
    }
    if (stopped || by_task) return verdict;
    if (fired) return {"blocked", "self", *absolute};
    if (deep && sleep.waking != nullptr && sleep.waking->source_name != "hrtimer") {
      verdict.absorbs = false;
    }
    return verdict;
  }

  OracleInstant Classify(int64_t t) const {
    OracleInstant instant;
    switch (W(t).state) {
      case State::kRunning:
        instant.kind = "running";
        break;
      case State::kWaking:
        instant.kind = "wakeup_dispatch";
        instant.subject = "wakeup";
        break;
      case State::kThrottled:
      case State::kNone:
        instant.kind = "unknown";
        instant.subject = "unknown";
        break;
      case State::kBlocked:
        for (const Sleep& sleep : replay_.sleeps()) {
          if (t < sleep.start || t >= sleep.end) continue;
          const SleepVerdict verdict = Classify(sleep);
          instant.kind = verdict.kind;
          instant.subject = verdict.subject;
        }
        break;
      case State::kQueued: {
        const Cpu& on = replay_.At(t).cpus[static_cast<size_t>(W(t).cpu)];
        instant.kind = replay_.At(t).by_wakeup ? "runqueue_wait" : "preempted";
        instant.decision = Decide(t);
        instant.avoidable = Avoidable(t);
        instant.occupant = on.tid == 0 ? "idle" : replay_.At(t).tasks.at(on.tid).name;
        if (on.tid != 0) {
          instant.subject = SubjectOf(on.tid, t);
        } else {
          instant.subject = instant.decision == "rt_bandwidth" ? "quota" : "wakeup";
        }
        break;
      }
    }
    return instant;
  }

  // Starts of the absorbing blocks in the window, and whose each is.
  std::map<int64_t, std::string> Blocks(const OracleFrame& out) const {
    std::map<int64_t, std::string> blocks;
    for (const Sleep& sleep : replay_.sleeps()) {
      const SleepVerdict verdict = Classify(sleep);
      if (verdict.kind != "blocked" || !verdict.absorbs) continue;
      if (sleep.end > release_ && sleep.start < completion_) {
        blocks[std::max(sleep.start, release_)] = verdict.subject;
      }
    }
    for (size_t i = 0; i < out.instants.size(); ++i) {
      const bool begins = i == 0 || out.instants[i - 1].kind != "unknown";
      if (out.instants[i].kind == "unknown" && begins) {
        blocks[release_ + static_cast<int64_t>(i)] = "unknown";
      }
    }
    return blocks;
  }

  int64_t Saving(const OracleFrame& out, const std::map<int64_t, std::string>& blocks,
                 const std::set<std::string>& set) const {
    int64_t from = release_;
    for (const auto& [start, subject] : blocks) {
      if (!set.contains(subject)) from = std::max(from, start);
    }
    int64_t saving = set.contains("self") ? out.self_ns : 0;
    for (int64_t t = from; t < completion_; ++t) {
      const OracleInstant& instant = out.instants[static_cast<size_t>(t - release_)];
      if (instant.kind != "running" && set.contains(instant.subject)) saving += unit_;
    }
    return saving;
  }

  void FindVerdict(OracleFrame* out) const {
    const std::map<int64_t, std::string> blocks = Blocks(*out);
    if (out->self_ns > 0 && !blocks.empty()) return;
    const int64_t budget = recording_.frames.DeadlineNs(0) - frame_.release_ns;
    if (frame_.demand_ns > budget) return;
    out->verdict_known = true;
    std::map<std::string, int64_t> ns;
    for (const OracleInstant& instant : out->instants) {
      if (instant.kind != "running") ns[instant.subject] += unit_;
    }
    if (out->self_ns > 0) ns["self"] += out->self_ns;
    std::vector<std::tuple<int64_t, int64_t, std::string>> order;
    order.reserve(ns.size());
    for (const auto& [subject, total] : ns) {
      order.emplace_back(-Saving(*out, blocks, {subject}), -total, subject);
    }
    std::sort(order.begin(), order.end());
    const int64_t needed = frame_.completion_ns - recording_.frames.DeadlineNs(0);
    std::set<std::string> set;
    for (const auto& [saving, total, subject] : order) {
      set.insert(subject);
      out->subjects.push_back(subject);
      out->saving_ns = Saving(*out, blocks, set);
      if (out->saving_ns >= needed) break;
    }
  }

  const Recording& recording_;
  const int64_t unit_;
  const Replay replay_;
  const Frame frame_;
  const int64_t release_;
  const int64_t completion_;
  std::set<int64_t> big_waits_;
};

}  // namespace

OracleFrame Oracle(const Recording& recording, int64_t unit_ns) {
  return Judge(recording, unit_ns).Run();
}

}  // namespace whylate
