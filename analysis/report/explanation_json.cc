#include "analysis/report/explanation_json.h"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace whylate {
namespace {

constexpr std::array kSegmentKinds = {
    SegmentKind::kLateRelease, SegmentKind::kWakeupDispatch, SegmentKind::kRunqueueWait,
    SegmentKind::kPreempted,   SegmentKind::kRunning,        SegmentKind::kBlocked,
    SegmentKind::kThrottled,   SegmentKind::kCarryOver,      SegmentKind::kUnknown};
constexpr std::array kBlockKinds = {BlockKind::kLock,  BlockKind::kIo,      BlockKind::kFault,
                                    BlockKind::kSleep, BlockKind::kStopped, BlockKind::kFrozen,
                                    BlockKind::kOther, BlockKind::kUnknown};
constexpr std::array kPartKinds = {PartKind::kNmi, PartKind::kIrq, PartKind::kSoftirq,
                                   PartKind::kSteal, PartKind::kSlow};
constexpr std::array kDecisions = {Decision::kRtBandwidth,    Decision::kIdleExit,
                                   Decision::kNotPreemptible, Decision::kHigherClass,
                                   Decision::kPlacement,      Decision::kMissedPull,
                                   Decision::kDisplaced,      Decision::kSlice,
                                   Decision::kNoPreempt,      Decision::kUndetermined};
constexpr std::array kClasses = {SchedClass::kStop, SchedClass::kDeadline, SchedClass::kRealTime,
                                 SchedClass::kFair, SchedClass::kExt,      SchedClass::kIdlePolicy,
                                 SchedClass::kIdle};
constexpr std::array kConfidences = {Confidence::kComplete, Confidence::kIncomplete};

template <typename Enum, size_t N>
Enum EnumOf(const std::array<Enum, N>& values, const std::string& name) {
  for (Enum value : values) {
    if (ToString(value) == name) return value;
  }
  throw std::invalid_argument(absl::StrCat("'", name, "' is no name of this schema"));
}

Json DecisionJson(const std::optional<Decision>& decision) {
  return decision ? Json(ToString(*decision)) : Json(nullptr);
}

std::optional<Decision> DecisionField(const Json& object) {
  const auto name = OptionalField<std::string>(object, "decision");
  if (!name) return std::nullopt;
  return EnumOf(kDecisions, *name);
}

Role RoleFromName(const std::string& name) {
  absl::string_view rest = name;
  if (absl::ConsumePrefix(&rest, "load:")) return Role{RoleKind::kLoad, std::string(rest)};
  for (RoleKind kind : {RoleKind::kWorkload, RoleKind::kKernel, RoleKind::kObserver,
                        RoleKind::kOther, RoleKind::kIdle}) {
    if (Role{kind, ""}.ToString() == name) return Role{kind, ""};
  }
  return Role{};
}

void AddStanding(const TaskStanding& standing, Json& row) {
  const bool known = standing.sched_class != SchedClass::kUnknown;
  row["class"] = known ? Json(ToString(standing.sched_class)) : Json(nullptr);
  row["rt_priority"] = OptionalJson(standing.rt_priority);
  row["nice"] = OptionalJson(standing.nice);
}

// Reports of versions that did not write it have no such keys.
TaskStanding StandingFromJson(const Json& row) {
  TaskStanding standing;
  const auto name = OptionalField<std::string>(row, "class");
  if (name) standing.sched_class = EnumOf(kClasses, *name);
  standing.rt_priority = OptionalField<int32_t>(row, "rt_priority");
  standing.nice = OptionalField<int32_t>(row, "nice");
  return standing;
}

Json PartsJson(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts) {
    Json row = {{"kind", ToString(part.kind)}, {"ns", part.ns}};
    if (part.prorated) row["prorated"] = true;
    if (!part.source.empty()) row["source"] = part.source;
    list.push_back(std::move(row));
  }
  return list;
}

std::vector<Part> PartsFromJson(const Json& list) {
  std::vector<Part> parts;
  for (const Json& row : list) {
    parts.push_back({EnumOf(kPartKinds, row.at("kind").get<std::string>()),
                     AmountFrom(row.at("ns")), row.value("prorated", false),
                     row.value("source", std::string())});
  }
  return parts;
}

