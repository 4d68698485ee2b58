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
  bool is_chain = false;  // a task ended it
};

// Whose an instant of a chain is.
struct ChainVerdict {
  std::string subject;
  std::string decision;
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
    const std::optional<int64_t>& placed_at = W(t).placed_at;
    if (!W(t).by_wakeup || !placed_at.has_value()) return false;
    for (int32_t cpu = 0; cpu < CpuCount(); ++cpu) {
      if (cpu == W(t).cpu || !Allowed(cpu, t) || !Allowed(cpu, *placed_at)) continue;
      bool stayed = true;
      for (int64_t s = *placed_at; s <= t && stayed; ++s) stayed = Idle(cpu, s);
      if (stayed) return true;
    }
    return false;
  }

  // The waits whose avoidable time within the window counts for decisions.
  void FindBigWaits() {
    std::map<int64_t, int64_t> avoidable;
    for (int64_t t = release_; t < completion_; ++t) {
      if (W(t).state == State::kQueued && Avoidable(t)) {
        avoidable[W(t).wait_start] += unit_;
      }
    }
    for (const auto& [start, ns] : avoidable) {
      if (ns >= 100'000) big_waits_.insert(start);
    }
  }

  // Of any task that waits. The idle CPUs that it may use are known of the watched one alone.
  std::string Decide(const Task& waiting, bool is_watched, int64_t t) const {
    const Snapshot& at = replay_.At(t);
    const Cpu& on = at.cpus[static_cast<size_t>(waiting.cpu)];
    const TaskStanding mine = waiting.standing;
    const bool rt = mine.sched_class == SchedClass::kRealTime;
    if (rt) {
      for (int64_t s = waiting.here_since; s <= t; ++s) {
        const Cpu& then = replay_.At(s).cpus[static_cast<size_t>(waiting.cpu)];
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
    if (rank < 0 && on.since < waiting.here_since) return "not_preemptible";
    if (rank > 0) return "higher_class";
    if (is_watched && big_waits_.contains(waiting.wait_start) && Avoidable(t)) {
      return Placement(t) ? "placement" : "missed_pull";
    }
    if (waiting.by_wakeup) return rank == 0 ? "no_preempt" : "undetermined";
    if (!waiting.last_in.has_value()) return "undetermined";
    const auto& then = replay_.At(*waiting.last_in).tasks;
    const auto task = then.find(on.tid);
    const bool was_queued = task != then.end() && task->second.life == on.life &&
                            task->second.state == State::kQueued &&
                            task->second.cpu == waiting.last_in_cpu;
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
    const bool is_watched = sleep.tid == recording_.watched.value;
    for (const SchedEvent& event : recording_.events) {
      if (!is_watched) break;
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
    if (is_watched && sleep.start <= release_ && !stopped && !deep) {
      const bool at_release = expires.has_value()
                                  ? *absolute && std::abs(*expires - frame_.release_ns) <= 1'000'000
                                  : !by_task && sleep.run_start < 0;
      if (at_release) return {"late_release", "timer", false, false};
    }
    if (by_task) {
      verdict.subject = SubjectOf(sleep.waking->waker.value, sleep.end);
    } else if (sleep.waking != nullptr) {
      const std::string& source = sleep.waking->source_name;
      verdict.subject = source.empty() ? "irq" : "irq 24 " + source;
    }
    verdict.is_chain = by_task && !stopped;
    if (stopped || by_task) return verdict;
    if (fired) return {"blocked", "self", *absolute, false};
    if (deep && sleep.waking != nullptr && sleep.waking->irq.has_value()) {
      return {"blocked", "io", false, false};
    }
    return verdict;
  }

  // What the waker of `sleep` did at `t`, or whoever it waited for.
  ChainVerdict Follow(const Sleep& sleep, int64_t t, int hops) const {
    const int32_t tid = sleep.waking->waker.value;
    const auto& tasks = replay_.At(t).tasks;
    const auto found = tasks.find(tid);
    if (found == tasks.end() || found->second.life != sleep.waker_life) return {"unknown", ""};
    const Task& task = found->second;
    switch (task.state) {
      case State::kRunning:
        return {SubjectOf(tid, t), ""};
      case State::kWaking:
        return {"wakeup", ""};
      case State::kThrottled: {
        const oracle::Throttle* throttle = replay_.ThrottleAt(tid, t);
        return {throttle != nullptr && throttle->end_recorded ? "quota" : "unknown", ""};
      }
      case State::kNone:
        return {"unknown", ""};
      case State::kQueued:
        return {OccupantSubject(task.cpu, t, Decide(task, tid == recording_.watched.value, t)),
                Decide(task, tid == recording_.watched.value, t)};
      case State::kBlocked:
        break;
    }
    const Sleep* own = replay_.SleepAt(tid, t);
    if (own == nullptr) return {"unknown", ""};
    const SleepVerdict verdict = Classify(*own);
    if (verdict.is_chain && hops < 32) return Follow(*own, t, hops + 1);
    return {verdict.subject, ""};
  }

  std::string OccupantSubject(int32_t cpu, int64_t t, const std::string& decision) const {
    const Cpu& on = replay_.At(t).cpus[static_cast<size_t>(cpu)];
    if (on.tid != 0) return SubjectOf(on.tid, t);
    return decision == "rt_bandwidth" ? "quota" : "wakeup";
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
      case State::kThrottled: {
        const oracle::Throttle* throttle = replay_.ThrottleAt(recording_.watched.value, t);
        const bool known = throttle != nullptr && throttle->end_recorded;
        instant.kind = known ? "throttled" : "unknown";
        instant.subject = known ? "quota" : "unknown";
        break;
      }
      case State::kNone:
        instant.kind = "unknown";
        instant.subject = "unknown";
        break;
      case State::kBlocked: {
        const Sleep* sleep = replay_.SleepAt(recording_.watched.value, t);
        const SleepVerdict verdict = Classify(*sleep);
        instant.kind = verdict.kind;
        instant.subject = verdict.subject;
        if (!verdict.is_chain) break;
        const ChainVerdict chain = Follow(*sleep, t, 1);
        instant.subject = chain.subject;
        instant.decision = chain.decision;
        break;
      }
      case State::kQueued: {
        const Cpu& on = replay_.At(t).cpus[static_cast<size_t>(W(t).cpu)];
        instant.kind = W(t).by_wakeup ? "runqueue_wait" : "preempted";
        instant.decision = Decide(W(t), true, t);
        instant.avoidable = Avoidable(t);
        instant.occupant = on.tid == 0 ? "idle" : replay_.At(t).tasks.at(on.tid).name;
        instant.subject = OccupantSubject(W(t).cpu, t, instant.decision);
        break;
      }
    }
    return instant;
  }

  // Starts of the absorbing blocks in the window, and whose each is.
  std::map<int64_t, std::set<std::string>> Blocks(const OracleFrame& out) const {
    std::map<int64_t, std::set<std::string>> blocks;
    for (const Sleep& sleep : replay_.sleeps()) {
      if (sleep.tid != recording_.watched.value) continue;
      const SleepVerdict verdict = Classify(sleep);
      if (verdict.kind != "blocked" || !verdict.absorbs) continue;
      const int64_t start = std::max(sleep.start, release_);
      for (int64_t t = start; t < std::min(sleep.end, completion_); ++t) {
        blocks[start].insert(out.instants[static_cast<size_t>(t - release_)].subject);
      }
    }
    for (size_t i = 0; i < out.instants.size(); ++i) {
      const OracleInstant& instant = out.instants[i];
      const bool begins = i == 0 || out.instants[i - 1].kind != instant.kind;
      if ((instant.kind == "unknown" || instant.kind == "throttled") && begins) {
        blocks[release_ + static_cast<int64_t>(i)] = {instant.subject};
      }
    }
    return blocks;
  }

  int64_t Saving(const OracleFrame& out, const std::map<int64_t, std::set<std::string>>& blocks,
                 const std::set<std::string>& set) const {
    int64_t from = release_;
    for (const auto& [start, subjects] : blocks) {
      const bool own = std::includes(set.begin(), set.end(), subjects.begin(), subjects.end());
      if (!own) from = std::max(from, start);
    }
    int64_t saving = set.contains("self") ? out.self_ns : 0;
    for (int64_t t = from; t < completion_; ++t) {
      const OracleInstant& instant = out.instants[static_cast<size_t>(t - release_)];
      if (instant.kind != "running" && set.contains(instant.subject)) saving += unit_;
    }
    return saving;
  }

  void FindVerdict(OracleFrame* out) const {
    const std::map<int64_t, std::set<std::string>> blocks = Blocks(*out);
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
