#include "userspace/trace/bpf_programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "analysis/model/ids.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/unique_fd.h"
#include "userspace/trace/libbpf_log.h"
// Generated; brings the types and limits of bpf/sched_event.h with it.
#include "whylate_capture.skel.h"

namespace whylate {
namespace {

constexpr char kBtfPath[] = "/sys/kernel/btf/vmlinux";
constexpr absl::string_view kTracepointSection = "tp_btf/";

// Without these there is no recording. The others are facts that some kernels do not offer.
constexpr absl::string_view kRequired[] = {"sched_switch", "sched_waking", "sched_wakeup",
                                           "sched_wakeup_new", "sched_migrate_task"};

struct SkeletonDeleter {
  void operator()(capture_bpf* skeleton) const { capture_bpf::destroy(skeleton); }
};
struct RingDeleter {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};
struct BtfDeleter {
  void operator()(btf* types) const { btf__free(types); }
};
struct LinkDeleter {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

bool IsRequired(absl::string_view tracepoint) {
  return std::find(std::begin(kRequired), std::end(kRequired), tracepoint) != std::end(kRequired);
}

// The tracepoint of a program, or empty for the seeds, which have none.
absl::string_view TracepointOf(const bpf_program* program) {
  absl::string_view section = bpf_program__section_name(program);
  if (!absl::ConsumePrefix(&section, kTracepointSection)) return "";
  return section;
}

// Turns off the programs whose tracepoint this kernel does not have.
absl::Status ChoosePrograms(bpf_object* object) {
  if (access(kBtfPath, R_OK) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("read ", kBtfPath, ": ", std::strerror(errno),
                     "; the kernel needs CONFIG_DEBUG_INFO_BTF=y"));
  }
  std::unique_ptr<btf, BtfDeleter> types(btf__load_vmlinux_btf());
  if (types == nullptr) return ErrnoStatus(errno, absl::StrCat("parse ", kBtfPath));
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object) {
    const absl::string_view tracepoint = TracepointOf(program);
    if (tracepoint.empty()) continue;
    const std::string type = absl::StrCat("btf_trace_", tracepoint);
    if (btf__find_by_name_kind(types.get(), type.c_str(), BTF_KIND_TYPEDEF) >= 0) continue;
    if (IsRequired(tracepoint)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "this kernel has no BTF tracepoint ", tracepoint, "; Linux 6.1 or later is needed"));
    }
    bpf_program__set_autoload(program, false);
  }
  return absl::OkStatus();
}

uint32_t RingBytes(int64_t requested_bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t bounded = std::clamp(requested_bytes, page, int64_t{1} << 30);
  return std::bit_ceil(static_cast<uint32_t>(bounded));
}

int HandleRecord(void* context, void* record, size_t size_bytes) {
  (*static_cast<const std::function<void(const void*, size_t)>*>(context))(record, size_bytes);
  return 0;
}

}  // namespace

struct BpfPrograms::State {
  std::unique_ptr<capture_bpf, SkeletonDeleter> skeleton;
  std::unique_ptr<ring_buffer, RingDeleter> ring;
  std::vector<std::unique_ptr<bpf_link, LinkDeleter>> links;
  std::function<void(const void*, size_t)> consume;  // HandleRecord's context
  int32_t possible_cpus = 0;

  absl::Span<const whylate_cpu> Cpus() const {
    return absl::MakeConstSpan(skeleton->bss->cpus, static_cast<size_t>(possible_cpus));
  }
};

BpfPrograms::BpfPrograms(std::unique_ptr<State> state) : state_(std::move(state)) {}

BpfPrograms::~BpfPrograms() { Detach(); }

