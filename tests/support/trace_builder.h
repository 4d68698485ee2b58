// Draws recordings by hand, event by event, with tiny times.
//
//   //        0      2        8   9      13  16
//   // CPU 0  W------burn-----W---lock---W---
//   Recording r = TraceBuilder(1).Watch(kW).Name(kW, "W").Load(kBurn, "burn")
//                     .Preempt(2, 0, kW, kBurn).Preempt(8, 0, kBurn, kW)
//                     ...
//                     .Late(0, 10, 16, 6)
//                     .Build();
//
// Times, in every call, are multiples of the builder's unit. Events may be added in any order;
// those of one time keep the order in which they were added. Tasks are SCHED_OTHER unless Class()
// says else.
#ifndef WHYLATE_TESTS_SUPPORT_TRACE_BUILDER_H_
#define WHYLATE_TESTS_SUPPORT_TRACE_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "analysis/model/cpu_set.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"

namespace whylate {

class TraceBuilder {
 public:
  explicit TraceBuilder(int32_t cpus, int64_t unit_ns = 1);

  // Who is who.
  TraceBuilder& Watch(int32_t tid);
  TraceBuilder& Name(int32_t tid, std::string name, int64_t time = 0);
  TraceBuilder& Load(int32_t tid, const std::string& load, const std::string& name = "");
  TraceBuilder& KernelThread(int32_t tid, std::string name);
  TraceBuilder& Observer(int32_t tid);
  // The class with which the task is in all events added from here on.
  TraceBuilder& Class(int32_t tid, SchedClass sched_class, std::optional<int32_t> rt_priority = {});
  // The next stage of a chain, a thread of the first one's process; that is the watched thread.
  TraceBuilder& Stage(int32_t tid, const std::string& name, int64_t demand = 0);
  // The watched task's affinity, before and after; of a chain, all its stages' so far.
  TraceBuilder& Allowed(std::initializer_list<int32_t> cpus);
  TraceBuilder& Isolated(int32_t cpu);

  // The prev of a switch goes on being runnable, sleeps, is throttled, exits.
  TraceBuilder& Preempt(int64_t time, int32_t cpu, int32_t prev, int32_t next);
  TraceBuilder& Block(int64_t time, int32_t cpu, int32_t prev, int32_t next, uint32_t state = 1);
  TraceBuilder& Throttle(int64_t time, int32_t cpu, int32_t prev, int32_t next);
  TraceBuilder& Exit(int64_t time, int32_t cpu, int32_t prev, int32_t next);
  TraceBuilder& Switch(int64_t time, int32_t cpu, int32_t prev, int32_t next, SwitchOut out,
                       uint32_t state = 0);

  // Woken by a task (`waker` > 0), or by a hard interrupt (0).
  TraceBuilder& Waking(int64_t time, int32_t cpu, int32_t wakee, int32_t waker = 0);
  TraceBuilder& Wakeup(int64_t time, int32_t target, int32_t wakee);
  // Both, at once, onto `target`.
  TraceBuilder& Wake(int64_t time, int32_t target, int32_t wakee, int32_t waker = 0);
  TraceBuilder& Migrate(int64_t time, int32_t task, int32_t from, int32_t to);
  TraceBuilder& Fork(int64_t time, int32_t cpu, int32_t parent, int32_t child);
  TraceBuilder& Affinity(int64_t time, int32_t cpu, int32_t task,
                         std::initializer_list<int32_t> cpus);
  TraceBuilder& TimerStart(int64_t time, int32_t cpu, int32_t task, int64_t expires, bool absolute);
  TraceBuilder& TimerExpire(int64_t time, int32_t cpu, int32_t task, int64_t expires);
  TraceBuilder& CpuSeed(int64_t time, int32_t cpu, int32_t current);
  TraceBuilder& TaskSeed(int64_t time, int32_t cpu, int32_t task, bool on_rq, int32_t queued_on);
  // Changes the event added last, which is an `Event`.
  template <typename Event, typename Change>
  TraceBuilder& With(Change change) {
    change(std::get<Event>(recording_.events.back().body));
    return *this;
  }
  TraceBuilder& Add(int64_t time, int32_t cpu, SchedEventBody body);

  TraceBuilder& Loss(int32_t cpu, int64_t begin, int64_t end);
  TraceBuilder& Omitted(int64_t begin, int64_t end);
  TraceBuilder& End(int64_t time);

  // One late frame, the cell's first: released, due, completed, with this demand. Skipping pacing.
  TraceBuilder& Late(int64_t release, int64_t deadline, int64_t completion, int64_t demand);
  // A frame of a cell with a fixed period from 0 on; its release is index * period.
  TraceBuilder& Pace(Pacing pacing, int64_t period, int64_t end);
  TraceBuilder& Frame(int64_t index, int64_t completion, int64_t demand);
  // When the stages of the frame added last passed it on; its CPU time is the first one's.
  TraceBuilder& Passed(std::initializer_list<int64_t> times);

  int64_t unit_ns() const { return unit_ns_; }
  // The Recording being built, for what has no method.
  Recording& recording() { return recording_; }
  // Sorted, numbered, with a begin at 0 and an end after everything.
  Recording Build() const;

  static CpuSet Cpus(std::initializer_list<int32_t> cpus);

 private:
  TaskStanding StandingOf(int32_t tid) const;

  int64_t unit_ns_;
  Recording recording_;
  std::map<int32_t, TaskStanding> standing_;
};

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_TRACE_BUILDER_H_
