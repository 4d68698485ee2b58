#include "analysis/attribution/activations.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "analysis/attribution/activation_spans.h"
#include "analysis/attribution/cast.h"
#include "analysis/attribution/explain.h"
#include "analysis/attribution/frame_explainer.h"
#include "analysis/timeline/timeline.h"

namespace whylate {
namespace {

bool CountsAsWait(SegmentKind kind) {
  return kind == SegmentKind::kWakeupDispatch || kind == SegmentKind::kRunqueueWait ||
         kind == SegmentKind::kPreempted;
}

int64_t WaitNs(const std::vector<Segment>& segments) {
  int64_t ns = 0;
  for (const Segment& segment : segments) {
    if (CountsAsWait(segment.kind)) ns += segment.end_ns - segment.start_ns;
  }
  return ns;
}

bool KnownUntilItRan(const std::vector<Segment>& segments) {
  for (const Segment& segment : segments) {
    if (segment.kind == SegmentKind::kUnknown) return false;
    if (segment.kind == SegmentKind::kRunning) break;
  }
  return true;
}

// A sorts before B: longest wait first, then in order of time.
bool IsWorse(const Activation& a, const Activation& b) {
  return std::tuple(-a.wait_ns, a.start_ns, a.tid) < std::tuple(-b.wait_ns, b.start_ns, b.tid);
}

class SubjectTally {
 public:
  void Add(const std::string& subject, int64_t ns) { ns_[subject] += ns; }
  std::vector<SubjectWait> Rows() const {
    std::vector<SubjectWait> rows;
    for (const auto& [subject, ns] : ns_) {
      if (ns > 0) rows.push_back({subject, ns});
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const SubjectWait& a, const SubjectWait& b) { return a.ns > b.ns; });
    return rows;
  }

 private:
  std::map<std::string, int64_t> ns_;
};

bool IsMore(const ActivationRow& a, const ActivationRow& b) {
  return std::tuple(-a.longest_wait_ns, -a.wait_ns, a.tid) <
         std::tuple(-b.longest_wait_ns, -b.wait_ns, b.tid);
}

// The N worst of all activations, by what their spans say.
class Worst {
 public:
  explicit Worst(size_t most) : most_(most) {}

  void Add(const ActivationSpan& span, bool late) {
    if (most_ == 0) return;
    Ranked ranked{late, span};
    if (ranked_.size() == most_) {
      if (!Precedes(ranked, ranked_.front())) return;
      std::pop_heap(ranked_.begin(), ranked_.end(), Precedes);
      ranked_.pop_back();
    }
    ranked_.push_back(ranked);
    std::push_heap(ranked_.begin(), ranked_.end(), Precedes);
  }

  std::vector<ActivationSpan> Take() {
    std::sort_heap(ranked_.begin(), ranked_.end(), Precedes);
    std::vector<ActivationSpan> spans;
    for (const Ranked& ranked : ranked_) spans.push_back(ranked.span);
    return spans;
  }

 private:
  struct Ranked {
    bool late = false;
    ActivationSpan span;
  };
  // Late ones first, then the longest wait; the heap's front is the least of those kept.
  static bool Precedes(const Ranked& a, const Ranked& b) {
    return std::tuple(!a.late, -a.span.wait_ns, a.span.start_ns, a.span.task) <
           std::tuple(!b.late, -b.span.wait_ns, b.span.start_ns, b.span.task);
  }

  const size_t most_;
  std::vector<Ranked> ranked_;
};

class Analyzer {
 public:
  Analyzer(const Recording& recording, const ActivationOptions& options)
      : recording_(recording),
        options_(options),
        timeline_(recording),
        cast_(timeline_),
        explainer_(timeline_, cast_),
        worst_(options.worst) {
    int32_t tid = 0;
    if (absl::SimpleAtoi(options.task, &tid)) tid_ = Tid{tid};
    if (options.task.empty() && !recording.frames.frames.empty()) tid_ = recording.watched;
  }

