// Turns the records of the eBPF programs (bpf/sched_event.h) into SchedEvents.
//
//   ASSIGN_OR_RETURN(WireHeader header, PeekHeader(record));
//   ASSIGN_OR_RETURN(WireDecoder decoder, WireDecoder::Create(options));
//   std::vector<SchedEvent> events;
//   RETURN_IF_ERROR(decoder.Decode(record, sequence, &events));
//
// Records are untrusted bytes here: a short one, an unknown type, or a length that is not its
// type's is DataLoss, never a crash. Not thread-safe.
#ifndef WHYLATE_USERSPACE_TRACE_WIRE_DECODER_H_
#define WHYLATE_USERSPACE_TRACE_WIRE_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"

struct whylate_standing;  // bpf/sched_event.h

namespace whylate {

// How a record is treated when only some stretches of time are kept.
enum class WireKind : uint8_t {
  kSwitch,    // kept within the stretches, and the last one of its CPU before each
  kWindowed,  // kept within the stretches
  kAlways,    // names, forks, exits, affinity changes, seeds
};

struct WireHeader {
  int64_t time_ns = 0;
  CpuId cpu;
  uint32_t sequence = 0;  // modulo 2^32, from 1; 0 where it is not counted
  WireKind kind = WireKind::kWindowed;
};

absl::StatusOr<WireHeader> PeekHeader(absl::Span<const uint8_t> record);

// The length of the first of several records that lie one after another.
absl::StatusOr<size_t> FirstRecordSize(absl::Span<const uint8_t> records);

struct WireDecoderOptions {
  uint32_t abi_version = 0;   // of the programs
  int32_t possible_cpus = 0;  // affinity bits from there on mean nothing
  bool has_irq_times = true;  // the programs that measure them are attached
  // A sched_ext scheduler runs the fair class's tasks too (it is not in SCX_OPS_SWITCH_PARTIAL).
  bool ext_takes_fair = false;
  std::map<int32_t, std::string> irq_names;  // of device interrupts
  std::map<uint32_t, int32_t> stacks;  // index in the recording's, by the programs' own number
};

class WireDecoder {
 public:
  // FailedPrecondition when the programs speak another version of the format.
  static absl::StatusOr<WireDecoder> Create(WireDecoderOptions options);

  // Appends the events (0, 1 or 2) of `record`. Records must come in total order: affinity is
  // put into the event before it, and the cumulative times are unwrapped along each CPU. `events`
  // must be the same vector in each call, and only appended to in between.
  absl::Status Decode(absl::Span<const uint8_t> record, uint64_t sequence,
                      std::vector<SchedEvent>* events);

 private:
  // A wrapping 40-bit counter, unwrapped.
  struct Counter {
    bool is_known = false;
    int64_t value = 0;
    int64_t Update(uint64_t low_40_bits);
  };
  struct CpuState {
    Counter irq, softirq, steal;
    // The event that the affinity records after it belong to, and the mask collected so far.
    size_t event = 0;
    int64_t event_time_ns = 0;
    bool has_event = false;
    CpuSet mask;
    int32_t next_mask_cpu = 0;  // of the chunk that continues it
  };

  explicit WireDecoder(WireDecoderOptions options) : options_(std::move(options)) {}

  void DecodeSwitch(absl::Span<const uint8_t> record, SchedEvent* event);
  void DecodeWaking(absl::Span<const uint8_t> record, SchedEvent* event);
  // Bodies that take one assignment; false for the other types.
  bool DecodeTask(absl::Span<const uint8_t> record, SchedEvent* event) const;
  bool DecodeFact(absl::Span<const uint8_t> record, SchedEvent* event) const;
  bool DecodeSeed(absl::Span<const uint8_t> record, SchedEvent* event,
                  std::vector<SchedEvent>* events) const;
  void DecodeAffinity(absl::Span<const uint8_t> record, SchedEvent event,
                      std::vector<SchedEvent>* events);
  void DecodeStack(absl::Span<const uint8_t> record, const SchedEvent& event,
                   std::vector<SchedEvent>* events) const;
  // The name of an interrupt, by context and source as in whylate_waking.
  std::string SourceName(uint8_t context, uint8_t source, uint32_t irq) const;
  TaskStanding Standing(int32_t tid, const whylate_standing& wire) const;

  WireDecoderOptions options_;
  absl::flat_hash_map<int32_t, CpuState> cpus_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_WIRE_DECODER_H_
