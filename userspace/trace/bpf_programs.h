// Owner of the loaded eBPF programs, their maps and links: everything that is libbpf.
//
//   ASSIGN_OR_RETURN(auto programs, BpfPrograms::Load({.buffer_bytes = 8 << 20}));
//   RETURN_IF_ERROR(programs->Attach());
//   programs->SetRecording(true);
//   programs->Drain([](const void* record, size_t size) { ... });
//
// Everything goes with the file descriptors: with this object, or with the process. Nothing is
// pinned. Drain may run in one thread while another calls the rest.
#ifndef WHYLATE_USERSPACE_TRACE_BPF_PROGRAMS_H_
#define WHYLATE_USERSPACE_TRACE_BPF_PROGRAMS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/model/ids.h"

namespace whylate {

struct BpfLoadOptions {
  int64_t buffer_bytes = int64_t{8} << 20;  // rounded up to a power of two of at least a page
  bool watch_affinity_calls = true;
};

class BpfPrograms {
 public:
  struct Counters {
    std::vector<uint64_t> attempts;  // by CPU
    std::vector<uint64_t> lost;      // by CPU: attempts that found the ring full
    uint64_t recursion_misses = 0;   // runs that the kernel skipped, over all programs
    uint64_t run_ns = 0;             // 0 unless BPF run time statistics were on
    uint64_t run_count = 0;
  };

  // Loads and verifies. FailedPrecondition without BTF or a needed tracepoint, PermissionDenied
  // without the rights; what libbpf had to say is in the message.
  static absl::StatusOr<std::unique_ptr<BpfPrograms>> Load(const BpfLoadOptions& options);

  BpfPrograms(const BpfPrograms&) = delete;
  BpfPrograms& operator=(const BpfPrograms&) = delete;
  ~BpfPrograms();

  // From here on the programs run, and record nothing until they are told to.
  absl::Status Attach();
  void Detach();
  void SetRecording(bool on);

  // ResourceExhausted above 32.
  absl::Status Watch(Tgid tgid);
  // One record for each online CPU, into the ring: what it is running.
  absl::Status SeedCpus();
  // The records of all tasks, as the iterator wrote them.
  absl::StatusOr<std::vector<uint8_t>> ReadTaskSeeds();

  // Hands over what the ring holds. The pointer is good during the call.
  absl::Status Drain(const std::function<void(const void* record, size_t size_bytes)>& consume);

  Counters ReadCounters() const;
  std::map<int32_t, std::string> ReadIrqNames() const;
  // Addresses in the kernel, innermost first, by the number that records have for them.
  std::map<uint32_t, std::vector<uint64_t>> ReadStacks() const;
  bool has_irq_times() const;
  uint32_t abi_version() const;
  int32_t possible_cpus() const;
  int64_t buffer_bytes() const;

 private:
  struct State;
  explicit BpfPrograms(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_BPF_PROGRAMS_H_