  Analysis Run() {
    for (size_t task = kIdleTask + 1; task < timeline_.tasks().size(); ++task) {
      AddTask(static_cast<TaskIndex>(task));
    }
    std::sort(analysis_.tasks.begin(), analysis_.tasks.end(), IsMore);
    for (const ActivationSpan& span : worst_.Take()) {
      analysis_.activations.push_back(Explain(span));
    }
    std::sort(analysis_.activations.begin(), analysis_.activations.end(), IsWorse);
    analysis_.subjects = subjects_.Rows();
    if (recording_.trace.has_value()) analysis_.trace = TraceTotalsOf(timeline_);
    return std::move(analysis_);
  }

 private:
  bool IsAskedFor(const ActivationSpan& span) const {
    if (options_.task.empty() && !tid_.has_value()) return true;
    if (tid_.has_value() && timeline_.tasks().info(span.task).key.tid == *tid_) return true;
    return cast_.NameOf(span.task, span.start_ns) == options_.task;
  }

  std::optional<bool> IsLate(const ActivationSpan& span) const {
    if (!options_.deadline_ns.has_value()) return std::nullopt;
    const bool late = span.end_ns - span.start_ns > *options_.deadline_ns;
    // One that goes on unseen may become late yet.
    if (!late && !span.finished) return std::nullopt;
    return late;
  }

  void AddTask(TaskIndex task) {
    ActivationRow row;
    for (const ActivationSpan& span : FindActivations(timeline_, task)) {
      if (!IsAskedFor(span)) continue;
      const bool late = IsLate(span).value_or(false);
      if (row.activations == 0 || span.wait_ns > row.longest_wait_ns) {
        row.task = cast_.NameOf(task, span.start_ns);
        row.longest_wait_ns = span.wait_ns;
      }
      ++row.activations;
      row.late += late ? 1 : 0;
      row.wait_ns += span.wait_ns;
      worst_.Add(span, late);
    }
    if (row.activations == 0) return;
    row.tid = timeline_.tasks().info(task).key.tid;
    analysis_.total += row.activations;
    analysis_.late += row.late;
    analysis_.tasks.push_back(std::move(row));
  }

  int64_t RanNs(const ActivationSpan& span) const {
    const Interval window{span.start_ns, span.end_ns};
    int64_t ns = 0;
    for (const TaskSpan& part : timeline_.spans().SpansIn(span.task, window)) {
      if (part.state != TaskState::kRunning) continue;
      ns += Intersection(part.interval(), window).LengthNs();
    }
    return ns;
  }

  // It goes on where nobody sees it: a wait that came before is not all of it.
  bool EndsUnseen(const ActivationSpan& span) const {
    if (span.finished) return false;
    const TaskSpan* next = timeline_.spans().SpanAt(span.task, span.end_ns);
    return next != nullptr && next->state == TaskState::kUnknown;
  }

  Activation Explain(const ActivationSpan& span) {
    FrameQuestion question;
    question.task = span.task;
    question.release_ns = span.start_ns;
    question.completion_ns = span.end_ns;
    question.demand_ns = RanNs(span);
    question.deadline_ns = span.start_ns + options_.deadline_ns.value_or(question.demand_ns);
    question.ask = options_.deadline_ns.has_value() ? Ask::kEnough : Ask::kLargest;
    question.completed = span.finished;
    FrameAnswer answer = explainer_.Explain(question);

    Activation activation;
    activation.task = cast_.NameOf(span.task, span.start_ns);
    activation.tid = timeline_.tasks().info(span.task).key.tid;
    activation.start_ns = span.start_ns;
    activation.end_ns = span.end_ns;
    activation.finished = span.finished;
    activation.waking_ns = span.waking_ns;
    activation.running_ns = span.running_ns;
    if (options_.deadline_ns.has_value()) activation.deadline_ns = question.deadline_ns;
    activation.late = IsLate(span);
    activation.wait_ns = WaitNs(answer.segments);
    activation.wait_known = span.waking_ns.has_value() && KnownUntilItRan(answer.segments);
    activation.segments = std::move(answer.segments);
    for (const Charge& charge : answer.delay.charges) {
      if (CountsAsWait(charge.kind)) subjects_.Add(charge.subject, charge.ns);
    }
    const bool asks =
        options_.deadline_ns.has_value() ? activation.late.value_or(false) : activation.wait_ns > 0;
    if (!asks) return activation;
    activation.verdict = std::move(answer.verdict);
    const bool missed = recording_.trace.has_value() && recording_.trace->recursion_misses > 0;
    if (missed || EndsUnseen(span)) {
      activation.verdict->confidence = Confidence::kIncomplete;
    }
    return activation;
  }