Json OccupantJson(const Occupant& occupant, int64_t origin_ns) {
  Json row = {{"task", occupant.task},
              {"tid", occupant.tid ? Json(occupant.tid->value) : Json(nullptr)},
              {"role", occupant.role.ToString()},
              {"cpu", occupant.cpu ? Json(occupant.cpu->value) : Json(nullptr)},
              {"start_ns", occupant.start_ns - origin_ns},
              {"end_ns", occupant.end_ns - origin_ns},
              {"ns", occupant.end_ns - occupant.start_ns},
              {"decision", ToString(occupant.decision)},
              {"parts", PartsJson(occupant.parts)}};
  AddStanding(occupant.standing, row);
  return row;
}

Occupant OccupantFromJson(const Json& row, int64_t origin_ns) {
  Occupant occupant;
  occupant.task = row.at("task").get<std::string>();
  if (const auto tid = OptionalField<int32_t>(row, "tid")) occupant.tid = Tid{*tid};
  occupant.role = RoleFromName(row.at("role").get<std::string>());
  if (const auto cpu = OptionalField<int32_t>(row, "cpu")) occupant.cpu = CpuId{*cpu};
  occupant.start_ns = TimeFrom(row.at("start_ns"), origin_ns);
  occupant.end_ns = TimeFrom(row.at("end_ns"), origin_ns);
  occupant.decision = EnumOf(kDecisions, row.at("decision").get<std::string>());
  occupant.parts = PartsFromJson(row.at("parts"));
  occupant.standing = StandingFromJson(row);
  return occupant;
}

Json OccupantsJson(const std::vector<Occupant>& occupants, int64_t origin_ns) {
  Json list = Json::array();
  for (const Occupant& occupant : occupants) list.push_back(OccupantJson(occupant, origin_ns));
  return list;
}

std::vector<Occupant> OccupantsFromJson(const Json& list, int64_t origin_ns) {
  std::vector<Occupant> occupants;
  for (const Json& row : list) occupants.push_back(OccupantFromJson(row, origin_ns));
  return occupants;
}

Json TextJson(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json LinkJson(const ChainLink& link, int64_t origin_ns) {
  return {{"task", link.task},
          {"tid", link.tid ? Json(link.tid->value) : Json(nullptr)},
          {"role", link.role.ToString()},
          {"depth", link.depth},
          {"kind", ToString(link.kind)},
          {"block_kind",
           link.kind == SegmentKind::kBlocked ? Json(ToString(link.block_kind)) : Json(nullptr)},
          {"cpu", link.cpu ? Json(link.cpu->value) : Json(nullptr)},
          {"start_ns", link.start_ns - origin_ns},
          {"end_ns", link.end_ns - origin_ns},
          {"ns", link.end_ns - link.start_ns},
          {"parts", PartsJson(link.parts)},
          {"occupants", OccupantsJson(link.occupants, origin_ns)},
          {"decision", DecisionJson(link.decision)},
          {"waker", TextJson(link.waker)},
          {"reason", TextJson(link.reason)}};
}

ChainLink LinkFromJson(const Json& row, int64_t origin_ns) {
  ChainLink link;
  link.task = row.at("task").get<std::string>();
  if (const auto tid = OptionalField<int32_t>(row, "tid")) link.tid = Tid{*tid};
  link.role = RoleFromName(row.at("role").get<std::string>());
  link.depth = row.at("depth").get<int32_t>();
  link.kind = EnumOf(kSegmentKinds, row.at("kind").get<std::string>());
  if (const auto kind = OptionalField<std::string>(row, "block_kind")) {
    link.block_kind = EnumOf(kBlockKinds, *kind);
  }
  if (const auto cpu = OptionalField<int32_t>(row, "cpu")) link.cpu = CpuId{*cpu};
  link.start_ns = TimeFrom(row.at("start_ns"), origin_ns);
  link.end_ns = TimeFrom(row.at("end_ns"), origin_ns);
  link.parts = PartsFromJson(row.at("parts"));
  link.occupants = OccupantsFromJson(row.at("occupants"), origin_ns);
  link.decision = DecisionField(row);
  link.waker = OptionalField<std::string>(row, "waker").value_or("");
  link.reason = OptionalField<std::string>(row, "reason").value_or("");
  return link;
}

// What only sleeps and throttles have; reports of versions before have none of it.
void AddSleepFacts(const Segment& segment, int64_t origin_ns, Json& row) {
  if (segment.kind == SegmentKind::kBlocked) {
    row["block_kind"] = ToString(segment.block_kind);
    row["stack"] = segment.stack;
    Json& chain = row["chain"] = Json::array();
    for (const ChainLink& link : segment.chain) chain.push_back(LinkJson(link, origin_ns));
  }
  if (segment.kind == SegmentKind::kLateRelease) {
    const auto relative = [&](const std::optional<int64_t>& time_ns) {
      return time_ns ? Json(*time_ns - origin_ns) : Json(nullptr);
    };
    row["timer_expires_ns"] = relative(segment.timer_expires_ns);
    row["timer_fired_ns"] = relative(segment.timer_fired_ns);
  }
  if (segment.kind == SegmentKind::kThrottled) {
    row["group"] = TextJson(segment.group);
    row["quota_ns"] = OptionalJson(segment.quota_ns);
    row["period_ns"] = OptionalJson(segment.period_ns);
  }
}

void ReadSleepFacts(const Json& row, int64_t origin_ns, Segment* segment) {
  if (const auto kind = OptionalField<std::string>(row, "block_kind")) {
    segment->block_kind = EnumOf(kBlockKinds, *kind);
  }
  segment->stack = row.value("stack", std::vector<std::string>());
  if (const auto chain = row.find("chain"); chain != row.end()) {
    for (const Json& link : *chain) segment->chain.push_back(LinkFromJson(link, origin_ns));
  }
  const auto time = [&](const char* key) -> std::optional<int64_t> {
    const auto found = row.find(key);
    if (found == row.end() || found->is_null()) return std::nullopt;
    return TimeFrom(*found, origin_ns);
  };
  segment->timer_expires_ns = time("timer_expires_ns");
  segment->timer_fired_ns = time("timer_fired_ns");
  segment->group = OptionalField<std::string>(row, "group").value_or("");
  segment->quota_ns = OptionalField<int64_t>(row, "quota_ns");
  segment->period_ns = OptionalField<int64_t>(row, "period_ns");
}

}  // namespace

