#include "userspace/selftest/stamps.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/workload/work.h"

namespace whylate {
namespace {

constexpr int64_t kStamps = 65536;

// Of the calling thread, by the kernel's own count.
int64_t ContextSwitches() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

// `until_ns` by the clock and `cpu_until_ns` by the thread's CPU time, whichever comes first; the
// latter is looked at now and then.
void Spin(int64_t until_ns, int64_t cpu_until_ns, StampLog& busy) {
  constexpr int64_t kReadingsPerLook = 64;
  const bool has_limit = cpu_until_ns < std::numeric_limits<int64_t>::max();
  int64_t known_switches = ContextSwitches();
  int64_t begin_cpu_ns = ThreadCpuNs();
  int64_t begin_ns = MonotonicNs();
  int64_t last_ns = begin_ns;
  busy.Begin(begin_ns);
  for (int64_t i = 0; last_ns < until_ns; ++i) {
    if (has_limit && i % kReadingsPerLook == 0 && ThreadCpuNs() >= cpu_until_ns) break;
    int64_t now_ns = MonotonicNs();
    bool kept_the_cpu = now_ns - last_ns <= kStampGapNs;
    if (!kept_the_cpu) {
      // Without a switch it was the host that took the virtual CPU, with this thread on it.
      const int64_t switches = ContextSwitches();
      const int64_t after_ns = MonotonicNs();
      kept_the_cpu = switches == known_switches && after_ns - now_ns <= kStampGapNs;
      known_switches = switches;
      now_ns = after_ns;
    }
    if (kept_the_cpu) {
      busy.Extend(now_ns);
    } else {
      const int64_t cpu_ns = ThreadCpuNs();
      const int64_t unseen_ns = cpu_ns - begin_cpu_ns - (last_ns - begin_ns);
      busy.End();
      busy.Begin(now_ns, unseen_ns > kStampGapNs ? unseen_ns : 0);
      begin_cpu_ns = cpu_ns;
      begin_ns = now_ns;
    }
    last_ns = now_ns;
  }
  busy.End();
}

}  // namespace

absl::StatusOr<StampLog> StampLog::Create() {
  ASSIGN_OR_RETURN(
      SharedMemory memory,
      SharedMemory::Create("whylate-stamps",
                           sizeof(Header) + static_cast<size_t>(kStamps) * sizeof(Record)));
  return StampLog(std::move(memory));
}

StampLog::Record& StampLog::Next() const {
  return records()[std::min<int64_t>(header()->count.load(), kStamps - 1)];
}

void StampLog::Begin(int64_t time_ns, int64_t unseen_ns) {
  Record& record = Next();
  const int32_t cpu = sched_getcpu();
  record.from.store(cpu);
  record.to.store(cpu);
  record.unseen_ns.store(unseen_ns);
  record.end_ns.store(time_ns);
  record.begin_ns.store(time_ns);
}

void StampLog::Extend(int64_t time_ns) { Next().end_ns.store(time_ns, std::memory_order_relaxed); }

void StampLog::End() { header()->count.fetch_add(1); }

void StampLog::Add(const Stamp& stamp) {
  Begin(stamp.time.begin_ns);
  Extend(stamp.time.end_ns);
  Next().from.store(stamp.from.value);
  Next().to.store(stamp.to.value);
  End();
}

void StampLog::Add(int64_t begin_ns, int64_t end_ns) {
  Begin(begin_ns);
  Extend(end_ns);
  End();
}

std::vector<Stamp> StampLog::Stamps() const {
  std::vector<Stamp> stamps;
  // The one after the last whole one is still growing.
  const int64_t count = std::min<int64_t>(header()->count.load() + 1, kStamps);
  int64_t unseen_ns = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Record& record = records()[i];
    const TimeWindow time{record.begin_ns.load(), record.end_ns.load()};
    unseen_ns += record.unseen_ns.load();
    if (time.begin_ns >= time.end_ns) continue;
    const CpuId from{record.from.load()};
    stamps.push_back({time, from, CpuId{record.to.load()}, std::exchange(unseen_ns, 0)});
  }
  return stamps;
}

std::vector<TimeWindow> StampLog::Stretches() const {
  std::vector<TimeWindow> stretches;
  for (const Stamp& stamp : Stamps()) stretches.push_back(stamp.time);
  return stretches;
}

absl::StatusOr<FrameAmounts> FrameAmounts::Create(int64_t frames) {
  const size_t bytes = static_cast<size_t>(frames) * sizeof(std::atomic<int64_t>);
  ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Create("whylate-amounts", bytes));
  RETURN_IF_ERROR(memory.Lock());
  return FrameAmounts(std::move(memory), frames);
}

