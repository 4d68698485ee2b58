#include "analysis/import/trace_dat_layout.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/text_scan.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/status_macros.h"

namespace whylate {
namespace {

constexpr absl::string_view kMagic("\x17\x08\x44tracing", 10);

// Options, by their numbers in the file.
constexpr uint16_t kDone = 0;
constexpr uint16_t kCpuStat = 2;
constexpr uint16_t kBuffer = 3;
constexpr uint16_t kTraceClock = 4;
constexpr uint16_t kUname = 5;
constexpr uint16_t kFirstSectionOption = 16;  // header, formats, symbols, names: an offset each
constexpr uint16_t kLastSectionOption = 21;
constexpr uint16_t kEventFormats = 18;
constexpr uint16_t kBufferText = 22;

constexpr uint64_t kSectionHeaderBytes = 16;
constexpr uint16_t kSectionIsCompressed = 1;
constexpr size_t kMostParts = 1'000'000;

// Reads the file's words in its own byte order; every read is checked.
class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  void set_big_endian(bool big_endian) { big_endian_ = big_endian; }
  size_t size() const { return bytes_.size(); }
  size_t position() const { return position_; }

  absl::Status Seek(uint64_t position, absl::string_view what) {
    if (position > bytes_.size()) return Cut(position, what);
    position_ = static_cast<size_t>(position);
    return absl::OkStatus();
  }
  absl::StatusOr<absl::string_view> Bytes(uint64_t count, absl::string_view what) {
    if (count > bytes_.size() - position_) return Cut(position_ + count, what);
    const absl::string_view bytes = bytes_.substr(position_, static_cast<size_t>(count));
    position_ += static_cast<size_t>(count);
    return bytes;
  }
  absl::StatusOr<uint64_t> Word(size_t bytes, absl::string_view what) {
    ASSIGN_OR_RETURN(const absl::string_view raw, Bytes(bytes, what));
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) {
      const size_t at = big_endian_ ? i : bytes - 1 - i;
      value = value << 8 | static_cast<unsigned char>(raw[at]);
    }
    return value;
  }
  // Up to a NUL, which is taken as well.
  absl::StatusOr<absl::string_view> String(absl::string_view what) {
    const size_t end = bytes_.find('\0', position_);
    if (end == absl::string_view::npos) return Cut(bytes_.size() + 1, what);
    const absl::string_view text = bytes_.substr(position_, end - position_);
    position_ = end + 1;
    return text;
  }
  // A size of `size_bytes` and as many bytes as it says.
  absl::StatusOr<absl::string_view> Sized(size_t size_bytes, absl::string_view what) {
    ASSIGN_OR_RETURN(const uint64_t size, Word(size_bytes, what));
    return Bytes(size, what);
  }
  absl::Status Cut(uint64_t end, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("trace.dat is cut or damaged: ", what,
                                                   " expected up to byte ", end, ", it ends at ",
                                                   bytes_.size()));
  }

 private:
  absl::string_view bytes_;
  size_t position_ = 0;
  bool big_endian_ = false;
};

// "entries: 7" and the like.
TraceDatCpuStats ParseStats(absl::string_view text) {
  TraceDatCpuStats stats;
  stats.cpu = CpuId{-1};
  while (!text.empty()) {
    absl::string_view line = TakeLine(&text);
    auto value = [&](absl::string_view key) -> std::optional<int64_t> {
      absl::string_view rest = line;
      if (!TakePrefix(&rest, key)) return std::nullopt;
      SkipBlanks(&rest);
      return TakeNumber(&rest);
    };
    if (const auto cpu = value("CPU:"); cpu.has_value() && *cpu < CpuSet::kMaxCpus) {
      stats.cpu = CpuId{static_cast<int32_t>(*cpu)};
    }
    if (const auto count = value("entries:")) stats.unread = static_cast<uint64_t>(*count);
    if (const auto count = value("overrun:")) stats.overrun = static_cast<uint64_t>(*count);
    if (const auto count = value("dropped events:")) stats.dropped = static_cast<uint64_t>(*count);
  }
  return stats;
}

// The one in brackets of "[local] global counter"; a single word is itself.
std::string ParseClock(absl::string_view text) {
  text = text.substr(0, text.find('\0'));
  const size_t open = text.find('[');
  if (open != absl::string_view::npos) text = text.substr(open + 1, text.find(']') - open - 1);
  return std::string(TrimBlanks(text.substr(0, text.find('\n'))));
}