Json SegmentJson(const Segment& segment, int64_t origin_ns) {
  Json migrations = Json::array();
  for (const Migration& migration : segment.migrations) {
    migrations.push_back({{"from", migration.from.value},
                          {"to", migration.to.value},
                          {"time_ns", migration.time_ns - origin_ns}});
  }
  Json row = {{"kind", ToString(segment.kind)},
              {"start_ns", segment.start_ns - origin_ns},
              {"end_ns", segment.end_ns - origin_ns},
              {"cpu", segment.cpu ? Json(segment.cpu->value) : Json(nullptr)},
              {"parts", PartsJson(segment.parts)},
              {"occupants", OccupantsJson(segment.occupants, origin_ns)},
              {"avoidable_ns", segment.avoidable_ns},
              {"possibly_avoidable_ns", segment.possibly_avoidable_ns},
              {"not_balanced_ns", segment.not_balanced_ns},
              {"avoidable_sched_idle_ns", segment.avoidable_sched_idle_ns},
              {"migrations", std::move(migrations)},
              {"repaired", segment.repaired},
              {"decision", DecisionJson(segment.decision)},
              {"waker", TextJson(segment.waker)},
              {"reason", TextJson(segment.reason)}};
  AddSleepFacts(segment, origin_ns, row);
  AddStanding(segment.standing, row);
  if (segment.stage) {
    row["stage"] = {{"name", segment.stage->name}, {"tid", segment.stage->tid.value}};
  }
  return row;
}

