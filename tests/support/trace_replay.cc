#include "tests/support/trace_replay.h"

#include <variant>

namespace whylate::oracle {

Replay::Replay(const Recording& recording, int64_t unit) : recording_(recording), unit_(unit) {
  for (const RoleAssignment& role : recording.roles) loads_[role.tgid.value] = role.role.load;
  now_.cpus.resize(recording.cpus.size());
  now_.allowed = *recording.allowed_before;
  size_t next = 0;
  for (int64_t t = 0; t <= recording.end_ns / unit; ++t) {
    for (; next < recording.events.size() && recording.events[next].time_ns <= t * unit; ++next) {
      Apply(recording.events[next], t);
    }
    history_.push_back(now_);
  }
  for (Dispatch& open : dispatches_) {
    if (open.target < 0) open.end = t_end();
  }
  for (auto& [tid, sleep] : asleep_) {
    sleep.end = t_end();
    sleeps_.push_back(sleep);
  }
  for (const auto& [tid, start] : throttled_) throttles_.push_back({tid, start, t_end(), false});
}

void Replay::Apply(const SchedEvent& event, int64_t t) {
  const int32_t cpu = event.cpu.value;
  if (const auto* e = std::get_if<TaskNameEvent>(&event.body)) {
    Task& task = now_.tasks[e->task.value];
    task.name = e->name;
    if (loads_.contains(e->tgid->value)) task.load = loads_[e->tgid->value];
  } else if (const auto* seed = std::get_if<TaskSeedEvent>(&event.body)) {
    now_.tasks[seed->task.value].state = State::kBlocked;
    now_.tasks[seed->task.value].standing = seed->standing;
    asleep_[seed->task.value] = Sleep{seed->task.value, t, 0, 0, -1, nullptr, 0};
  } else if (const auto* fork = std::get_if<ForkEvent>(&event.body)) {
    Task child;
    child.life = now_.tasks[fork->child.value].life + 1;
    child.load = now_.tasks[fork->parent.value].load;
    now_.tasks[fork->child.value] = child;
  } else if (const auto* affinity = std::get_if<AffinityEvent>(&event.body)) {
    now_.allowed = affinity->allowed;
  } else if (const auto* waking = std::get_if<WakingEvent>(&event.body)) {
    OnWaking(*waking, t);
  } else if (const auto* wakeup = std::get_if<WakeupEvent>(&event.body)) {
    OnWakeup(*wakeup, t);
  } else if (const auto* migrate = std::get_if<MigrateEvent>(&event.body)) {
    now_.tasks[migrate->task.value].cpu = migrate->to.value;
    now_.tasks[migrate->task.value].here_since = t;
  } else if (const auto* unthrottle = std::get_if<UnthrottleEvent>(&event.body)) {
    OnUnthrottle(*unthrottle, t);
  } else if (const auto* switched = std::get_if<SwitchEvent>(&event.body)) {
    OnSwitch(*switched, cpu, t);
  }
}

void Replay::Queue(int32_t tid, int64_t t, bool by_wakeup) {
  Task& task = now_.tasks[tid];
  task.state = State::kQueued;
  task.wait_start = t;
  task.here_since = t;
  task.by_wakeup = by_wakeup;
}

void Replay::EndThrottle(int32_t tid, int64_t t, bool recorded) {
  const auto open = throttled_.find(tid);
  if (open == throttled_.end()) return;
  throttles_.push_back({tid, open->second, t, recorded});
  throttled_.erase(open);
}

void Replay::OnUnthrottle(const UnthrottleEvent& e, int64_t t) {
  if (now_.tasks[e.task.value].state != State::kThrottled) return;
  EndThrottle(e.task.value, t, true);
  now_.tasks[e.task.value].placed_at.reset();
  Queue(e.task.value, t, true);
}

const Sleep* Replay::SleepAt(int32_t tid, int64_t t) const {
  for (const Sleep& sleep : sleeps_) {
    if (sleep.tid == tid && sleep.start <= t && t < sleep.end) return &sleep;
  }
  return nullptr;
}

const Throttle* Replay::ThrottleAt(int32_t tid, int64_t t) const {
  for (const Throttle& throttle : throttles_) {
    if (throttle.tid == tid && throttle.start <= t && t < throttle.end) return &throttle;
  }
  return nullptr;
}

void Replay::OnWaking(const WakingEvent& e, int64_t t) {
  Task& task = now_.tasks[e.wakee.value];
  if (*e.wakee_on_cpu) {
    task.pending = true;
    task.pending_event = &e;
    task.pending_time = t;
    return;
  }
  if (const auto sleep = asleep_.find(e.wakee.value); sleep != asleep_.end()) {
    sleep->second.end = t;
    sleep->second.waking = &e;
    if (now_.tasks.contains(e.waker.value)) {
      sleep->second.waker_life = now_.tasks[e.waker.value].life;
    }
    sleeps_.push_back(sleep->second);
    asleep_.erase(sleep);
  }
  task.placed_at.reset();
  if (*e.wakee_on_rq) {
    Queue(e.wakee.value, t, true);
  } else {
    task.state = State::kWaking;
    dispatches_.push_back({e.wakee.value, t, 0, -1});
    task.placed_at = t;
  }
}

void Replay::OnWakeup(const WakeupEvent& e, int64_t t) {
  Task& task = now_.tasks[e.wakee.value];
  if (task.state == State::kRunning) {
    task.pending = false;
    return;
  }
  if (task.state == State::kQueued) return;
  task.standing = e.standing;
  task.cpu = e.target.value;
  if (!e.is_new) {
    for (Dispatch& dispatch : dispatches_) {
      if (dispatch.tid != e.wakee.value || dispatch.target >= 0) continue;
      dispatch.end = t;
      dispatch.target = e.target.value;
    }
  }
  Queue(e.wakee.value, t, true);
}

void Replay::OnSwitch(const SwitchEvent& e, int32_t cpu, int64_t t) {
  if (e.prev.value != 0) {
    Task& prev = now_.tasks[e.prev.value];
    prev.cpu = cpu;
    if (e.out == SwitchOut::kExited) {
      prev.state = State::kNone;
    } else if (prev.pending) {
      prev.state = State::kWaking;
      dispatches_.push_back({e.prev.value, t, 0, -1});
      prev.placed_at.reset();  // it was on_rq at its waking
    } else if (e.out == SwitchOut::kRunnable) {
      Queue(e.prev.value, t, false);
    } else if (e.out == SwitchOut::kThrottled) {
      prev.state = State::kThrottled;
      throttled_[e.prev.value] = t;
    } else {
      prev.state = State::kBlocked;
      asleep_[e.prev.value] =
          Sleep{e.prev.value, t, 0, e.prev_state, prev.last_in.value_or(-1), nullptr, 0};
    }
    prev.pending = false;
  }
  Cpu& on = now_.cpus[static_cast<size_t>(cpu)];
  on.tid = e.next.value;
  on.since = t;
  on.sched_class = e.next.value == 0 ? SchedClass::kIdle : e.next_standing.sched_class;
  on.priority = e.next_standing.rt_priority;
  on.life = 0;
  if (e.next.value == 0) return;
  Task& next = now_.tasks[e.next.value];
  EndThrottle(e.next.value, t, false);
  next.state = State::kRunning;
  next.cpu = cpu;
  on.life = next.life;
  next.last_in = t;
  next.last_in_cpu = cpu;
}

}  // namespace whylate::oracle
