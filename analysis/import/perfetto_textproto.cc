#include "analysis/import/perfetto_textproto.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "analysis/import/perfetto_foreign.h"
#include "analysis/import/text_proto_scan.h"
#include "analysis/model/perfetto_fields.h"

namespace whylate {
namespace {

constexpr size_t kDeepest = 64;
// trace, packet, bundle or process tree: what is open there when the text ends is kept.
constexpr size_t kKeptDepth = 3;

struct TextMessage;
struct TextField {
  absl::string_view name;
  uint32_t number = 0;
  const TextMessage* message = nullptr;  // null: a number or a string, as it is written
};
struct TextMessage {
  absl::Span<const TextField> fields;
};

using perfetto::FtraceEvent;

constexpr TextField kSwitchFields[] = {{"prev_comm", perfetto::SchedSwitch::kPrevComm},
                                       {"prev_pid", perfetto::SchedSwitch::kPrevPid},
                                       {"prev_prio", perfetto::SchedSwitch::kPrevPrio},
                                       {"prev_state", perfetto::SchedSwitch::kPrevState},
                                       {"next_comm", perfetto::SchedSwitch::kNextComm},
                                       {"next_pid", perfetto::SchedSwitch::kNextPid},
                                       {"next_prio", perfetto::SchedSwitch::kNextPrio}};
constexpr TextField kWakeupFields[] = {{"comm", perfetto::SchedWakeup::kComm},
                                       {"pid", perfetto::SchedWakeup::kPid},
                                       {"prio", perfetto::SchedWakeup::kPrio},
                                       {"success", perfetto::SchedWakeup::kSuccess},
                                       {"target_cpu", perfetto::SchedWakeup::kTargetCpu}};
constexpr TextField kMigrateFields[] = {{"comm", perfetto::SchedMigrateTask::kComm},
                                        {"pid", perfetto::SchedMigrateTask::kPid},
                                        {"prio", perfetto::SchedMigrateTask::kPrio},
                                        {"orig_cpu", perfetto::SchedMigrateTask::kOrigCpu},
                                        {"dest_cpu", perfetto::SchedMigrateTask::kDestCpu}};
constexpr TextField kExitFields[] = {{"comm", perfetto::SchedProcessExit::kComm},
                                     {"pid", perfetto::SchedProcessExit::kPid},
                                     {"tgid", perfetto::SchedProcessExit::kTgid},
                                     {"prio", perfetto::SchedProcessExit::kPrio}};
constexpr TextField kNewtaskFields[] = {{"pid", perfetto::TaskNewtask::kPid},
                                        {"comm", perfetto::TaskNewtask::kComm},
                                        {"clone_flags", perfetto::TaskNewtask::kCloneFlags}};
constexpr TextField kRenameFields[] = {{"pid", perfetto::TaskRename::kPid},
                                       {"oldcomm", perfetto::TaskRename::kOldcomm},
                                       {"newcomm", perfetto::TaskRename::kNewcomm}};
constexpr TextField kSoftirqFields[] = {{"vec", perfetto::SoftirqEntry::kVec}};
constexpr TextField kIrqFields[] = {{"irq", perfetto::IrqHandlerEntry::kIrq},
                                    {"name", perfetto::IrqHandlerEntry::kName}};
constexpr TextMessage kSwitch{kSwitchFields};
constexpr TextMessage kWakeup{kWakeupFields};
constexpr TextMessage kMigrate{kMigrateFields};
constexpr TextMessage kExit{kExitFields};
constexpr TextMessage kNewtask{kNewtaskFields};
constexpr TextMessage kRename{kRenameFields};
constexpr TextMessage kSoftirq{kSoftirqFields};
constexpr TextMessage kIrq{kIrqFields};
constexpr TextMessage kNothing{};

constexpr TextField kEventFields[] = {
    {"timestamp", FtraceEvent::kTimestamp},
    {"pid", FtraceEvent::kPid},
    {"common_flags", FtraceEvent::kCommonFlags},
    {"sched_switch", FtraceEvent::kSchedSwitch, &kSwitch},
    {"sched_wakeup", FtraceEvent::kSchedWakeup, &kWakeup},
    {"sched_waking", FtraceEvent::kSchedWaking, &kWakeup},
    {"sched_wakeup_new", FtraceEvent::kSchedWakeupNew, &kWakeup},
    {"sched_migrate_task", FtraceEvent::kSchedMigrateTask, &kMigrate},
    {"sched_process_exit", FtraceEvent::kSchedProcessExit, &kExit},
    {"task_newtask", FtraceEvent::kTaskNewtask, &kNewtask},
    {"task_rename", FtraceEvent::kTaskRename, &kRename},
    {"irq_handler_entry", FtraceEvent::kIrqHandlerEntry, &kIrq},
    {"irq_handler_exit", FtraceEvent::kIrqHandlerExit, &kNothing},
    {"softirq_entry", FtraceEvent::kSoftirqEntry, &kSoftirq},
    {"softirq_exit", FtraceEvent::kSoftirqExit, &kNothing}};
constexpr TextMessage kEvent{kEventFields};
constexpr TextField kBundleFields[] = {{"cpu", perfetto::FtraceBundle::kCpu},
                                       {"event", perfetto::FtraceBundle::kEvent, &kEvent},
                                       {"lost_events", perfetto::FtraceBundle::kLostEvents},
                                       {"ftrace_clock", perfetto::FtraceBundle::kFtraceClock}};
constexpr TextMessage kBundle{kBundleFields};

constexpr TextField kProcessFields[] = {{"pid", perfetto::Process::kPid},
                                        {"cmdline", perfetto::Process::kCmdline},
                                        {"is_kthread", perfetto::Process::kIsKthread}};
constexpr TextField kThreadFields[] = {{"tid", perfetto::Thread::kTid},
                                       {"name", perfetto::Thread::kName},
                                       {"tgid", perfetto::Thread::kTgid}};
constexpr TextMessage kProcess{kProcessFields};
constexpr TextMessage kThread{kThreadFields};
constexpr TextField kTreeFields[] = {{"processes", perfetto::ProcessTree::kProcesses, &kProcess},
                                     {"threads", perfetto::ProcessTree::kThreads, &kThread}};
constexpr TextMessage kTree{kTreeFields};
constexpr TextField kUtsnameFields[] = {{"release", perfetto::Utsname::kRelease}};
constexpr TextMessage kUtsname{kUtsnameFields};
constexpr TextField kSystemInfoFields[] = {{"utsname", perfetto::SystemInfo::kUtsname, &kUtsname}};
constexpr TextMessage kSystemInfo{kSystemInfoFields};
constexpr TextField kPacketFields[] = {
    {"ftrace_events", perfetto::Packet::kFtraceEvents, &kBundle},
    {"process_tree", perfetto::Packet::kProcessTree, &kTree},
    {"system_info", perfetto::Packet::kSystemInfo, &kSystemInfo}};
constexpr TextMessage kPacket{kPacketFields};
constexpr TextField kTraceFields[] = {{"packet", perfetto::Trace::kPacket, &kPacket}};
constexpr TextMessage kTrace{kTraceFields};

// Of FtraceClock, the one enumeration among these fields.
constexpr std::pair<absl::string_view, uint64_t> kClocks[] = {
    {"FTRACE_CLOCK_UNKNOWN", 1},
    {"FTRACE_CLOCK_GLOBAL", perfetto::FtraceBundle::kClockGlobal},
    {"FTRACE_CLOCK_LOCAL", perfetto::FtraceBundle::kClockLocal},
    {"FTRACE_CLOCK_MONO_RAW", perfetto::FtraceBundle::kClockMonoRaw}};

std::optional<uint64_t> ValueOf(absl::string_view word) {
  for (const auto& [name, value] : kClocks) {
    if (word == name) return value;
  }
  return TextProtoNumber(word);
}

const TextField* Find(const TextMessage* message, absl::string_view name) {
  if (message == nullptr) return nullptr;
  for (const TextField& field : message->fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

void AppendVarint(uint64_t value, std::string* bytes) {
  for (; value >= 0x80; value >>= 7) bytes->push_back(static_cast<char>(value | 0x80));
  bytes->push_back(static_cast<char>(value));
}

void AppendBytes(uint32_t number, absl::string_view value, std::string* bytes) {
  AppendVarint(uint64_t{number} << 3 | 2, bytes);
  AppendVarint(value.size(), bytes);
  bytes->append(value.data(), value.size());
}

class TextToBinary {
 public:
  explicit TextToBinary(absl::string_view text) : scanner_(text) {
    open_.push_back({&kTrace, 0, '\0', {}});
  }

  // "" or, in words, where it ended before the text does.
  std::string Convert() {
    bool is_good = true;
    while (is_good && !scanner_.AtEnd()) is_good = Step();
    const bool is_whole = is_good && open_.size() == 1 && name_.empty();
    Close(kKeptDepth);
    if (is_whole) return "";
    return absl::StrCat("cut off, or no text proto, at line ", scanner_.LineNumber(),
                        ": what follows is left out");
  }
  const std::string& bytes() const { return open_[0].bytes; }
  bool has_compact() const { return has_compact_; }

 private:
  struct Message {
    const TextMessage* type = nullptr;  // null: one that is passed over
    uint32_t number = 0;
    char end = '}';
    std::string bytes;
  };

  // Ends what is open: messages at `kept` and above it go into their parents, others are dropped.
  void Close(size_t kept) {
    while (open_.size() > 1) {
      const Message message = std::move(open_.back());
      open_.pop_back();
      if (open_.size() < kept && message.type != nullptr) {
        AppendBytes(message.number, message.bytes, &open_.back().bytes);
      }
    }
  }

  bool Step() {
    if (!scanner_.Next()) return false;
    const TextProtoToken& token = scanner_.token();
    if (token.Is('}') || token.Is('>')) return EndMessage(token.word[0]);
    if (token.Is('{')) return BeginMessage('}');
    if (token.Is('<')) return BeginMessage('>');
    if (token.Is('[')) {
      if (name_.empty()) return ExtensionName();
      in_list_ = true;
      return has_colon_;
    }
    if (token.Is(']')) {
      if (!in_list_) return false;
      EndField();
      return true;
    }
    if (token.Is(',') || token.Is(';')) return true;
    if (token.Is(':')) {
      has_colon_ = true;
      return !name_.empty();
    }
    if (token.kind == TextProtoToken::Kind::kSign) return false;
    if (token.kind == TextProtoToken::Kind::kWord && !has_colon_) {
      name_ = token.word;
      return true;
    }
    return Value(token);
  }

  void EndField() {
    name_ = absl::string_view();
    has_colon_ = false;
    in_list_ = false;
  }

  // "[name.of.extension]": a name that nothing here has.
  bool ExtensionName() {
    while (scanner_.Next()) {
      if (scanner_.token().Is(']')) {
        name_ = "[]";
        return true;
      }
    }
    return false;
  }

  bool BeginMessage(char end) {
    if (name_.empty() || open_.size() >= kDeepest) return false;
    has_compact_ = has_compact_ || name_ == "compact_sched";
    const TextField* field = Find(open_.back().type, name_);
    const bool is_known = field != nullptr && field->message != nullptr;
    open_.push_back({is_known ? field->message : nullptr, is_known ? field->number : 0, end, {}});
    EndField();
    return true;
  }

  bool EndMessage(char end) {
    if (open_.size() < 2 || open_.back().end != end) return false;
    const Message message = std::move(open_.back());
    open_.pop_back();
    EndField();
    if (message.type != nullptr) {
      AppendBytes(message.number, message.bytes, &open_.back().bytes);
    }
    return true;
  }

  bool Value(const TextProtoToken& token) {
    if (name_.empty()) return false;
    const TextField* field = Find(open_.back().type, name_);
    if (!in_list_) EndField();
    // A value at the very end may be half of one.
    const bool is_used = field != nullptr && field->message == nullptr && !scanner_.AtEnd();
    if (!is_used) return true;
    std::string* bytes = &open_.back().bytes;
    if (token.kind == TextProtoToken::Kind::kString) {
      AppendBytes(field->number, token.string, bytes);
    } else if (const std::optional<uint64_t> value = ValueOf(token.word); value.has_value()) {
      AppendVarint(uint64_t{field->number} << 3, bytes);
      AppendVarint(*value, bytes);
    }
    return true;
  }

  TextProtoScanner scanner_;
  std::vector<Message> open_;
  absl::string_view name_;  // of a field whose value comes next
  bool has_colon_ = false;
  bool in_list_ = false;
  bool has_compact_ = false;
};

}  // namespace

bool LooksLikePerfettoText(absl::string_view text) {
  TextProtoScanner scanner(text);
  if (!scanner.Next() || scanner.token().word != "packet" || !scanner.Next()) return false;
  if (scanner.token().Is(':') && !scanner.Next()) return false;
  return scanner.token().Is('{') || scanner.token().Is('<');
}

absl::StatusOr<ImportedTrace> ImportPerfettoText(absl::string_view text,
                                                 const ImportLimits& limits) {
  TextToBinary binary(text);
  const std::string note = binary.Convert();
  absl::StatusOr<ImportedTrace> trace = ReadForeignPerfetto(binary.bytes(), limits);
  if (!trace.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(trace.status().message(), note.empty() ? "" : "; ", note));
  }
  trace->format = "perfetto text";
  trace->recording.trace->source = trace->format;
  if (!note.empty()) trace->notes.push_back(note);
  if (binary.has_compact()) {
    trace->notes.push_back("compact scheduler events in text form are not read");
  }
  return trace;
}

}  // namespace whylate
