// An independent witness of the scheduler: a private ftrace instance, read raw and decoded by
// libtraceevent with the formats that the running kernel publishes.
//
//   ASSIGN_OR_RETURN(auto witness, TracefsWitness::Create());
//   RETURN_IF_ERROR(witness->Start());
//   ... the machine works ...
//   ASSIGN_OR_RETURN(WitnessRecording recording, witness->Stop());
//
// Times are CLOCK_MONOTONIC (trace clock `mono`), stamped by ftrace a little after eBPF programs on
// the same event. The instance, and the mount of tracefs if it was not there, go with the object.
#ifndef WHYLATE_TESTS_SUPPORT_TRACEFS_WITNESS_H_
#define WHYLATE_TESTS_SUPPORT_TRACEFS_WITNESS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/model/ids.h"

namespace whylate {

enum class WitnessKind : uint8_t { kSwitch, kWaking, kWakeup, kWakeupNew, kMigrate };

struct WitnessEvent {
  int64_t time_ns = 0;
  WitnessKind kind = WitnessKind::kSwitch;
  Tid task;  // prev of a switch, else the wakee
  Tid next;  // of a switch
};

struct WitnessMigration {
  int64_t time_ns = 0;
  Tid task;
  CpuId to;
};

struct WitnessRecording {
  // In the order of each CPU's buffer; without migrations.
  std::map<CpuId, std::vector<WitnessEvent>> events;
  std::vector<WitnessMigration> migrations;
  int64_t lost_buffers = 0;  // times that a buffer was overwritten unread
};

class TracefsWitness {
 public:
  // Needs root and a kernel with ftrace.
  static absl::StatusOr<std::unique_ptr<TracefsWitness>> Create();

  TracefsWitness(const TracefsWitness&) = delete;
  TracefsWitness& operator=(const TracefsWitness&) = delete;
  ~TracefsWitness();

  absl::Status Start();
  // Records nothing more. What is recorded is still to be read, which takes long where the machine is
  // kept busy: end that first.
  absl::Status End();
  // Ends, and reads the rest.
  absl::StatusOr<WitnessRecording> Stop();

 private:
  struct State;
  explicit TracefsWitness(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_TRACEFS_WITNESS_H_