class LayoutReader {
 public:
  explicit LayoutReader(absl::string_view bytes) : in_(bytes) {}

  absl::StatusOr<TraceDatLayout> Read();

 private:
  absl::Status ReadVersion6();
  absl::Status SkipFormats();
  absl::Status ReadOptions6();
  absl::Status ReadCpuTable(uint64_t count, bool with_ids);
  absl::Status ReadVersion7();
  absl::Status ReadOptionsSection(uint64_t offset, uint64_t* next);
  absl::Status OnOption(uint16_t id, absl::string_view data, size_t data_position);
  absl::Status OnBuffer7(absl::string_view data, size_t data_position);
  absl::Status CheckSection(uint64_t offset);

  Reader in_;
  TraceDatLayout layout_;
  bool has_formats_ = false;
  bool has_buffer_ = false;
};

absl::StatusOr<TraceDatLayout> LayoutReader::Read() {
  RETURN_IF_ERROR(in_.Seek(kMagic.size(), "header"));
  ASSIGN_OR_RETURN(const absl::string_view version, in_.String("header"));
  if (version != "6" && version != "7") {
    return absl::InvalidArgumentError(absl::StrCat(
        "trace.dat of version '", absl::CHexEscape(version.substr(0, 16)), "'; 6 and 7 are read"));
  }
  layout_.version = version == "6" ? 6 : 7;
  ASSIGN_OR_RETURN(const uint64_t big_endian, in_.Word(1, "header"));
  in_.set_big_endian(big_endian != 0);
  RETURN_IF_ERROR(in_.Bytes(5, "header").status());  // the size of a long and of a page
  if (layout_.version == 6) {
    RETURN_IF_ERROR(ReadVersion6());
  } else {
    RETURN_IF_ERROR(ReadVersion7());
  }
  for (const TraceDatCpuData& data : layout_.cpus) {
    if (data.offset > in_.size() || data.size_bytes > in_.size() - data.offset) {
      return in_.Cut(data.offset + data.size_bytes, absl::StrCat("data of CPU ", data.cpu.value));
    }
  }
  return std::move(layout_);
}

absl::Status LayoutReader::SkipFormats() {
  ASSIGN_OR_RETURN(const uint64_t ftrace_formats, in_.Word(4, "ftrace formats"));
  for (uint64_t i = 0; i < ftrace_formats; ++i) {
    RETURN_IF_ERROR(in_.Sized(8, "ftrace formats").status());
  }
  ASSIGN_OR_RETURN(const uint64_t systems, in_.Word(4, "event formats"));
  for (uint64_t i = 0; i < systems; ++i) {
    RETURN_IF_ERROR(in_.String("event formats").status());
    ASSIGN_OR_RETURN(const uint64_t events, in_.Word(4, "event formats"));
    for (uint64_t event = 0; event < events; ++event) {
      RETURN_IF_ERROR(in_.Sized(8, "event formats").status());
    }
  }
  return absl::OkStatus();
}

absl::Status LayoutReader::ReadVersion6() {
  for (const char* part : {"header_page", "header_event"}) {
    ASSIGN_OR_RETURN(const absl::string_view name, in_.String("header"));
    if (name != part) {
      return absl::InvalidArgumentError(
          absl::StrCat("trace.dat is damaged: no ", part, " at byte ", in_.position()));
    }
    RETURN_IF_ERROR(in_.Sized(8, part).status());
  }
  RETURN_IF_ERROR(SkipFormats());
  RETURN_IF_ERROR(in_.Sized(4, "symbols").status());
  RETURN_IF_ERROR(in_.Sized(4, "printk formats").status());
  RETURN_IF_ERROR(in_.Sized(8, "task names").status());
  ASSIGN_OR_RETURN(const uint64_t cpus, in_.Word(4, "number of CPUs"));
  ASSIGN_OR_RETURN(absl::string_view kind, in_.Bytes(10, "kind of data"));
  if (kind.substr(0, 7) == "options") {
    RETURN_IF_ERROR(ReadOptions6());
    ASSIGN_OR_RETURN(kind, in_.Bytes(10, "kind of data"));
  }
  if (kind.substr(0, 7) == "latency") {
    return absl::InvalidArgumentError(
        "trace.dat of a latency tracer: its text alone is in it; give the text itself");
  }
  if (kind.substr(0, 9) != "flyrecord") {
    return absl::InvalidArgumentError(
        absl::StrCat("trace.dat is damaged: no event data at byte ", in_.position()));
  }
  return ReadCpuTable(cpus, /*with_ids=*/false);
}

