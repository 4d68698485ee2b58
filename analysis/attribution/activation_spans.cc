#include "analysis/attribution/activation_spans.h"

#include <algorithm>
#include <variant>

#include "analysis/model/sched_event.h"
#include "analysis/timeline/task_spans.h"

namespace whylate {
namespace {

// A wait whose beginning is known.
bool IsWait(const TaskSpan& span) {
  return span.state == TaskState::kWaking ||
         (span.state == TaskState::kQueued && span.queued_by != QueuedBy::kUnknown);
}

class Scan {
 public:
  Scan(const Timeline& timeline, TaskIndex task) : timeline_(timeline), task_(task) {}

  std::vector<ActivationSpan> Run() {
    for (const TaskSpan& span : timeline_.spans().Spans(task_)) Add(span);
    if (open_.has_value()) CloseLast();
    return std::move(found_);
  }

 private:
  void Add(const TaskSpan& span) {
    switch (span.state) {
      case TaskState::kWaking:
      case TaskState::kQueued:
        AddWait(span);
        break;
      case TaskState::kRunning:
        if (!open_.has_value()) Open(span.start_ns, WokenAndRunAtOnce(span));
        if (!open_->running_ns.has_value() && span.in_event != kNoEvent) {
          open_->running_ns = span.start_ns;
        }
        run_out_event_ = span.out_event;
        return;
      case TaskState::kThrottled:  // against its will
        break;
      case TaskState::kBlocked:
      case TaskState::kExited:
        Close(span.start_ns, /*finished=*/true);
        if (span.state == TaskState::kBlocked) slept_until_ns_ = span.end_ns;
        break;
      case TaskState::kUnknown:
        Close(span.start_ns, WentToSleep());
        break;
    }
    run_out_event_ = kNoEvent;
  }

  // Nothing lies between its sleep and its run where it was woken at the same time.
  std::optional<int64_t> WokenAndRunAtOnce(const TaskSpan& running) const {
    return slept_until_ns_ == running.start_ns ? slept_until_ns_ : std::nullopt;
  }

  void AddWait(const TaskSpan& span) {
    const bool overtook_the_sleep = span.state == TaskState::kWaking && span.out_event != kNoEvent;
    if (overtook_the_sleep) Close(span.start_ns, /*finished=*/true);
    if (!IsWait(span)) return;
    if (!open_.has_value()) {
      // Preempted as the first thing that is known of it: awake since nobody knows when.
      std::optional<int64_t> waking_ns;
      if (span.queued_by != QueuedBy::kSwitchOut) {
        waking_ns = span.waking_event == kNoEvent ? span.start_ns
                                                  : timeline_.event(span.waking_event).time_ns;
      }
      Open(waking_ns.value_or(span.start_ns), waking_ns);
    }
    open_->wait_ns += span.end_ns - span.start_ns;
  }

  // The switch-out before an unknown stretch says why the task left its CPU.
  bool WentToSleep() const {
    if (run_out_event_ == kNoEvent) return false;
    const auto* out = std::get_if<SwitchEvent>(&timeline_.event(run_out_event_).body);
    return out != nullptr && IsVoluntary(out->out);
  }
  static bool IsVoluntary(SwitchOut out) {
    return out == SwitchOut::kBlocked || out == SwitchOut::kExited;
  }

  // What happens at the very end of the recording begins no span.
  void CloseLast() {
    const auto& events = timeline_.events();
    const int64_t end_ns = timeline_.bounds().end_ns;
    bool finished = false;
    for (size_t i = events.size(); i-- > 0 && events[i]->time_ns == end_ns;) {
      const auto* switched = std::get_if<SwitchEvent>(&events[i]->body);
      if (switched == nullptr) continue;
      const bool first_in = timeline_.cpus().NextOf(i) == task_ && !open_->running_ns.has_value();
      if (first_in) open_->running_ns = end_ns;
      if (timeline_.cpus().PrevOf(i) == task_ && IsVoluntary(switched->out)) {
        finished = true;
      }
    }
    Close(end_ns, finished);
  }

  void Open(int64_t start_ns, std::optional<int64_t> waking_ns) {
    open_.emplace();
    open_->task = task_;
    open_->start_ns = start_ns;
    open_->waking_ns = waking_ns;
  }

  void Close(int64_t end_ns, bool finished) {
    if (!open_.has_value()) return;
    open_->end_ns = end_ns;
    open_->finished = finished;
    found_.push_back(*open_);
    open_.reset();
  }

  const Timeline& timeline_;
  const TaskIndex task_;
  std::optional<ActivationSpan> open_;
  std::optional<int64_t> slept_until_ns_;
  int32_t run_out_event_ = kNoEvent;  // that ended the running span before
  std::vector<ActivationSpan> found_;
};

}  // namespace

std::vector<ActivationSpan> FindActivations(const Timeline& timeline, TaskIndex task) {
  return Scan(timeline, task).Run();
}

}  // namespace whylate
