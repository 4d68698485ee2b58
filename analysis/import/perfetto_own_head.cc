#include "analysis/import/perfetto_own_head.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/perfetto_facts.h"
#include "analysis/model/perfetto_fields.h"
#include "analysis/model/status_macros.h"

namespace whylate {
namespace {

using Annotations = std::vector<Annotation>;

uint64_t CountOf(const Annotations& annotations, absl::string_view name) {
  return static_cast<uint64_t>(NumberOf(annotations, name));
}

std::string BytesField(const Annotations& annotations, absl::string_view name) {
  return perfetto::BytesOfAscii(TextOf(annotations, name));
}

std::vector<std::string> TextsIn(const Annotation& array) {
  std::vector<std::string> texts;
  for (const Annotation& text : array.children) texts.push_back(perfetto::BytesOfAscii(text.text));
  return texts;
}

std::vector<std::string> TextsOf(const Annotations& annotations, absl::string_view name) {
  const Annotation* array = Find(annotations, name);
  return array == nullptr ? std::vector<std::string>() : TextsIn(*array);
}

absl::Status ReadAllowed(const Annotations& annotations, absl::string_view name,
                         std::optional<CpuSet>* allowed) {
  const Annotation* annotation = Find(annotations, name);
  if (annotation == nullptr) return absl::OkStatus();
  *allowed = CpuSet();
  if (annotation->text.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(*allowed, CpuSet::Parse(annotation->text));
  return absl::OkStatus();
}

absl::Status ReadStages(const Annotations& annotations, std::vector<Stage>* stages) {
  const Annotation* array = Find(annotations, perfetto::kStages);
  if (array == nullptr) return absl::OkStatus();
  if (array->children.size() > kMostStages) {
    return absl::InvalidArgumentError(
        absl::StrCat("the recording's frames go through ", array->children.size(), " stages"));
  }
  for (const Annotation& entry : array->children) {
    Stage& stage = stages->emplace_back();
    stage.name = BytesField(entry.children, "name");
    stage.tid = Tid{static_cast<int32_t>(NumberOf(entry.children, "tid"))};
    stage.demand_ns = NumberOf(entry.children, "demand_ns");
    RETURN_IF_ERROR(ReadAllowed(entry.children, "allowed_before", &stage.allowed_before));
    RETURN_IF_ERROR(ReadAllowed(entry.children, "allowed_after", &stage.allowed_after));
  }
  return absl::OkStatus();
}

absl::Status ReadCell(const Annotations& annotations, CellFrames* frames) {
  const std::optional<Pacing> pacing = perfetto::PacingOf(TextOf(annotations, perfetto::kPacing));
  if (!pacing) return absl::InvalidArgumentError("the recording's pacing is none that is known");
  frames->pacing = *pacing;
  frames->period.numerator_ns = NumberOf(annotations, perfetto::kPeriodNs);
  frames->period.denominator = NumberOf(annotations, perfetto::kPeriodDenominator);
  frames->origin_ns = NumberOf(annotations, perfetto::kOriginNs);
  frames->has_unfinished = NumberOf(annotations, perfetto::kHasUnfinished) != 0;
  frames->end_ns = NumberOf(annotations, perfetto::kFramesEndNs);
  if (const Annotation* demands = Find(annotations, perfetto::kDemandNs)) {
    for (const Annotation& demand : demands->children) frames->demand_ns.push_back(demand.value);
  }
  return ReadStages(annotations, &frames->stages);
}

TraceFacts ReadTrace(const Annotations& facts) {
  TraceFacts trace;
  trace.source = BytesField(facts, "source");
  trace.events = CountOf(facts, "events");
  trace.lost = CountOf(facts, "lost");
  trace.recursion_misses = CountOf(facts, "recursion_misses");
  trace.has_steal_clock = NumberOf(facts, "has_steal_clock") != 0;
  trace.has_timers = NumberOf(facts, "has_timers") != 0;
  trace.comparable_clocks = NumberOf(facts, "clocks_differ") == 0;
  return trace;
}

absl::Status ReadMachine(const Annotations& annotations, Recording* recording) {
  if (const Annotation* roles = Find(annotations, perfetto::kRoles)) {
    for (const Annotation& role : roles->children) {
      const std::optional<RoleKind> kind = perfetto::RoleKindOf(TextOf(role.children, "kind"));
      if (!kind) return absl::InvalidArgumentError("the recording has a role that is not known");
      recording->roles.push_back({Tgid{static_cast<int32_t>(NumberOf(role.children, "tgid"))},
                                  Role{*kind, BytesField(role.children, "load")}});
    }
  }
  if (const Annotation* cpus = Find(annotations, perfetto::kCpus)) {
    for (const Annotation& cpu : cpus->children) {
      const int64_t number = NumberOf(cpu.children, "cpu");
      if (number < 0 || number >= CpuSet::kMaxCpus) {
        return absl::InvalidArgumentError(absl::StrCat("the recording has a CPU ", number));
      }
      recording->cpus.push_back({CpuId{static_cast<int32_t>(number)},
                                 NumberOf(cpu.children, "online") != 0,
                                 NumberOf(cpu.children, "isolated") != 0});
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadOwnHead(const Annotations& annotations, Recording* recording, OwnCounts* counts) {
  const uint64_t version = CountOf(annotations, perfetto::kFormat);
  if (version != perfetto::kFormatVersion) {
    return absl::InvalidArgumentError(absl::StrCat("a whylate recording of format ", version,
                                                   "; this whylate reads format ",
                                                   perfetto::kFormatVersion));
  }
  recording->workload = BytesField(annotations, perfetto::kWorkload);
  recording->load = BytesField(annotations, perfetto::kLoad);
  recording->run = static_cast<int32_t>(NumberOf(annotations, perfetto::kRun));
  recording->kernel = BytesField(annotations, perfetto::kKernel);
  recording->invalid = TextsOf(annotations, perfetto::kInvalid);
  recording->notes = TextsOf(annotations, perfetto::kNotes);
  RETURN_IF_ERROR(ReadCell(annotations, &recording->frames));
  recording->watched = Tid{static_cast<int32_t>(NumberOf(annotations, perfetto::kWatchedTid))};
  RETURN_IF_ERROR(ReadAllowed(annotations, perfetto::kAllowedBefore, &recording->allowed_before));
  RETURN_IF_ERROR(ReadAllowed(annotations, perfetto::kAllowedAfter, &recording->allowed_after));
  recording->begin_ns = NumberOf(annotations, perfetto::kBeginNs);
  recording->end_ns = NumberOf(annotations, perfetto::kEndNs);
  if (const Annotation* trace = Find(annotations, perfetto::kTrace)) {
    recording->trace = ReadTrace(trace->children);
  }
  RETURN_IF_ERROR(ReadMachine(annotations, recording));
  if (const Annotation* stacks = Find(annotations, perfetto::kStacks)) {
    for (const Annotation& stack : stacks->children) recording->stacks.push_back(TextsIn(stack));
  }
  counts->frames = CountOf(annotations, perfetto::kFrameCount);
  counts->losses = CountOf(annotations, perfetto::kLossCount);
  counts->omitted = CountOf(annotations, perfetto::kOmittedCount);
  counts->events = CountOf(annotations, perfetto::kEventCount);
  counts->stretch_events = std::max<uint64_t>(1, CountOf(annotations, perfetto::kStretchEvents));
  return absl::OkStatus();
}

absl::Status CheckFrames(const CellFrames& frames) {
  using Wide = __int128;
  constexpr int64_t kMaxDenominator = 1'000'000;
  constexpr int64_t kMaxReleases = 1'000'000'000;  // eleven days at 1 kHz
  constexpr Wide kMost = Wide{1} << 62;
  const absl::Status refused =
      absl::InvalidArgumentError("the recording's period, or a frame's time, cannot be");
  const Period& period = frames.period;
  if (period.denominator < 1 || period.denominator > kMaxDenominator) return refused;
  if (frames.pacing == Pacing::kBackToBack) return absl::OkStatus();
  const bool nothing_due = frames.frames.empty() && frames.end_ns <= frames.origin_ns;
  if (nothing_due && period.numerator_ns == 0) return absl::OkStatus();
  const auto magnitude = [](Wide value) { return value < 0 ? -value : value; };
  // The model multiplies in 64 bits: a span by the denominator, an index by the numerator.
  const auto is_good = [&](int64_t time_ns) {
    const Wide scaled = magnitude(Wide{time_ns} - frames.origin_ns) * period.denominator;
    return scaled + 2 * Wide{period.numerator_ns} < kMost &&
           scaled / period.numerator_ns <= kMaxReleases;
  };
  if (period.numerator_ns < 1 || magnitude(frames.origin_ns) >= kMost) return refused;
  if (!nothing_due && frames.end_ns > frames.origin_ns && !is_good(frames.end_ns)) return refused;
  for (const Frame& frame : frames.frames) {
    const Wide scaled_index = (magnitude(frame.index) + 2) * period.numerator_ns;
    if (scaled_index >= kMost || !is_good(frame.release_ns) || !is_good(frame.completion_ns)) {
      return refused;
    }
  }
  return absl::OkStatus();
}

}  // namespace whylate