absl::Status LayoutReader::ReadOptions6() {
  while (true) {
    ASSIGN_OR_RETURN(const uint64_t id, in_.Word(2, "options"));
    if (id == kDone) return absl::OkStatus();
    ASSIGN_OR_RETURN(const uint64_t size, in_.Word(4, "options"));
    const size_t position = in_.position();
    ASSIGN_OR_RETURN(const absl::string_view data, in_.Bytes(size, "options"));
    RETURN_IF_ERROR(OnOption(static_cast<uint16_t>(id), data, position));
  }
}

absl::Status LayoutReader::ReadCpuTable(uint64_t count, bool with_ids) {
  if (count > static_cast<uint64_t>(CpuSet::kMaxCpus)) {
    return absl::InvalidArgumentError(absl::StrCat("trace.dat is damaged: ", count, " CPUs"));
  }
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t cpu = i;
    if (with_ids) {
      ASSIGN_OR_RETURN(cpu, in_.Word(4, "CPUs"));
      if (cpu >= static_cast<uint64_t>(CpuSet::kMaxCpus)) {
        return absl::InvalidArgumentError(absl::StrCat("trace.dat is damaged: CPU ", cpu));
      }
    }
    ASSIGN_OR_RETURN(const uint64_t offset, in_.Word(8, "CPUs"));
    ASSIGN_OR_RETURN(const uint64_t size, in_.Word(8, "CPUs"));
    layout_.cpus.push_back({CpuId{static_cast<int32_t>(cpu)}, offset, size});
  }
  return absl::OkStatus();
}

absl::Status LayoutReader::ReadVersion7() {
  ASSIGN_OR_RETURN(const absl::string_view compression, in_.String("header"));
  layout_.compression = std::string(compression.substr(0, 32));
  RETURN_IF_ERROR(in_.String("header").status());
  ASSIGN_OR_RETURN(uint64_t offset, in_.Word(8, "header"));
  if (offset == 0) {
    return absl::InvalidArgumentError("trace.dat has no options: its recording was not finished");
  }
  std::set<uint64_t> seen;
  while (offset != 0) {
    if (seen.size() >= kMostParts || !seen.insert(offset).second) {
      return absl::InvalidArgumentError("trace.dat is damaged: its options go in a circle");
    }
    RETURN_IF_ERROR(ReadOptionsSection(offset, &offset));
  }
  if (!has_formats_ || !has_buffer_) {
    return absl::InvalidArgumentError(absl::StrCat("trace.dat has no ",
                                                   has_formats_ ? "event data" : "event formats",
                                                   ": its recording was not finished"));
  }
  return absl::OkStatus();
}

absl::Status LayoutReader::ReadOptionsSection(uint64_t offset, uint64_t* next) {
  RETURN_IF_ERROR(in_.Seek(offset, "options"));
  ASSIGN_OR_RETURN(const uint64_t section, in_.Word(2, "options"));
  ASSIGN_OR_RETURN(const uint64_t flags, in_.Word(2, "options"));
  RETURN_IF_ERROR(in_.Word(4, "options").status());
  ASSIGN_OR_RETURN(const uint64_t size, in_.Word(8, "options"));
  if (section != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("trace.dat is damaged: no options at byte ", offset));
  }
  if ((flags & kSectionIsCompressed) != 0) {
    return absl::InvalidArgumentError("trace.dat with compressed options is not read");
  }
  const size_t begin = in_.position();
  RETURN_IF_ERROR(in_.Bytes(size, "options").status());
  const size_t end = in_.position();
  RETURN_IF_ERROR(in_.Seek(begin, "options"));
  *next = 0;
  while (in_.position() < end) {
    ASSIGN_OR_RETURN(const uint64_t id, in_.Word(2, "options"));
    ASSIGN_OR_RETURN(const uint64_t data_size, in_.Word(4, "options"));
    const size_t position = in_.position();
    if (id == kDone) {
      if (data_size < 8) return absl::OkStatus();
      ASSIGN_OR_RETURN(*next, in_.Word(8, "options"));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const absl::string_view data, in_.Bytes(data_size, "options"));
    RETURN_IF_ERROR(OnOption(static_cast<uint16_t>(id), data, position));
    RETURN_IF_ERROR(in_.Seek(position + data_size, "options"));
  }
  return absl::OkStatus();
}

