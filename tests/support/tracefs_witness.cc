#include "tests/support/tracefs_witness.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <traceevent/event-parse.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "analysis/model/ids.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/files.h"
#include "userspace/platform/unique_fd.h"

extern "C" {  // libtraceevent 1.7.1 forgets it in this header
#include <traceevent/kbuffer.h>
}

namespace whylate {
namespace {

constexpr char kTracefs[] = "/sys/kernel/tracing";
constexpr int64_t kTracefsMagic = 0x74726163;
constexpr char kBufferKib[] = "32768";  // of each CPU

struct EventRow {
  const char* name;
  WitnessKind kind;
  const char* task_field;
  const char* next_field;  // or null; of a migration where to
};
constexpr EventRow kEvents[] = {
    {"sched_switch", WitnessKind::kSwitch, "prev_pid", "next_pid"},
    {"sched_waking", WitnessKind::kWaking, "pid", nullptr},
    {"sched_wakeup", WitnessKind::kWakeup, "pid", nullptr},
    {"sched_wakeup_new", WitnessKind::kWakeupNew, "pid", nullptr},
    {"sched_migrate_task", WitnessKind::kMigrate, "pid", "dest_cpu"},
};

struct Format {
  WitnessKind kind = WitnessKind::kSwitch;
  tep_format_field* task = nullptr;
  tep_format_field* next = nullptr;
};

struct TepDeleter {
  void operator()(tep_handle* tep) const { tep_free(tep); }
};
struct KbufferDeleter {
  void operator()(kbuffer* buffer) const { kbuffer_free(buffer); }
};

struct CpuBuffer {
  CpuId cpu;
  UniqueFd fd;
};

// The mount of tracefs, when it is ours.
class TracefsMount {
 public:
  TracefsMount() = default;
  TracefsMount(const TracefsMount&) = delete;
  TracefsMount& operator=(const TracefsMount&) = delete;
  ~TracefsMount() {
    if (mounted_) umount2(kTracefs, MNT_DETACH);
  }
  absl::Status Ensure() {
    struct statfs what = {};
    if (statfs(kTracefs, &what) == 0 && int64_t{what.f_type} == kTracefsMagic) {
      return absl::OkStatus();
    }
    if (mount("tracefs", kTracefs, "tracefs", 0, nullptr) != 0) {
      return ErrnoStatus(errno, absl::StrCat("mount tracefs on ", kTracefs));
    }
    mounted_ = true;
    return absl::OkStatus();
  }

 private:
  bool mounted_ = false;
};

absl::Status WriteControl(const std::string& path, const std::string& value) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("open ", path));
  if (write(fd.get(), value.data(), value.size()) < 0) {
    return ErrnoStatus(errno, absl::StrCat("write '", value, "' to ", path));
  }
  return absl::OkStatus();
}

}  // namespace

struct TracefsWitness::State {
  TracefsMount mount;
  std::string instance;  // its folder, empty until it exists
  std::unique_ptr<tep_handle, TepDeleter> tep;
  std::map<int, Format> formats;  // by event id
  std::unique_ptr<kbuffer, KbufferDeleter> page_reader;
  std::vector<uint8_t> page;
  std::vector<CpuBuffer> buffers;
  std::atomic<bool> stopping = false;
  std::thread reader;
  WitnessRecording recording;

  ~State() {
    StopReader();
    buffers.clear();
    if (!instance.empty()) rmdir(instance.c_str());
  }

  void StopReader() {
    stopping = true;
    if (reader.joinable()) reader.join();
  }

  absl::Status CreateInstance();
  absl::Status LoadFormats();
  absl::Status OpenBuffers();
  bool DrainAll();
  void TakePage(CpuId cpu);
  void TakeEvent(CpuId cpu, int64_t time_ns, void* data);
};

absl::Status TracefsWitness::State::CreateInstance() {
  const std::string path = absl::StrCat(kTracefs, "/instances/whylate-test-", getpid());
  if (mkdir(path.c_str(), 0700) != 0) return ErrnoStatus(errno, absl::StrCat("create ", path));
  instance = path;
  RETURN_IF_ERROR(WriteControl(absl::StrCat(instance, "/tracing_on"), "0"));
  RETURN_IF_ERROR(WriteControl(absl::StrCat(instance, "/trace_clock"), "mono"));
  RETURN_IF_ERROR(WriteControl(absl::StrCat(instance, "/buffer_size_kb"), kBufferKib));
  for (const EventRow& row : kEvents) {
    RETURN_IF_ERROR(
        WriteControl(absl::StrCat(instance, "/events/sched/", row.name, "/enable"), "1"));
  }
  return absl::OkStatus();
}

