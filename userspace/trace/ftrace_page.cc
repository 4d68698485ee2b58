#include "userspace/trace/ftrace_page.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analysis/model/status_macros.h"

namespace whylate {
namespace {

static_assert(std::endian::native == std::endian::little, "the bit fields are read as on those");

// kernel/trace/ring_buffer.c: of the commit word, beside the size of the data.
constexpr uint64_t kMissedEvents = uint64_t{1} << 31;
constexpr uint64_t kMissedStored = uint64_t{1} << 30;
constexpr uint64_t kSizeMask = (uint64_t{1} << 27) - 1;
// Above the 59 bits of an absolute time, kept in the page's time alone.
constexpr uint64_t kTimeMsb = uint64_t{0xf8} << 56;

constexpr uint32_t kLengthInData = 0;
constexpr uint32_t kPadding = 29;
constexpr uint32_t kTimeExtend = 30;
constexpr uint32_t kTimeStamp = 31;

template <typename T>
T Load(absl::Span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// The number behind "key:" in "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;".
std::optional<size_t> NumberBehind(absl::string_view line, absl::string_view key) {
  for (absl::string_view part : absl::StrSplit(line, ';')) {
    const size_t at = part.find(key);
    if (at == part.npos) continue;
    size_t value = 0;
    if (absl::SimpleAtoi(part.substr(at + key.size()), &value)) return value;
  }
  return std::nullopt;
}

// The commit word; the page is as long as its header.
uint64_t LoadLong(const FtracePageLayout& layout, absl::Span<const uint8_t> bytes, size_t offset) {
  return layout.commit_bytes == 8 ? Load<uint64_t>(bytes, offset) : Load<uint32_t>(bytes, offset);
}

struct HeaderField {
  size_t offset = 0;
  size_t size = 0;
};

absl::StatusOr<HeaderField> FindHeaderField(absl::string_view text, absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view declaration = line.substr(0, line.find(';'));
    const size_t last = declaration.rfind(' ');
    if (last == declaration.npos || declaration.substr(last + 1) != name) continue;
    const std::optional<size_t> offset = NumberBehind(line, "offset:");
    const std::optional<size_t> size = NumberBehind(line, "size:");
    if (offset.has_value() && size.has_value()) return HeaderField{*offset, *size};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the kernel's description of its trace pages has no field ", name));
}

}  // namespace

absl::StatusOr<FtracePageLayout> FtracePageLayout::Parse(absl::string_view header_page) {
  ASSIGN_OR_RETURN(const HeaderField time, FindHeaderField(header_page, "timestamp"));
  ASSIGN_OR_RETURN(const HeaderField commit, FindHeaderField(header_page, "commit"));
  ASSIGN_OR_RETURN(const HeaderField data, FindHeaderField(header_page, "data"));
  constexpr size_t kLargestHeader = 4096;
  if (time.size != 8 || (commit.size != 8 && commit.size != 4) || data.offset > kLargestHeader ||
      time.offset + time.size > data.offset || commit.offset + commit.size > data.offset) {
    return absl::InvalidArgumentError("the kernel describes trace pages of an unknown kind");
  }
  return FtracePageLayout{time.offset, commit.offset, commit.size, data.offset};
}

absl::StatusOr<FtracePage> FtracePage::Open(const FtracePageLayout& layout,
                                            absl::Span<const uint8_t> bytes) {
  if (bytes.size() < layout.data_offset) {
    return absl::DataLossError(
        absl::StrCat("a trace page of ", bytes.size(), " bytes is shorter than its header"));
  }
  const uint64_t commit = LoadLong(layout, bytes, layout.commit_offset);
  const size_t size = commit & kSizeMask;
  const absl::Span<const uint8_t> data = bytes.subspan(layout.data_offset);
  if (size > data.size()) {
    return absl::DataLossError(
        absl::StrCat("a trace page of ", data.size(), " bytes of data says that it has ", size));
  }
  FtracePage page;
  page.page_time_ns_ = Load<uint64_t>(bytes, layout.time_offset);
  page.time_ns_ = page.page_time_ns_;
  page.rest_ = data.first(size);
  page.missed_ = (commit & kMissedEvents) != 0;
  if (page.missed_ && (commit & kMissedStored) != 0 && layout.commit_bytes <= data.size() - size) {
    page.missed_count_ = LoadLong(layout, data, size);
  }
  return page;
}

size_t FtracePageBytes(const FtracePageLayout& layout, absl::Span<const uint8_t> bytes) {
  if (bytes.size() < layout.data_offset) return bytes.size();
  const uint64_t commit = LoadLong(layout, bytes, layout.commit_offset);
  size_t used = layout.data_offset + static_cast<size_t>(commit & kSizeMask);
  if ((commit & kMissedEvents) != 0) used += layout.commit_bytes;
  return std::min(used, bytes.size());
}

std::optional<FtraceRecord> FtracePage::Damaged() {
  damaged_ = true;
  rest_ = {};
  return std::nullopt;
}

std::optional<FtraceRecord> FtracePage::Next() {
  constexpr size_t kWord = sizeof(uint32_t);
  while (rest_.size() >= kWord) {
    const uint32_t head = Load<uint32_t>(rest_, 0);
    const uint32_t type = head & 31;
    const uint64_t delta = head >> 5;
    // The reserved end of a page whose last record did not fit.
    if (type == kPadding && delta == 0) {
      rest_ = {};
      break;
    }
    const bool is_short = type > kLengthInData && type < kPadding;
    if (!is_short && rest_.size() < 2 * kWord) return Damaged();
    const uint64_t word = is_short ? 0 : Load<uint32_t>(rest_, kWord);
    if (type == kTimeExtend || type == kTimeStamp) {
      const uint64_t time = (word << 27) + delta;
      time_ns_ = type == kTimeStamp ? time | (page_time_ns_ & kTimeMsb) : time_ns_ + time;
      rest_.remove_prefix(2 * kWord);
      continue;
    }
    // Lengths in the data count their own word, and end anywhere: the next record is aligned.
    const size_t length = is_short ? type * kWord : static_cast<size_t>(word);
    const size_t begin = is_short ? kWord : 2 * kWord;
    const size_t aligned = (length + kWord - 1) / kWord * kWord;
    if (aligned > rest_.size() - kWord || (!is_short && length < kWord)) return Damaged();
    const absl::Span<const uint8_t> bytes = rest_.subspan(begin, kWord + length - begin);
    rest_.remove_prefix(kWord + aligned);
    // A record that was discarded; its time counts, unless it is the 1 that marks it as no end.
    if (type != kPadding || delta != 1) time_ns_ += delta;
    if (type == kPadding) continue;
    if (time_ns_ > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return Damaged();
    return FtraceRecord{static_cast<int64_t>(time_ns_), bytes};
  }
  if (!rest_.empty()) return Damaged();
  return std::nullopt;
}

}  // namespace whylate
