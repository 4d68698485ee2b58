// Makes Perfetto traces as other recorders do, field by field.
//
//   std::string bytes;
//   bytes += MadeBundle(1).Switch(50, {0, "swapper/1", 120}, 2, {7, "seven", 120}).Packet();
#ifndef WHYLATE_TESTS_SUPPORT_MADE_PERFETTO_H_
#define WHYLATE_TESTS_SUPPORT_MADE_PERFETTO_H_

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"

namespace whylate {

struct MadeTask {
  int32_t tid = 0;
  std::string comm;
  int32_t prio = 120;
};

using FillProto = absl::FunctionRef<void(protozero::pbf_writer&)>;

// One packet, of the fields that `fill` writes.
std::string MadePacket(FillProto fill);
// A packet whose packets are compressed.
std::string MadeCompressedPacket(const std::string& packets);

class MadeBundle {
 public:
  explicit MadeBundle(uint32_t cpu);

  MadeBundle& Lost();
  MadeBundle& Clock(int32_t clock);
  MadeBundle& Switch(uint64_t time_ns, const MadeTask& prev, int64_t state, const MadeTask& next);
  // By the task `pid` that the CPU runs, with common_flags where not negative.
  MadeBundle& Waking(uint64_t time_ns, uint32_t pid, const MadeTask& wakee, int64_t flags = -1);
  MadeBundle& Wakeup(uint64_t time_ns, const MadeTask& wakee, int32_t target);
  MadeBundle& Event(uint64_t time_ns, uint32_t pid, uint32_t field, FillProto fill);

  // Columns of the compact form; all of one length.
  struct Compact {
    std::vector<std::string> names;
    std::vector<uint64_t> switch_deltas;
    std::vector<int64_t> switch_states;
    std::vector<int32_t> switch_tids;
    std::vector<int32_t> switch_priorities;
    std::vector<uint32_t> switch_names;
    std::vector<uint64_t> waking_deltas;
    std::vector<int32_t> waking_tids;
    std::vector<int32_t> waking_targets;
    std::vector<uint32_t> waking_names;
    std::vector<uint32_t> waking_flags;
  };
  MadeBundle& Columns(const Compact& compact);

  std::string Packet() const;
  // With the mark of dropped packets before it.
  std::string PacketAfterDropped() const;

 private:
  std::string bytes_;
};

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_MADE_PERFETTO_H_