namespace {

Segment SegmentFromJson(const Json& row, int64_t origin_ns) {
  Segment segment;
  segment.kind = EnumOf(kSegmentKinds, row.at("kind").get<std::string>());
  segment.start_ns = TimeFrom(row.at("start_ns"), origin_ns);
  segment.end_ns = TimeFrom(row.at("end_ns"), origin_ns);
  if (const auto cpu = OptionalField<int32_t>(row, "cpu")) segment.cpu = CpuId{*cpu};
  segment.parts = PartsFromJson(row.at("parts"));
  segment.occupants = OccupantsFromJson(row.at("occupants"), origin_ns);
  segment.avoidable_ns = AmountFrom(row.at("avoidable_ns"));
  segment.possibly_avoidable_ns = AmountFrom(row.at("possibly_avoidable_ns"));
  segment.not_balanced_ns = AmountFrom(row.at("not_balanced_ns"));
  segment.avoidable_sched_idle_ns = AmountFrom(row.at("avoidable_sched_idle_ns"));
  for (const Json& migration : row.at("migrations")) {
    segment.migrations.push_back({CpuId{migration.at("from").get<int32_t>()},
                                  CpuId{migration.at("to").get<int32_t>()},
                                  TimeFrom(migration.at("time_ns"), origin_ns)});
  }
  segment.repaired = row.at("repaired").get<bool>();
  segment.decision = DecisionField(row);
  segment.waker = OptionalField<std::string>(row, "waker").value_or("");
  segment.reason = OptionalField<std::string>(row, "reason").value_or("");
  ReadSleepFacts(row, origin_ns, &segment);
  segment.standing = StandingFromJson(row);
  if (const auto stage = row.find("stage"); stage != row.end()) {
    segment.stage = {stage->at("name").get<std::string>(), Tid{stage->at("tid").get<int32_t>()}};
  }
  return segment;
}

}  // namespace

Json VerdictJson(const Verdict& verdict) {
  Json row = {{"subject", verdict.subject},
              {"subjects", verdict.subjects},
              {"kind", verdict.kind},
              {"decision", DecisionJson(verdict.decision)},
              {"sufficient", verdict.sufficient},
              {"margin_ns", verdict.margin_ns},
              {"confidence", ToString(verdict.confidence)},
              {"repaired_ns", verdict.repaired_ns}};
  if (!verdict.stage.empty()) row["stage"] = verdict.stage;
  return row;
}

namespace {

Verdict VerdictFromJson(const Json& row) {
  Verdict verdict;
  verdict.subject = row.at("subject").get<std::string>();
  verdict.subjects = row.at("subjects").get<std::vector<std::string>>();
  verdict.kind = row.at("kind").get<std::string>();
  verdict.decision = DecisionField(row);
  verdict.sufficient = row.at("sufficient").get<bool>();
  verdict.margin_ns = AmountFrom(row.at("margin_ns"));
  verdict.confidence = EnumOf(kConfidences, row.at("confidence").get<std::string>());
  verdict.repaired_ns = AmountFrom(row.at("repaired_ns"));
  verdict.stage = OptionalField<std::string>(row, "stage").value_or("");
  return verdict;
}

Miss MissFromJson(const Json& row, int64_t origin_ns) {
  Miss miss;
  miss.frame.index = AmountFrom(row.at("frame"));
  miss.frame.release_ns = TimeFrom(row.at("release_ns"), origin_ns);
  miss.frame.start_ns = TimeFrom(row.at("start_ns"), origin_ns);
  miss.frame.completion_ns = TimeFrom(row.at("completion_ns"), origin_ns);
  miss.deadline_ns = TimeFrom(row.at("deadline_ns"), origin_ns);
  miss.dropped = AmountFrom(row.at("dropped"));
  for (const Json& segment : row.at("segments")) {
    miss.segments.push_back(SegmentFromJson(segment, origin_ns));
  }
  if (!row.at("verdict").is_null()) miss.verdict = VerdictFromJson(row.at("verdict"));
  return miss;
}

Json TraceJson(const std::optional<TraceTotals>& trace) {
  if (!trace) return nullptr;
  return {{"source", trace->source},
          {"events", trace->events},
          {"lost", trace->lost},
          {"breaks", trace->breaks},
          {"repaired_ns", trace->repaired_ns},
          {"recursion_misses", trace->recursion_misses},
          {"has_steal_clock", trace->has_steal_clock}};
}

TraceTotals TraceFromJson(const Json& row) {
  TraceTotals trace;
  trace.source = row.at("source").get<std::string>();
  trace.events = row.at("events").get<uint64_t>();
  trace.lost = row.at("lost").get<uint64_t>();
  trace.breaks = row.at("breaks").get<uint64_t>();
  trace.repaired_ns = AmountFrom(row.at("repaired_ns"));
  trace.recursion_misses = row.at("recursion_misses").get<uint64_t>();
  trace.has_steal_clock = row.value("has_steal_clock", false);
  return trace;
}

}  // namespace

