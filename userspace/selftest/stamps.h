// Accounts that processes keep of themselves, in shared memory: one writer each, readable at any time.
//
// They owe nothing to any trace. A thread that watches the clock knows when it had a CPU: where two
// readings lie far apart it was off its CPU, or interrupted.
//
//   ASSIGN_OR_RETURN(StampLog busy, StampLog::Create());
//   SpinUntil(MonotonicNs() + 14 * kNsPerMs, busy);  // in a child
//   busy.Stretches();                                // when it had the CPU
#ifndef WHYLATE_USERSPACE_SELFTEST_STAMPS_H_
#define WHYLATE_USERSPACE_SELFTEST_STAMPS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/model/ids.h"
#include "userspace/platform/shared_memory.h"
#include "userspace/trace/trace_source.h"

namespace whylate {

// Clock readings further apart than this were not made on one CPU without an interruption.
inline constexpr int64_t kStampGapNs = 20'000;

// A stretch of time, and the CPU that the writer was on at its begin and at its end.
struct Stamp {
  TimeWindow time;
  CpuId from;
  CpuId to;
  // Of the time since the stamp before, so much may have been like it, unseen. Of one who watches the
  // clock, CPU time by the kernel's count: a host may stop a virtual CPU just where a task comes to it
  // or leaves it.
  int64_t unseen_ns = 0;
};

// Stretches of time, disjoint and in order. When it is full the last one is overwritten.
class StampLog {
 public:
  static absl::StatusOr<StampLog> Create();

  // The writer's: opens a stretch that lasts until the last Extend(), even while it is open.
  void Begin(int64_t time_ns, int64_t unseen_ns = 0);
  void Extend(int64_t time_ns);
  void End();
  void Add(const Stamp& stamp);
  void Add(int64_t begin_ns, int64_t end_ns);  // on the CPU that the writer is on

  std::vector<Stamp> Stamps() const;
  std::vector<TimeWindow> Stretches() const;
  absl::Status Lock() const { return memory_.Lock(); }

 private:
  struct Record {
    std::atomic<int64_t> begin_ns;
    std::atomic<int64_t> end_ns;
    std::atomic<int64_t> unseen_ns;
    std::atomic<int32_t> from;
    std::atomic<int32_t> to;
  };
  struct alignas(64) Header {
    std::atomic<int64_t> count;
  };

  explicit StampLog(SharedMemory memory) : memory_(std::move(memory)) {}
  Header* header() const { return static_cast<Header*>(memory_.data()); }
  Record* records() const { return reinterpret_cast<Record*>(header() + 1); }
  Record& Next() const;

  SharedMemory memory_;
};

// An amount of time for each frame of a workload.
class FrameAmounts {
 public:
  // For frames with an index below `frames`.
  static absl::StatusOr<FrameAmounts> Create(int64_t frames);
  // Nothing happens beyond the last frame.
  void Add(int64_t index, int64_t ns);
  // Those that are not 0, by frame index.
  std::map<int64_t, int64_t> All() const;

 private:
  FrameAmounts(SharedMemory memory, int64_t frames) : memory_(std::move(memory)), frames_(frames) {}
  std::atomic<int64_t>* amounts() const {
    return static_cast<std::atomic<int64_t>*>(memory_.data());
  }

  SharedMemory memory_;
  int64_t frames_;
};

// Keeps the CPU until `until_ns`, or until it has had `cpu_ns` of CPU time, and stamps in `busy` when
// the scheduler let it: by the clock, and where that jumped, by the kernel's count of the thread's
// switches.
void SpinUntil(int64_t until_ns, StampLog& busy);
void SpinFor(int64_t cpu_ns, StampLog& busy);

// What a thread that watches the clock sees it lose.
struct Losses {
  StampLog watched;      // from its first reading to its last one
  StampLog away;         // in between it had been switched out
  StampLog interrupted;  // in between it kept its CPU, and could not use it
  static absl::StatusOr<Losses> Create();
};

// Work(loops), in pieces of `piece_loops` that take `piece_ns` where nothing disturbs them. A piece that
// takes more than kStampGapNs beyond that lost something. Where it was switched out, that may be any
// of its time, and all of it is stamped: no other task had this CPU in the rest. Where it was
// interrupted, what was beyond.
void WorkWatched(uint64_t loops, uint64_t piece_loops, int64_t piece_ns, Losses& losses);

// The parts of `a`, whose stamps are each on one CPU, during a stamp of `b`: where that was on the same
// CPU, and where it may have been, since it came there or left it at an instant that nobody knows.
struct OnSameCpu {
  std::vector<TimeWindow> sure;
  std::vector<TimeWindow> unsure;
};
OnSameCpu FindOnSameCpu(const std::vector<Stamp>& a, const std::vector<Stamp>& b);  // O(n)
// The parts of `a` that `b` covers; both are disjoint and in order, and so is the result. O(n).
std::vector<TimeWindow> Intersection(const std::vector<TimeWindow>& a,
                                     const std::vector<TimeWindow>& b);
// The part of [begin, end) that `stretches` (disjoint) cover.
int64_t OverlapNs(const std::vector<TimeWindow>& stretches, int64_t begin_ns, int64_t end_ns);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_STAMPS_H_
