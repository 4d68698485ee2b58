#include "analysis/import/perfetto.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/perfetto_foreign.h"
#include "analysis/import/perfetto_own_recording.h"
#include "analysis/import/perfetto_proto.h"
#include "analysis/model/perfetto_fields.h"

namespace whylate {
namespace {

// The fields of a packet that are numbers; all others are messages, strings or bytes.
bool IsNumber(uint64_t field) {
  constexpr std::array<uint64_t, 10> kNumbers = {3, 8, 10, 13, 41, 42, 58, 79, 87, 98};
  return std::find(kNumbers.begin(), kNumbers.end(), field) != kNumbers.end();
}

// Whether `head` may begin the content of a packet of `length` bytes.
bool MayBeginPacket(absl::string_view head, uint64_t length) {
  constexpr uint64_t kLastExtension = 1999;
  constexpr uint64_t kVarint = 0;
  constexpr uint64_t kBytes = 2;
  bool any = false;
  while (length > 0) {
    PackedReader reader(head);
    uint64_t tag = 0;
    uint64_t value = 0;
    if (!reader.Next(&tag) || !reader.Next(&value)) return any && head.size() < 20;
    const uint64_t number = tag >> 3;
    const uint64_t type = tag & 7;
    if (number == 0 || number > kLastExtension) return false;
    if (type != (IsNumber(number) ? kVarint : kBytes)) return false;
    uint64_t used = head.size() - reader.left();
    if (used > length || (type == kBytes && value > length - used)) return false;
    if (type == kBytes) used += value;
    if (used >= head.size()) return true;
    head.remove_prefix(static_cast<size_t>(used));
    length -= used;
    any = true;
  }
  return true;
}

}  // namespace

bool LooksLikePerfetto(absl::string_view head) {
  constexpr char kPacketTag = perfetto::Trace::kPacket << 3 | 2;
  if (head.empty() || head.front() != kPacketTag) return false;
  PackedReader reader(head.substr(1));
  uint64_t length = 0;
  if (!reader.Next(&length) || length == 0) return false;
  return MayBeginPacket(head.substr(head.size() - reader.left()), length);
}

absl::StatusOr<ImportedTrace> ImportPerfetto(absl::string_view bytes, const ImportLimits& limits) {
  if (!LooksLikePerfetto(bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("not a Perfetto trace: ", bytes.size(),
                                                   " bytes that do not begin with a packet"));
  }
  if (IsOwnRecording(bytes, limits)) return ReadOwnRecording(bytes, limits);
  return ReadForeignPerfetto(bytes, limits);
}

}  // namespace whylate