absl::Status TracefsWitness::State::LoadFormats() {
  tep.reset(tep_alloc());
  page_reader.reset(kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE));
  if (tep == nullptr || page_reader == nullptr)
    return absl::ResourceExhaustedError("libtraceevent");
  for (const EventRow& row : kEvents) {
    ASSIGN_OR_RETURN(const std::string text,
                     ReadFile(absl::StrCat(instance, "/events/sched/", row.name, "/format")));
    if (tep_parse_event(tep.get(), text.c_str(), text.size(), "sched") != TEP_ERRNO__SUCCESS) {
      return absl::InternalError(
          absl::StrCat("libtraceevent cannot parse the format of ", row.name));
    }
    tep_event* event = tep_find_event_by_name(tep.get(), "sched", row.name);
    if (event == nullptr) return absl::InternalError(absl::StrCat("no event ", row.name));
    Format format;
    format.kind = row.kind;
    format.task = tep_find_field(event, row.task_field);
    if (row.next_field != nullptr) format.next = tep_find_field(event, row.next_field);
    if (format.task == nullptr || (row.next_field != nullptr && format.next == nullptr)) {
      return absl::InternalError(absl::StrCat(row.name, " lacks a field"));
    }
    formats[event->id] = format;
  }
  return absl::OkStatus();
}

absl::Status TracefsWitness::State::OpenBuffers() {
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  for (int32_t cpu = 0; cpu < cpus; ++cpu) {
    const std::string path = absl::StrCat(instance, "/per_cpu/cpu", cpu, "/trace_pipe_raw");
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("open ", path));
    buffers.push_back({CpuId{cpu}, std::move(fd)});
  }
  // One read gives one sub-buffer: a page, or what buffer_subbuf_size_kb says (6.8 and later).
  page.resize(static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  return absl::OkStatus();
}

// False when nothing was there.
bool TracefsWitness::State::DrainAll() {
  bool found = false;
  for (const CpuBuffer& buffer : buffers) {
    while (read(buffer.fd.get(), page.data(), page.size()) > 0) {
      TakePage(buffer.cpu);
      found = true;
    }
  }
  return found;
}

void TracefsWitness::State::TakePage(CpuId cpu) {
  if (kbuffer_load_subbuffer(page_reader.get(), page.data()) != 0) return;
  if (kbuffer_missed_events(page_reader.get()) != 0) ++recording.lost_buffers;
  unsigned long long time_ns = 0;
  for (void* data = kbuffer_read_event(page_reader.get(), &time_ns); data != nullptr;
       data = kbuffer_next_event(page_reader.get(), &time_ns)) {
    TakeEvent(cpu, static_cast<int64_t>(time_ns), data);
  }
}

void TracefsWitness::State::TakeEvent(CpuId cpu, int64_t time_ns, void* data) {
  uint16_t id = 0;  // common_type, the first field of every event
  std::memcpy(&id, data, sizeof(id));
  auto format = formats.find(id);
  if (format == formats.end()) return;
  WitnessEvent event;
  event.time_ns = time_ns;
  event.kind = format->second.kind;
  unsigned long long value = 0;
  tep_read_number_field(format->second.task, data, &value);
  event.task = Tid{static_cast<int32_t>(value)};
  if (format->second.next != nullptr) {
    tep_read_number_field(format->second.next, data, &value);
    event.next = Tid{static_cast<int32_t>(value)};
  }
  if (event.kind == WitnessKind::kMigrate) {
    recording.migrations.push_back({time_ns, event.task, CpuId{event.next.value}});
    return;
  }
  recording.events[cpu].push_back(event);
}

TracefsWitness::TracefsWitness(std::unique_ptr<State> state) : state_(std::move(state)) {}

TracefsWitness::~TracefsWitness() = default;

absl::StatusOr<std::unique_ptr<TracefsWitness>> TracefsWitness::Create() {
  auto state = std::make_unique<State>();
  RETURN_IF_ERROR(state->mount.Ensure());
  RETURN_IF_ERROR(state->CreateInstance());
  RETURN_IF_ERROR(state->LoadFormats());
  RETURN_IF_ERROR(state->OpenBuffers());
  return std::unique_ptr<TracefsWitness>(new TracefsWitness(std::move(state)));
}

absl::Status TracefsWitness::Start() {
  RETURN_IF_ERROR(WriteControl(absl::StrCat(state_->instance, "/tracing_on"), "1"));
  state_->reader = std::thread([state = state_.get()] {
    while (!state->stopping) {
      if (!state->DrainAll()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  return absl::OkStatus();
}

absl::Status TracefsWitness::End() {
  return WriteControl(absl::StrCat(state_->instance, "/tracing_on"), "0");
}

absl::StatusOr<WitnessRecording> TracefsWitness::Stop() {
  RETURN_IF_ERROR(End());
  state_->StopReader();
  while (state_->DrainAll()) {
  }
  return std::move(state_->recording);
}

}  // namespace whylate
