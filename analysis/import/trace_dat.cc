#include "analysis/import/trace_dat.h"

#include <dirent.h>
#include <event-parse.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
// trace-cmd.h includes tracefs.h, which is no C++ (1.6.4), and uses nothing of it.
#define _TRACE_FS_H  // NOLINT: the guard of tracefs.h
#include <trace-cmd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/event_collector.h"
#include "analysis/import/trace_dat_events.h"
#include "analysis/import/trace_dat_layout.h"
#include "analysis/model/status_macros.h"

namespace whylate {
namespace {

struct CloseInput {
  void operator()(tracecmd_input* input) const { tracecmd_close(input); }
};
using Input = std::unique_ptr<tracecmd_input, CloseInput>;

// The file's bytes, as long as the layout is read.
class MappedFile {
 public:
  static absl::StatusOr<MappedFile> Open(const std::string& path);
  ~MappedFile() {
    if (data_ != nullptr) munmap(data_, size_);
  }
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  MappedFile& operator=(MappedFile&&) = delete;

  absl::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  MappedFile(void* data, size_t size) : data_(data), size_(size) {}
  void* data_;
  size_t size_;
};

absl::Status ErrnoStatus(absl::string_view action, const std::string& path) {
  const int error = errno;
  return absl::ErrnoToStatus(error, absl::StrCat(action, " ", path));
}

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  // A pipe would block, and cannot be mapped.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ErrnoStatus("cannot open", path);
  struct stat facts = {};
  absl::Status status;
  void* data = nullptr;
  if (fstat(fd, &facts) != 0) {
    status = ErrnoStatus("cannot read", path);
  } else if (!S_ISREG(facts.st_mode)) {
    status = absl::InvalidArgumentError(absl::StrCat(path, " is no regular file"));
  } else if (facts.st_size > 0) {
    data = mmap(nullptr, static_cast<size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) status = ErrnoStatus("cannot map", path);
  }
  close(fd);
  if (!status.ok()) return status;
  return MappedFile(data, static_cast<size_t>(facts.st_size));
}

// Takes the names of the library's temporary files, which it has open, out of /tmp: whatever becomes
// of this process, nothing is left. The `input` may bear such a name too.
void UnlinkSpoolFiles(const std::string& input) {
  struct stat kept = {};
  if (stat(input.c_str(), &kept) != 0) return;
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return;
  constexpr absl::string_view kSpool = "/tmp/trace_cpu_";
  while (const dirent* entry = readdir(directory)) {
    char target[256];
    const ssize_t size = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
    if (size <= 0) continue;
    target[size] = '\0';
    if (absl::string_view(target).substr(0, kSpool.size()) != kSpool) continue;
    struct stat facts = {};
    const bool is_input = fstatat(dirfd(directory), entry->d_name, &facts, 0) != 0 ||
                          (facts.st_dev == kept.st_dev && facts.st_ino == kept.st_ino);
    if (!is_input) unlink(target);
  }
  closedir(directory);
}

int OnRecord(tracecmd_input*, tep_record* record, int, void* events) {
  static_cast<TraceDatEvents*>(events)->Record(record);
  return 0;
}

int OnState(tracecmd_input*, tep_record* record, int, void* events) {
  static_cast<TraceDatEvents*>(events)->LookAtState(record);
  return 0;
}

Input OpenInput(const std::string& path) {
  Input input(tracecmd_open(path.c_str(), TRACECMD_FL_LOAD_NO_PLUGINS));
  UnlinkSpoolFiles(path);
  return input;
}

// Of a file that does not name its kernel.
void GuessLayout(const std::string& path, EventCollector* collector, TraceDatEvents* events) {
  const Input input = OpenInput(path);
  StateLayout layout = StateLayout::kFlags;
  if (input != nullptr) {
    TraceDatEvents look(tracecmd_get_tep(input.get()), collector, "");
    tracecmd_iterate_events(input.get(), nullptr, 0, OnState, &look);
    layout = LayoutOfLargest(look.largest_state());
  }
  events->AssumeLayout(layout);
  collector->Note(absl::StrCat("the trace does not name its kernel: states are taken to be of one ",
                               layout == StateLayout::kOldFlags ? "before 4.14" : "since 4.15"));
}

// What the buffers' counters tell that no record does.
void AddStats(const TraceDatLayout& layout, const TraceDatEvents& events,
              EventCollector* collector) {
  for (const TraceDatCpuStats& stats : layout.stats) {
    const CpuId cpu = stats.cpu;
    if (stats.overrun > 0 && !events.ToldLoss(cpu)) {
      collector->Lost(cpu, std::nullopt, events.FirstNs(cpu), stats.overrun);
    }
    if (stats.overrun > 0) {
      collector->Note(absl::StrCat("ring overrun on CPU ", cpu.value, ": ", stats.overrun,
                                   " events were overwritten"));
    }
    if (stats.unread > 0) {
      // From past its last record, so that whoever that brought onto the CPU is seen to run.
      std::optional<int64_t> begin_ns = events.LastNs(cpu);
      if (begin_ns.has_value()) ++*begin_ns;
      collector->Lost(cpu, begin_ns, std::nullopt, stats.unread);
      collector->Note(absl::StrCat("the recording ended with ", stats.unread,
                                   " events unread in the buffer of CPU ", cpu.value));
    }
    if (stats.dropped > 0) {
      collector->Lost(cpu, events.FirstNs(cpu), std::nullopt, stats.dropped);
      collector->Note(absl::StrCat("the buffer of CPU ", cpu.value, " was full: ", stats.dropped,
                                   " events were dropped"));
    }
  }
}

void AddLayoutNotes(const TraceDatLayout& layout, EventCollector* collector) {
  for (const char* clock : {"counter", "x86-tsc", "ppc-tb"}) {
    if (layout.clock == clock) {
      collector->ClocksDiffer(absl::StrCat("clock ", clock, ": times may be no nanoseconds"));
    }
  }
  if (layout.clock == "uptime") collector->Note("clock uptime: times have a tick's resolution");
  if (!layout.instances.empty()) {
    collector->Note(absl::StrCat(layout.instances.size(), " further buffers are not read, '",
                                 layout.instances.front(), "' for one"));
  }
}

}  // namespace