absl::Status LayoutReader::CheckSection(uint64_t offset) {
  RETURN_IF_ERROR(in_.Seek(offset, "sections"));
  RETURN_IF_ERROR(in_.Bytes(kSectionHeaderBytes - 8, "sections").status());
  return in_.Sized(8, "sections").status();
}

absl::Status LayoutReader::OnBuffer7(absl::string_view data, size_t data_position) {
  RETURN_IF_ERROR(in_.Seek(data_position, "buffer"));
  ASSIGN_OR_RETURN(const uint64_t section, in_.Word(8, "buffer"));
  ASSIGN_OR_RETURN(const absl::string_view name, in_.String("buffer"));
  ASSIGN_OR_RETURN(const absl::string_view clock, in_.String("buffer"));
  if (!name.empty()) {
    layout_.instances.push_back(std::string(name.substr(0, 64)));
    return absl::OkStatus();
  }
  has_buffer_ = true;
  layout_.clock = std::string(clock.substr(0, 64));
  RETURN_IF_ERROR(in_.Word(4, "buffer").status());
  ASSIGN_OR_RETURN(const uint64_t cpus, in_.Word(4, "buffer"));
  RETURN_IF_ERROR(ReadCpuTable(cpus, /*with_ids=*/true));
  if (in_.position() > data_position + data.size()) {
    return absl::InvalidArgumentError("trace.dat is damaged: its buffer has too many CPUs");
  }
  return CheckSection(section);
}

absl::Status LayoutReader::OnOption(uint16_t id, absl::string_view data, size_t data_position) {
  if (layout_.stats.size() + layout_.instances.size() > kMostParts) {
    return absl::InvalidArgumentError("trace.dat is damaged: too many options");
  }
  const absl::string_view text = data.substr(0, data.find('\0'));
  if (id == kCpuStat) {
    const TraceDatCpuStats stats = ParseStats(text);
    if (stats.cpu.value >= 0) layout_.stats.push_back(stats);
  } else if (id == kTraceClock) {
    const std::string clock = ParseClock(data);
    if (!clock.empty()) layout_.clock = clock.substr(0, 64);
  } else if (id == kUname) {
    layout_.uname = std::string(text.substr(0, 256));
  } else if (id == kBuffer && layout_.version == 6) {
    if (data.size() > 8) {
      const absl::string_view name = data.substr(8);
      layout_.instances.push_back(
          std::string(name.substr(0, std::min<size_t>(name.find('\0'), 64))));
    }
  } else if (id == kBuffer) {
    return OnBuffer7(data, data_position);
  } else if (id == kBufferText) {
    return absl::InvalidArgumentError(
        "trace.dat of a latency tracer: its text alone is in it; give the text itself");
  } else if (layout_.version == 7 && id >= kFirstSectionOption && id <= kLastSectionOption) {
    has_formats_ = has_formats_ || id == kEventFormats;
    RETURN_IF_ERROR(in_.Seek(data_position, "options"));
    ASSIGN_OR_RETURN(const uint64_t offset, in_.Word(8, "options"));
    return CheckSection(offset);
  }
  return absl::OkStatus();
}

}  // namespace

std::string TraceDatLayout::Kernel() const {
  // "Linux HOST RELEASE MACHINE": a host's name has no blanks.
  absl::string_view rest = uname.has_value() ? absl::string_view(*uname) : absl::string_view();
  for (int word = 0; word < 2; ++word) {
    TakeToken(&rest);
    SkipBlanks(&rest);
  }
  return std::string(TakeToken(&rest));
}

bool LooksLikeTraceDat(absl::string_view bytes) { return bytes.substr(0, kMagic.size()) == kMagic; }

absl::StatusOr<TraceDatLayout> ReadTraceDatLayout(absl::string_view bytes) {
  if (!LooksLikeTraceDat(bytes)) {
    if (bytes.empty()) return absl::InvalidArgumentError("empty file, no trace.dat");
    return absl::InvalidArgumentError(
        absl::StrCat("no trace.dat, which begins with 17 08 44 \"tracing\": it begins with \"",
                     absl::CHexEscape(bytes.substr(0, 16)), "\""));
  }
  return LayoutReader(bytes).Read();
}

}  // namespace whylate
