// Names of CPUs, tasks and processes, as types of their own, so that none is passed for another.
//
// "pid" is a word of kernel code only: a thread has a Tid, a process (thread group) a Tgid. A tid
// is reused by the kernel; what happens to one task is keyed by (tid, incarnation), see TaskKey.
#ifndef WHYLATE_ANALYSIS_MODEL_IDS_H_
#define WHYLATE_ANALYSIS_MODEL_IDS_H_

#include <compare>
#include <cstdint>
#include <utility>

namespace whylate {

struct CpuId {
  int32_t value = 0;
  friend auto operator<=>(const CpuId&, const CpuId&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const CpuId& id) {
    return H::combine(std::move(h), id.value);
  }
};

// Tid 0 is the idle task of whichever CPU the event names.
struct Tid {
  int32_t value = 0;
  friend auto operator<=>(const Tid&, const Tid&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Tid& id) {
    return H::combine(std::move(h), id.value);
  }
};

struct Tgid {
  int32_t value = 0;
  friend auto operator<=>(const Tgid&, const Tgid&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Tgid& id) {
    return H::combine(std::move(h), id.value);
  }
};

// One life of a tid: `incarnation` counts the lives seen in a recording, from 0.
struct TaskKey {
  Tid tid;
  uint32_t incarnation = 0;
  friend auto operator<=>(const TaskKey&, const TaskKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const TaskKey& key) {
    return H::combine(std::move(h), key.tid, key.incarnation);
  }
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_MODEL_IDS_H_
