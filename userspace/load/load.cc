#include "userspace/load/load.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "analysis/model/status_macros.h"
#include "userspace/load/bodies.h"
#include "userspace/platform/scheduling.h"

namespace whylate {
namespace {

int32_t OneThread(int32_t) { return 1; }
int32_t AsTold(int32_t load_threads) { return load_threads; }

constexpr char kCompile[] = "compile";
constexpr char kCompileParts[] = "burn+write+read";

std::vector<std::string> KnownNames() {
  std::vector<std::string> names = {"none"};
  for (const LoadRow& row : LoadRows()) names.push_back(row.name);
  names.push_back(kCompile);
  return names;
}

const LoadRow* FindRow(absl::string_view name) {
  for (const LoadRow& row : LoadRows()) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

// Lets threads wait for the start, and the main thread for the first error.
struct ThreadGate {
  std::mutex mutex;
  std::condition_variable changed;
  size_t arrived = 0;
  bool open = false;
  absl::Status error;
  bool ended = false;
};

void RunBody(const std::shared_ptr<ThreadGate>& gate, const std::string& name, size_t index,
             const std::function<absl::Status(size_t)>& body) {
  SetThreadName(absl::StrCat(name, "-", index));
  {
    std::unique_lock lock(gate->mutex);
    ++gate->arrived;
    gate->changed.notify_all();
    gate->changed.wait(lock, [&] { return gate->open; });
  }
  const absl::Status status = body(index);
  std::unique_lock lock(gate->mutex);
  if (!gate->ended) gate->error = status;
  gate->ended = true;
  gate->changed.notify_all();
}

}  // namespace

absl::StatusOr<ProgressCounters> ProgressCounters::Create(size_t lanes) {
  ASSIGN_OR_RETURN(SharedMemory memory,
                   SharedMemory::Create("whylate-progress", lanes * sizeof(Lane)));
  return ProgressCounters(std::move(memory));
}

absl::StatusOr<ProgressCounters> ProgressCounters::Map(UniqueFd fd) {
  ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Map(std::move(fd)));
  return ProgressCounters(std::move(memory));
}

uint64_t ProgressCounters::Sum() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < lanes(); ++i) sum += lane(i).load(std::memory_order_relaxed);
  return sum;
}

LoadContext::LoadContext(LoadSettings settings, Channel channel, ProgressCounters progress,
                         UniqueFd file)
    : settings_(std::move(settings)),
      channel_(std::move(channel)),
      progress_(std::move(progress)),
      file_(std::move(file)) {}

absl::Status LoadContext::Ready() const {
  RETURN_IF_ERROR(channel_.Send("ready"));
  return channel_.Receive().status();
}

void LoadContext::Fail(const absl::Status& status) const {
  (void)channel_.Send(absl::StrCat("error ", status.message()));
  _exit(1);
}

absl::Status LoadContext::RunThreads(
    const std::string& name, const std::vector<std::function<absl::Status(size_t)>>& bodies) const {
  // Shared with threads that never end: the process goes before they do.
  const auto gate = std::make_shared<ThreadGate>();
  for (size_t i = 0; i < bodies.size(); ++i) {
    try {
      std::thread(RunBody, gate, name, i, bodies[i]).detach();
    } catch (const std::system_error& error) {
      return absl::ResourceExhaustedError(absl::StrCat("create thread ", i + 1, " of ",
                                                       bodies.size(), ": ", error.code().message(),
                                                       "; give a smaller --load-threads"));
    }
  }
  std::unique_lock lock(gate->mutex);
  gate->changed.wait(lock, [&] { return gate->arrived == bodies.size(); });
  RETURN_IF_ERROR(Ready());
  gate->open = true;
  gate->changed.notify_all();
  gate->changed.wait(lock, [&] { return gate->ended; });
  Fail(gate->error);
}

absl::Status LoadContext::RunThreads(const std::string& name, size_t count,
                                     const std::function<absl::Status(size_t)>& body) const {
  return RunThreads(name, std::vector(count, body));
}

const std::vector<LoadRow>& LoadRows() {
  static const auto* const kRows = new std::vector<LoadRow>{
      {"video", "the video workload, as a load", "frames", LoadFile::kNone,
       ProgressSource::kCounters, OneThread, RunSimulatedLoad},
      {"x", "the x workload, as a load", "frames", LoadFile::kNone, ProgressSource::kCounters,
       OneThread, RunSimulatedLoad},
      {"burn", "N threads that compute without pause", "loops", LoadFile::kNone,
       ProgressSource::kCounters, AsTold, RunBurnLoad},
      {"write", "writes a large file through the page cache, truncates it, repeats", "bytes",
       LoadFile::kWrite, ProgressSource::kCounters, OneThread, RunWriteLoad},
      {"read", "reads a file from the disk, again and again", "bytes", LoadFile::kRead,
       ProgressSource::kCounters, OneThread, RunReadLoad},
      {"ring", "N threads pass one token through semaphores", "passes", LoadFile::kNone,
       ProgressSource::kCounters, RingThreadCount, RunRingLoad},
      {"memload", "touches more memory than its memory cgroup may hold", "pages", LoadFile::kMapped,
       ProgressSource::kCounters, OneThread, RunMemoryLoad},
      {"hack", "N groups of 20 senders and 20 receivers, 100-byte messages", "messages",
       LoadFile::kNone, ProgressSource::kCounters, HackThreadCount, RunHackLoad},
      {"custom", "--cpu-percent P of work every --interval US, as a load", "frames",
       LoadFile::kNone, ProgressSource::kCounters, OneThread, RunSimulatedLoad},
      {"command", "--load-command 'CMD': any command line, with all its processes", "cpu_ms",
       LoadFile::kNone, ProgressSource::kTreeCpuTime, OneThread, RunCommandLoad},
  };
  return *kRows;
}

absl::StatusOr<std::vector<const LoadRow*>> ParseLoad(absl::string_view name) {
  std::vector<const LoadRow*> rows;
  if (name == "none") return rows;
  for (absl::string_view part : absl::StrSplit(name, '+')) {
    if (part == kCompile) {
      ASSIGN_OR_RETURN(std::vector<const LoadRow*> compile, ParseLoad(kCompileParts));
      rows.insert(rows.end(), compile.begin(), compile.end());
      continue;
    }
    const LoadRow* row = FindRow(part);
    if (row == nullptr) {
      const absl::string_view hint = part == "none" ? " (none stands alone)" : "";
      return absl::InvalidArgumentError(absl::StrCat("unknown load '", part, "'", hint,
                                                     "; known: ", absl::StrJoin(KnownNames(), ", "),
                                                     ", and combinations like burn+write"));
    }
    rows.push_back(row);
  }
  for (const LoadRow* row : rows) {
    if (std::count(rows.begin(), rows.end(), row) > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("load '", name, "' has ", row->name, " more than once"));
    }
  }
  return rows;
}

}  // namespace whylate