Json MissJson(const Miss& miss, int64_t origin_ns) {
  Json segments = Json::array();
  for (const Segment& segment : miss.segments) segments.push_back(SegmentJson(segment, origin_ns));
  return {{"frame", miss.frame.index},
          {"release_ns", miss.frame.release_ns - origin_ns},
          {"start_ns", miss.frame.start_ns - origin_ns},
          {"completion_ns", miss.frame.completion_ns - origin_ns},
          {"deadline_ns", miss.deadline_ns - origin_ns},
          {"dropped", miss.dropped},
          {"segments", std::move(segments)},
          {"verdict", miss.verdict ? VerdictJson(*miss.verdict) : Json(nullptr)}};
}

void AddRows(const std::vector<CauseRow>& causes, const std::vector<SubjectRow>& subjects,
             Json& object) {
  Json& cause_rows = object["causes"] = Json::array();
  for (const CauseRow& cause : causes) {
    cause_rows.push_back({{"subject", cause.subject},
                          {"kind", cause.kind},
                          {"decision", DecisionJson(cause.decision)},
                          {"frames", cause.frames},
                          {"frames_incomplete", cause.frames_incomplete},
                          {"ns", cause.ns}});
  }
  Json& subject_rows = object["subjects"] = Json::array();
  for (const SubjectRow& subject : subjects) {
    subject_rows.push_back({{"subject", subject.subject},
                            {"frames", subject.frames},
                            {"frames_incomplete", subject.frames_incomplete},
                            {"frames_saved", subject.frames_saved},
                            {"ns", subject.ns}});
  }
}

Json DelayJson(const DelayTotals& delay, int64_t duration_ns) {
  return {{"late_ns", delay.late_ns},
          {"unknown_ns", delay.unknown_ns},
          {"wait_ns", delay.wait_ns},
          {"avoidable_ns", delay.avoidable_ns},
          {"possibly_avoidable_ns", delay.possibly_avoidable_ns},
          {"avoidable_ms_per_minute", delay.AvoidableMsPerMinute(duration_ns)}};
}

void AddExplanation(const Explanation& explanation, const CellFrames& frames, Json& cell) {
  cell["trace"] = TraceJson(explanation.trace);
  Json& misses = cell["misses"] = Json::array();
  for (const Miss& miss : explanation.misses) misses.push_back(MissJson(miss, frames.origin_ns));
  AddRows(explanation.causes, explanation.subjects, cell);
  Json& changes = cell["changes"] = Json::array();
  for (const Change& change : explanation.changes) {
    changes.push_back({{"time_ns", change.time_ns - frames.origin_ns},
                       {"task", change.task},
                       {"what", change.what},
                       {"from", TextJson(change.from)},
                       {"to", change.to},
                       {"by", TextJson(change.by)}});
  }
  cell["delay"] = nullptr;
  const int64_t duration_ns = frames.end_ns - frames.origin_ns;
  if (!explanation.trace || duration_ns <= 0) return;
  cell["delay"] = DelayJson(TotalDelay(explanation.misses), duration_ns);
}

Explanation ExplanationFromJson(const Json& cell, int64_t origin_ns) {
  Explanation explanation;
  if (!cell.at("trace").is_null()) explanation.trace = TraceFromJson(cell.at("trace"));
  for (const Json& row : cell.at("misses")) {
    explanation.misses.push_back(MissFromJson(row, origin_ns));
  }
  for (const Json& row : cell.at("causes")) {
    explanation.causes.push_back(
        {row.at("subject").get<std::string>(), row.at("kind").get<std::string>(),
         DecisionField(row), AmountFrom(row.at("frames")), AmountFrom(row.at("frames_incomplete")),
         AmountFrom(row.at("ns"))});
  }
  for (const Json& row : cell.at("subjects")) {
    explanation.subjects.push_back({row.at("subject").get<std::string>(),
                                    AmountFrom(row.at("frames")),
                                    AmountFrom(row.at("frames_incomplete")),
                                    AmountFrom(row.at("frames_saved")), AmountFrom(row.at("ns"))});
  }
  if (const auto changes = cell.find("changes"); changes != cell.end()) {
    for (const Json& row : *changes) {
      explanation.changes.push_back(
          {TimeFrom(row.at("time_ns"), origin_ns), row.at("task").get<std::string>(),
           row.at("what").get<std::string>(), OptionalField<std::string>(row, "from").value_or(""),
           row.at("to").get<std::string>(), OptionalField<std::string>(row, "by").value_or("")});
    }
  }
  return explanation;
}

}  // namespace whylate