absl::StatusOr<std::unique_ptr<BpfPrograms>> BpfPrograms::Load(const BpfLoadOptions& options) {
  if (options.buffer_bytes <= 0)
    return absl::InvalidArgumentError("a trace buffer needs a size above 0");
  LibbpfLog log;
  auto state = std::make_unique<State>();
  state->possible_cpus = libbpf_num_possible_cpus();
  if (state->possible_cpus <= 0 || state->possible_cpus > WHYLATE_MAX_CPUS) {
    return absl::FailedPreconditionError(
        absl::StrCat("this kernel says that ", state->possible_cpus, " CPUs are possible; 1 to ",
                     WHYLATE_MAX_CPUS, " are supported"));
  }
  state->skeleton.reset(capture_bpf::open());
  if (state->skeleton == nullptr) return log.Failure(errno, "open the eBPF object");
  capture_bpf* skeleton = state->skeleton.get();
  RETURN_IF_ERROR(ChoosePrograms(skeleton->obj));
  if (!options.watch_affinity_calls) bpf_program__set_autoload(skeleton->progs.on_sys_exit, false);
  skeleton->rodata->mask_chunks =
      static_cast<uint32_t>((state->possible_cpus + WHYLATE_MASK_CPUS - 1) / WHYLATE_MASK_CPUS);
  bpf_map__set_max_entries(skeleton->maps.records, RingBytes(options.buffer_bytes));
  const int error = -capture_bpf::load(skeleton);
  if (error != 0) return log.Failure(error, "load the eBPF programs");
  // The callback's context must outlive the ring: it is the State's own member.
  state->ring.reset(ring_buffer__new(bpf_map__fd(skeleton->maps.records), HandleRecord,
                                     &state->consume, nullptr));
  if (state->ring == nullptr) return log.Failure(errno, "map the eBPF ring buffer");
  return std::unique_ptr<BpfPrograms>(new BpfPrograms(std::move(state)));
}

absl::Status BpfPrograms::Attach() {
  LibbpfLog log;
  // Exits first: an entry without its exit would leave a CPU in an interrupt that is over.
  for (const bool exits : {true, false}) {
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, state_->skeleton->obj) {
      const absl::string_view tracepoint = TracepointOf(program);
      if (tracepoint.empty() || !bpf_program__autoload(program) ||
          absl::EndsWith(tracepoint, "_exit") != exits) {
        continue;
      }
      bpf_link* link = bpf_program__attach(program);
      if (link == nullptr) {
        return log.Failure(errno, absl::StrCat("attach to the tracepoint ", tracepoint));
      }
      state_->links.emplace_back(link);
    }
  }
  return absl::OkStatus();
}

void BpfPrograms::Detach() {
  // Entries before exits, for the same reason.
  while (!state_->links.empty()) state_->links.pop_back();
}

void BpfPrograms::SetRecording(bool on) {
  std::atomic_ref<uint32_t>(state_->skeleton->bss->enabled).store(on ? 1 : 0);
}

absl::Status BpfPrograms::Watch(Tgid tgid) {
  capture_bpf::capture_bpf__bss* shared = state_->skeleton->bss;
  const uint32_t count = shared->watched_count;
  if (count >= WHYLATE_MAX_WATCHED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("watch process ", tgid.value, ": ", count, " are watched already"));
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (shared->watched_tgids[i] == static_cast<uint32_t>(tgid.value)) return absl::OkStatus();
  }
  shared->watched_tgids[count] = static_cast<uint32_t>(tgid.value);
  std::atomic_ref<uint32_t>(shared->watched_count).store(count + 1, std::memory_order_release);
  return absl::OkStatus();
}