  const Recording& recording_;
  const ActivationOptions& options_;
  const Timeline timeline_;
  const Cast cast_;
  const FrameExplainer explainer_;
  std::optional<Tid> tid_;
  Worst worst_;
  SubjectTally subjects_;
  Analysis analysis_;
};

// Its last one.
std::string WatchedName(const Recording& recording) {
  std::string name = absl::StrCat("tid ", recording.watched.value);
  for (const SchedEvent& event : recording.events) {
    const auto* binding = std::get_if<TaskNameEvent>(&event.body);
    if (binding != nullptr && binding->task == recording.watched) name = binding->name;
  }
  return name;
}

Activation FromMiss(const Miss& miss, const Recording& recording, const std::string& name) {
  Activation activation;
  activation.task = name;
  activation.tid = recording.watched;
  activation.start_ns = miss.frame.release_ns;
  activation.end_ns = miss.frame.completion_ns;
  activation.finished = true;
  activation.deadline_ns = miss.deadline_ns;
  activation.late = true;
  activation.segments = miss.segments;
  activation.wait_ns = WaitNs(miss.segments);
  activation.wait_known = KnownUntilItRan(miss.segments);
  activation.verdict = miss.verdict;
  for (const Segment& segment : miss.segments) {
    const bool woken =
        segment.kind == SegmentKind::kWakeupDispatch || segment.kind == SegmentKind::kRunqueueWait;
    if (woken && !activation.waking_ns.has_value()) activation.waking_ns = segment.start_ns;
    if (segment.kind == SegmentKind::kRunning) {
      activation.running_ns = segment.start_ns;
      break;
    }
  }
  return activation;
}

// Of our own recordings.
Analysis OfFrames(const Recording& recording, const std::string& watched, size_t worst) {
  const Explanation explanation = Explain(recording);
  Analysis analysis;
  analysis.of_frames = true;
  ActivationRow row;
  row.task = watched;
  row.tid = recording.watched;
  row.activations = static_cast<int64_t>(recording.frames.frames.size());
  for (const Miss& miss : explanation.misses) {
    Activation activation = FromMiss(miss, recording, row.task);
    ++row.late;
    row.wait_ns += activation.wait_ns;
    row.longest_wait_ns = std::max(row.longest_wait_ns, activation.wait_ns);
    analysis.activations.push_back(std::move(activation));
  }
  std::sort(analysis.activations.begin(), analysis.activations.end(), IsWorse);
  if (analysis.activations.size() > worst) analysis.activations.resize(worst);
  SubjectTally subjects;
  for (const SubjectRow& subject : explanation.subjects) subjects.Add(subject.subject, subject.ns);
  analysis.subjects = subjects.Rows();
  analysis.total = row.activations;
  analysis.late = row.late;
  analysis.tasks.push_back(std::move(row));
  analysis.trace = explanation.trace;
  return analysis;
}

bool IsTask(const std::string& asked, Tid task, const std::string& name) {
  int32_t tid = 0;
  return (absl::SimpleAtoi(asked, &tid) && Tid{tid} == task) || asked == name;
}

}  // namespace

Analysis AnalyzeActivations(const Recording& recording, const ActivationOptions& options) {
  // Whether the frames answer what is asked.
  if (!recording.frames.frames.empty() && !options.deadline_ns.has_value()) {
    const std::string watched = WatchedName(recording);
    if (options.task.empty() || IsTask(options.task, recording.watched, watched)) {
      return OfFrames(recording, watched, options.worst);
    }
  }
  return Analyzer(recording, options).Run();
}

}  // namespace whylate
