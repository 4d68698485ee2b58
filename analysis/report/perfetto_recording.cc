#include "analysis/report/perfetto_recording.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "analysis/model/perfetto_facts.h"
#include "analysis/model/perfetto_fields.h"
#include "analysis/report/escape.h"
#include "analysis/report/perfetto_sched.h"
#include "analysis/report/perfetto_tracks.h"

namespace whylate {
namespace {

using protozero::pbf_writer;

void AnnotateFrames(const CellFrames& frames, DebugAnnotations& annotations) {
  annotations.Text(perfetto::kPacing, perfetto::WordOf(frames.pacing));
  annotations.Int(perfetto::kPeriodNs, frames.period.numerator_ns);
  annotations.Int(perfetto::kPeriodDenominator, frames.period.denominator);
  annotations.Int(perfetto::kOriginNs, frames.origin_ns);
  annotations.Bool(perfetto::kHasUnfinished, frames.has_unfinished);
  annotations.Int(perfetto::kFramesEndNs, frames.end_ns);
  if (frames.demand_ns.empty()) return;
  annotations.Array(perfetto::kDemandNs, [&](DebugAnnotations& array) {
    for (const int64_t demand_ns : frames.demand_ns) array.Int("", demand_ns);
  });
}

void AnnotateAllowed(absl::string_view name, const std::optional<CpuSet>& allowed,
                     DebugAnnotations& annotations) {
  if (allowed) annotations.Text(name, allowed->ToString());
}

void AnnotateStages(const std::vector<Stage>& stages, DebugAnnotations& annotations) {
  if (stages.empty()) return;
  annotations.Array(perfetto::kStages, [&](DebugAnnotations& array) {
    for (const Stage& stage : stages) {
      array.Dictionary("", [&](DebugAnnotations& entry) {
        entry.Text("name", perfetto::AsciiOfBytes(stage.name));
        entry.Int("tid", stage.tid.value);
        entry.Int("demand_ns", stage.demand_ns);
        AnnotateAllowed("allowed_before", stage.allowed_before, entry);
        AnnotateAllowed("allowed_after", stage.allowed_after, entry);
      });
    }
  });
}

void AnnotateTexts(absl::string_view name, const std::vector<std::string>& texts,
                   DebugAnnotations& annotations) {
  if (texts.empty()) return;
  annotations.Array(name, [&](DebugAnnotations& array) {
    for (const std::string& text : texts) array.Text("", perfetto::AsciiOfBytes(text));
  });
}

void AnnotateTrace(const TraceFacts& facts, DebugAnnotations& annotations) {
  annotations.Dictionary(perfetto::kTrace, [&](DebugAnnotations& entry) {
    entry.Text("source", perfetto::AsciiOfBytes(facts.source));
    entry.Uint("events", facts.events);
    entry.Uint("lost", facts.lost);
    entry.Uint("recursion_misses", facts.recursion_misses);
    entry.Bool("has_steal_clock", facts.has_steal_clock);
    entry.Bool("has_timers", facts.has_timers);
    entry.Bool("clocks_differ", !facts.comparable_clocks);
  });
}

void AnnotateMachine(const Recording& recording, DebugAnnotations& annotations) {
  annotations.Array(perfetto::kRoles, [&](DebugAnnotations& array) {
    for (const RoleAssignment& role : recording.roles) {
      array.Dictionary("", [&](DebugAnnotations& entry) {
        entry.Int("tgid", role.tgid.value);
        entry.Text("kind", perfetto::WordOf(role.role.kind));
        entry.Text("load", perfetto::AsciiOfBytes(role.role.load));
      });
    }
  });
  annotations.Array(perfetto::kCpus, [&](DebugAnnotations& array) {
    for (const CpuDescription& cpu : recording.cpus) {
      array.Dictionary("", [&](DebugAnnotations& entry) {
        entry.Int("cpu", cpu.cpu.value);
        entry.Bool("online", cpu.online);
        entry.Bool("isolated", cpu.isolated);
      });
    }
  });
}

void AnnotateStacks(const Recording& recording, DebugAnnotations& annotations) {
  if (recording.stacks.empty()) return;
  annotations.Array(perfetto::kStacks, [&](DebugAnnotations& array) {
    for (const std::vector<std::string>& stack : recording.stacks) {
      array.Array("", [&](DebugAnnotations& functions) {
        for (const std::string& name : stack) functions.Text("", perfetto::AsciiOfBytes(name));
      });
    }
  });
}

void AnnotateRecording(const Recording& recording, DebugAnnotations& annotations) {
  annotations.Uint(perfetto::kFormat, perfetto::kFormatVersion);
  annotations.Text(perfetto::kWorkload, perfetto::AsciiOfBytes(recording.workload));
  annotations.Text(perfetto::kLoad, perfetto::AsciiOfBytes(recording.load));
  annotations.Int(perfetto::kRun, recording.run);
  if (!recording.kernel.empty()) {
    annotations.Text(perfetto::kKernel, perfetto::AsciiOfBytes(recording.kernel));
  }
  AnnotateTexts(perfetto::kInvalid, recording.invalid, annotations);
  AnnotateTexts(perfetto::kNotes, recording.notes, annotations);
  AnnotateFrames(recording.frames, annotations);
  annotations.Int(perfetto::kWatchedTid, recording.watched.value);
  AnnotateStages(recording.frames.stages, annotations);
  AnnotateAllowed(perfetto::kAllowedBefore, recording.allowed_before, annotations);
  AnnotateAllowed(perfetto::kAllowedAfter, recording.allowed_after, annotations);
  annotations.Int(perfetto::kBeginNs, recording.begin_ns);
  annotations.Int(perfetto::kEndNs, recording.end_ns);
  if (recording.trace) AnnotateTrace(*recording.trace, annotations);
  AnnotateMachine(recording, annotations);
  AnnotateStacks(recording, annotations);
  annotations.Uint(perfetto::kFrameCount, recording.frames.frames.size());
  annotations.Uint(perfetto::kLossCount, recording.losses.size());
  annotations.Uint(perfetto::kOmittedCount, recording.omitted.size());
  annotations.Uint(perfetto::kEventCount, recording.events.size());
  annotations.Uint(perfetto::kStretchEvents, SchedEventWriter::kStretchEvents);
}

}  // namespace

void WriteRecordingFacts(const Recording& recording, PacketStream& packets) {
  packets.Track(kRootTrack, std::nullopt,
                absl::StrCat("whylate ", perfetto::AsciiOfBytes(recording.workload), " under ",
                             perfetto::AsciiOfBytes(recording.load)));
  packets.Instant(
      recording.begin_ns, kRootTrack, perfetto::kRecording,
      [&](DebugAnnotations& annotations) { AnnotateRecording(recording, annotations); });
}

void WriteSystem(const Recording& recording, PacketStream& packets) {
  if (recording.kernel.empty()) return;
  packets.Packet([&](pbf_writer& packet) {
    pbf_writer system(packet, perfetto::Packet::kSystemInfo);
    pbf_writer utsname(system, perfetto::SystemInfo::kUtsname);
    AddText(utsname, perfetto::Utsname::kSysname, "Linux");
    AddText(utsname, perfetto::Utsname::kRelease, perfetto::AsciiOfBytes(recording.kernel));
  });
}

void WriteProcessTree(const Recording& recording, PacketStream& packets) {
  // The last name of each: there it outranks those of the events.
  std::map<Tid, const TaskNameEvent*> tasks;
  for (const SchedEvent& event : recording.events) {
    const auto* name = std::get_if<TaskNameEvent>(&event.body);
    if (name != nullptr && name->tgid) tasks[name->task] = name;
  }
  if (tasks.empty()) return;
  packets.Packet([&](pbf_writer& packet) {
    pbf_writer tree(packet, perfetto::Packet::kProcessTree);
    for (const auto& [tid, task] : tasks) {
      const std::string name = EscapeForTerminal(task->name);
      if (task->tgid->value == tid.value) {
        pbf_writer process(tree, perfetto::ProcessTree::kProcesses);
        process.add_int32(perfetto::Process::kPid, tid.value);
        AddText(process, perfetto::Process::kCmdline, name);
        process.add_bool(perfetto::Process::kCmdlineIsComm, true);
        if (task->is_kernel_thread) process.add_bool(perfetto::Process::kIsKthread, true);
      }
      pbf_writer thread(tree, perfetto::ProcessTree::kThreads);
      thread.add_int32(perfetto::Thread::kTid, tid.value);
      thread.add_int32(perfetto::Thread::kTgid, task->tgid->value);
      AddText(thread, perfetto::Thread::kName, name);
    }
  });
}

void WriteLosses(const Recording& recording, PacketStream& packets) {
  std::set<CpuId> known;
  for (const LossInterval& loss : recording.losses) {
    if (known.insert(loss.cpu).second) {
      packets.Track(LossTrack(loss.cpu), kRootTrack,
                    absl::StrCat("events lost on CPU ", loss.cpu.value));
      packets.CounterTrack(LossCounterTrack(loss.cpu), kRootTrack,
                           absl::StrCat("lost events, CPU ", loss.cpu.value));
    }
    const int64_t end_ns = std::max(loss.begin_ns, loss.end_ns);
    packets.SliceBegin(loss.begin_ns, LossTrack(loss.cpu), "events lost",
                       [&](DebugAnnotations& annotations) {
                         annotations.Int(perfetto::kLossCpu, loss.cpu.value);
                         annotations.Int("begin_ns", loss.begin_ns);
                         annotations.Int("end_ns", loss.end_ns);
                         annotations.Uint("count", loss.count);
                       });
    packets.SliceEnd(end_ns, LossTrack(loss.cpu));
    packets.Counter(loss.begin_ns, LossCounterTrack(loss.cpu), static_cast<int64_t>(loss.count));
    packets.Counter(end_ns, LossCounterTrack(loss.cpu), 0);
  }
}

void WriteOmitted(const Recording& recording, PacketStream& packets) {
  if (recording.omitted.empty()) return;
  packets.Track(kOmittedTrack, kRootTrack, "not recorded");
  for (const OmittedInterval& omitted : recording.omitted) {
    packets.SliceBegin(omitted.begin_ns, kOmittedTrack, "not recorded",
                       [&](DebugAnnotations& annotations) {
                         annotations.Int(perfetto::kOmittedBeginNs, omitted.begin_ns);
                         annotations.Int("end_ns", omitted.end_ns);
                       });
    packets.SliceEnd(std::max(omitted.begin_ns, omitted.end_ns), kOmittedTrack);
  }
}

}  // namespace whylate
