// The loads: what disturbs a workload, each in a process of its own.
//
// One table holds them; a new load is a new file and a new row. A load's function runs in the
// load's process: it prepares, calls Ready(), which returns when the cell wants the load to begin,
// and then loads until its process is killed: it must own nothing that outlives the process. It
// reports what it gets done through Advance(). It returns only with the error that ended it.
#ifndef WHYLATE_USERSPACE_LOAD_LOAD_H_
#define WHYLATE_USERSPACE_LOAD_LOAD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "userspace/platform/channel.h"
#include "userspace/platform/shared_memory.h"
#include "userspace/workload/workload.h"

namespace whylate {

// What one part of a load is told.
struct LoadSettings {
  std::string name;          // of its row: "burn"
  int32_t threads = 1;       // N of --load-threads
  int64_t loops_per_ms = 0;  // for the simulated ones
  WorkloadValues values;     // for custom
  std::string command;       // for command
  int64_t file_bytes = 0;    // read, write, memload: how much of the load file to use
  int64_t memory_bytes = 0;  // memload: anonymous memory beside the file's pages
};

// Counters that the supervisor reads while the load runs; one per thread, on its own cache line.
class ProgressCounters {
 public:
  static absl::StatusOr<ProgressCounters> Create(size_t lanes);
  static absl::StatusOr<ProgressCounters> Map(UniqueFd fd);

  int fd() const { return memory_.fd(); }
  size_t lanes() const { return memory_.size_bytes() / sizeof(Lane); }
  std::atomic<uint64_t>& lane(size_t i) const {
    return static_cast<Lane*>(memory_.data())[i].value;
  }
  uint64_t Sum() const;

 private:
  struct alignas(64) Lane {
    std::atomic<uint64_t> value;
  };
  explicit ProgressCounters(SharedMemory memory) : memory_(std::move(memory)) {}

  SharedMemory memory_;
};

// What the function of a load works with, in the load's process.
class LoadContext {
 public:
  // `file` is the load file (invalid where the load needs none).
  LoadContext(LoadSettings settings, Channel channel, ProgressCounters progress, UniqueFd file);

  const LoadSettings& settings() const { return settings_; }
  const Channel& channel() const { return channel_; }
  int file() const { return file_.get(); }

  // Tells the supervisor that all is prepared; returns when the load is to begin. OutOfRange when
  // the supervisor is gone.
  absl::Status Ready() const;

  // Reports what ended the load and ends the process at once: other threads may still be using what
  // the caller owns.
  [[noreturn]] void Fail(const absl::Status& status) const;

  void Advance(size_t lane, uint64_t amount) const {
    progress_.lane(lane).fetch_add(amount, std::memory_order_relaxed);
  }
  std::atomic<uint64_t>& counter(size_t lane) const { return progress_.lane(lane); }

  // Starts one thread per body, each named "<name>-<i>", and lets them begin at Ready()'s return.
  // Bodies run until the process ends; the first one that returns ends it, see Fail(). Returns only
  // where the threads could not be started.
  absl::Status RunThreads(const std::string& name,
                          const std::vector<std::function<absl::Status(size_t)>>& bodies) const;
  absl::Status RunThreads(const std::string& name, size_t count,
                          const std::function<absl::Status(size_t)>& body) const;

 private:
  LoadSettings settings_;
  Channel channel_;
  ProgressCounters progress_;
  UniqueFd file_;
};

enum class LoadFile { kNone, kRead, kWrite, kMapped };

// Where a load's progress is read: its counters, or the CPU time of the processes below it.
enum class ProgressSource { kCounters, kTreeCpuTime };

struct LoadRow {
  const char* name;
  const char* summary;  // one line, for --list
  const char* unit;     // of its progress
  LoadFile file;
  ProgressSource progress;
  // Threads that the load makes of the N of --load-threads, for the lanes of its progress.
  int32_t (*thread_count)(int32_t load_threads);
  absl::Status (*run)(const LoadContext& context);
};

// All simple loads, in the order of the classic report. `none` is not one, `compile` is an alias.
const std::vector<LoadRow>& LoadRows();

// The rows that a load's name stands for: "burn+write" is two, "compile" is burn, write and read,
// "none" is none. InvalidArgument, with the known names, for an unknown part or one named twice.
absl::StatusOr<std::vector<const LoadRow*>> ParseLoad(absl::string_view name);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_LOAD_LOAD_H_