void FrameAmounts::Add(int64_t index, int64_t ns) {
  if (index >= 0 && index < frames_) amounts()[index].fetch_add(ns);
}

std::map<int64_t, int64_t> FrameAmounts::All() const {
  std::map<int64_t, int64_t> all;
  for (int64_t i = 0; i < frames_; ++i) {
    const int64_t ns = amounts()[i].load();
    if (ns != 0) all.emplace(i, ns);
  }
  return all;
}

void SpinUntil(int64_t until_ns, StampLog& busy) {
  Spin(until_ns, std::numeric_limits<int64_t>::max(), busy);
}

void SpinFor(int64_t cpu_ns, StampLog& busy) {
  Spin(std::numeric_limits<int64_t>::max(), ThreadCpuNs() + cpu_ns, busy);
}

absl::StatusOr<Losses> Losses::Create() {
  ASSIGN_OR_RETURN(StampLog watched, StampLog::Create());
  ASSIGN_OR_RETURN(StampLog away, StampLog::Create());
  ASSIGN_OR_RETURN(StampLog interrupted, StampLog::Create());
  return Losses{std::move(watched), std::move(away), std::move(interrupted)};
}

void WorkWatched(uint64_t loops, uint64_t piece_loops, int64_t piece_ns, Losses& losses) {
  constexpr int64_t kPiecesPerLook = 32;
  int64_t known_switches = ContextSwitches();
  const CpuId first_cpu{sched_getcpu()};
  const int64_t begin_ns = MonotonicNs();
  CpuId last_cpu = first_cpu;
  int64_t last_ns = begin_ns;
  int64_t piece = 0;
  for (uint64_t done = 0; done < loops; done += piece_loops, ++piece) {
    // A switch that was too short to be seen shall not be taken for that of a later gap.
    if (piece % kPiecesPerLook == 0) known_switches = ContextSwitches();
    Work(std::min(piece_loops, loops - done));
    const int64_t now_ns = MonotonicNs();
    const CpuId cpu{sched_getcpu()};
    if (now_ns - last_ns > piece_ns + kStampGapNs) {
      const int64_t switches = ContextSwitches();
      if (switches == known_switches) {
        losses.interrupted.Add(Stamp{{last_ns + piece_ns, now_ns}, last_cpu, cpu});
      } else {
        losses.away.Add(Stamp{{last_ns, now_ns}, last_cpu, cpu});
      }
      known_switches = switches;
    }
    last_ns = now_ns;
    last_cpu = cpu;
  }
  losses.watched.Add(Stamp{{begin_ns, last_ns}, first_cpu, last_cpu});
}

OnSameCpu FindOnSameCpu(const std::vector<Stamp>& a, const std::vector<Stamp>& b) {
  OnSameCpu found;
  auto other = b.begin();
  for (const Stamp& stamp : a) {
    while (other != b.end() && other->time.end_ns <= stamp.time.begin_ns) ++other;
    for (auto at = other; at != b.end() && at->time.begin_ns < stamp.time.end_ns; ++at) {
      if (at->from != stamp.from && at->to != stamp.from) continue;
      const TimeWindow both{std::max(stamp.time.begin_ns, at->time.begin_ns),
                            std::min(stamp.time.end_ns, at->time.end_ns)};
      (at->from == at->to ? found.sure : found.unsure).push_back(both);
    }
  }
  return found;
}

std::vector<TimeWindow> Intersection(const std::vector<TimeWindow>& a,
                                     const std::vector<TimeWindow>& b) {
  std::vector<TimeWindow> common;
  auto other = b.begin();
  for (const TimeWindow& stretch : a) {
    while (other != b.end() && other->end_ns <= stretch.begin_ns) ++other;
    for (auto at = other; at != b.end() && at->begin_ns < stretch.end_ns; ++at) {
      common.push_back(
          {std::max(stretch.begin_ns, at->begin_ns), std::min(stretch.end_ns, at->end_ns)});
    }
  }
  return common;
}

int64_t OverlapNs(const std::vector<TimeWindow>& stretches, int64_t begin_ns, int64_t end_ns) {
  int64_t total_ns = 0;
  for (const TimeWindow& stretch : stretches) {
    total_ns += std::max<int64_t>(
        0, std::min(stretch.end_ns, end_ns) - std::max(stretch.begin_ns, begin_ns));
  }
  return total_ns;
}

}  // namespace whylate