absl::StatusOr<ImportedTrace> ImportTraceDat(const std::string& path, const ImportLimits& limits) {
  TraceDatLayout layout;
  {
    ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
    ASSIGN_OR_RETURN(layout, ReadTraceDatLayout(file.bytes()));
  }
  tracecmd_set_loglevel(TEP_LOG_NONE);
  tep_set_loglevel(TEP_LOG_NONE);
  const Input input = OpenInput(path);
  if (input == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "trace.dat cannot be opened by libtracecmd: it is damaged",
        layout.compression.empty() || layout.compression == "none"
            ? std::string()
            : absl::StrCat(", or its compression, ", layout.compression, ", is not built in")));
  }
  EventCollector collector(absl::StrCat("trace.dat v", layout.version), limits);
  AddLayoutNotes(layout, &collector);
  TraceDatEvents events(tracecmd_get_tep(input.get()), &collector, layout.Kernel());
  if (!LayoutOfKernel(layout.Kernel()).has_value()) GuessLayout(path, &collector, &events);
  if (tracecmd_iterate_events(input.get(), nullptr, 0, OnRecord, &events) != 0) {
    collector.Note("reading ended early: the rest of the trace is damaged");
  }
  for (const TraceDatCpuData& data : layout.cpus) {
    if (data.size_bytes > 0 && !events.FirstNs(data.cpu).has_value()) {
      collector.Note(absl::StrCat("CPU ", data.cpu.value, " has ", data.size_bytes,
                                  " bytes of data and no event that can be read"));
    }
  }
  AddStats(layout, events, &collector);
  // trace-cmd's default, and in step where the machine's counters are; the others never are.
  if (layout.clock == "local" && collector.cpus() > 1) {
    collector.Note(
        "local clocks: times of different CPUs compare as far as their clocks are in step");
  }
  absl::StatusOr<ImportedTrace> trace = collector.Finish();
  if (!trace.ok() && events.records() == 0) {
    return absl::InvalidArgumentError("trace.dat without an event that can be read");
  }
  return trace;
}

}  // namespace whylate