absl::Status BpfPrograms::SeedCpus() {
  const int program = bpf_program__fd(state_->skeleton->progs.seed_cpu);
  for (int32_t cpu = 0; cpu < state_->possible_cpus; ++cpu) {
    LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU,
                .cpu = static_cast<uint32_t>(cpu));
    const int error = -bpf_prog_test_run_opts(program, &options);
    // ENXIO: the CPU is offline.
    if (error != 0 && error != ENXIO) {
      return ErrnoStatus(error, absl::StrCat("run an eBPF program on CPU ", cpu));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> BpfPrograms::ReadTaskSeeds() {
  LibbpfLog log;
  std::unique_ptr<bpf_link, LinkDeleter> link(
      bpf_program__attach_iter(state_->skeleton->progs.seed_task, nullptr));
  if (link == nullptr) return log.Failure(errno, "attach the iterator over tasks");
  const UniqueFd iterator(bpf_iter_create(bpf_link__fd(link.get())));
  if (!iterator.valid()) return log.Failure(errno, "open the iterator over tasks");
  std::vector<uint8_t> bytes;
  uint8_t buffer[16384];
  for (;;) {
    const ssize_t got = read(iterator.get(), buffer, sizeof(buffer));
    if (got == 0) return bytes;
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return ErrnoStatus(errno, "read the iterator over tasks");
    bytes.insert(bytes.end(), buffer, buffer + got);
  }
}

absl::Status BpfPrograms::Drain(const std::function<void(const void*, size_t)>& consume) {
  state_->consume = consume;
  const int result = ring_buffer__consume(state_->ring.get());
  if (result < 0) return ErrnoStatus(-result, "read the eBPF ring buffer");
  return absl::OkStatus();
}

BpfPrograms::Counters BpfPrograms::ReadCounters() const {
  Counters counters;
  for (const whylate_cpu& cpu : state_->Cpus()) {
    counters.attempts.push_back(cpu.attempts);
    counters.lost.push_back(cpu.lost);
  }
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, state_->skeleton->obj) {
    bpf_prog_info info = {};
    uint32_t size = sizeof(info);
    if (!bpf_program__autoload(program) ||
        bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) != 0) {
      continue;
    }
    counters.recursion_misses += info.recursion_misses;
    counters.run_ns += info.run_time_ns;
    counters.run_count += info.run_cnt;
  }
  return counters;
}

std::map<int32_t, std::string> BpfPrograms::ReadIrqNames() const {
  std::map<int32_t, std::string> names;
  const int map = bpf_map__fd(state_->skeleton->maps.irq_names);
  uint32_t irq = 0;
  uint32_t* previous = nullptr;
  uint32_t next = 0;
  while (bpf_map_get_next_key(map, previous, &next) == 0) {
    char name[WHYLATE_NAME_LEN + 1] = {};
    if (bpf_map_lookup_elem(map, &next, name) == 0) names[static_cast<int32_t>(next)] = name;
    irq = next;
    previous = &irq;
  }
  return names;
}

std::map<uint32_t, std::vector<uint64_t>> BpfPrograms::ReadStacks() const {
  std::map<uint32_t, std::vector<uint64_t>> stacks;
  const int map = bpf_map__fd(state_->skeleton->maps.stacks);
  uint32_t stack = 0;
  uint32_t* previous = nullptr;
  uint32_t next = 0;
  while (bpf_map_get_next_key(map, previous, &next) == 0) {
    uint64_t addresses[WHYLATE_STACK_DEPTH] = {};
    if (bpf_map_lookup_elem(map, &next, addresses) == 0) {
      std::vector<uint64_t>& frames = stacks[next];
      for (const uint64_t address : addresses) {
        if (address != 0) frames.push_back(address);
      }
    }
    stack = next;
    previous = &stack;
  }
  return stacks;
}

bool BpfPrograms::has_irq_times() const {
  return bpf_program__autoload(state_->skeleton->progs.on_irq_handler_exit) &&
         bpf_program__autoload(state_->skeleton->progs.on_softirq_exit);
}

uint32_t BpfPrograms::abi_version() const { return state_->skeleton->rodata->abi_version; }

int32_t BpfPrograms::possible_cpus() const { return state_->possible_cpus; }

int64_t BpfPrograms::buffer_bytes() const {
  return bpf_map__max_entries(state_->skeleton->maps.records);
}

}  // namespace whylate
