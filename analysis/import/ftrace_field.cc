#include "analysis/import/ftrace_field.h"

#include <event-parse.h>

#include <cstddef>

namespace whylate {
namespace {

bool Holds(const tep_format_field* field, absl::Span<const uint8_t> record) {
  return field != nullptr && field->offset >= 0 && field->size > 0 &&
         static_cast<size_t>(field->size) <= record.size() &&
         static_cast<size_t>(field->offset) <= record.size() - static_cast<size_t>(field->size);
}

}  // namespace

std::optional<int64_t> FtraceNumber(const tep_format_field* field,
                                    absl::Span<const uint8_t> record) {
  if (!Holds(field, record)) return std::nullopt;
  unsigned long long value = 0;
  // The library takes a field that it may write to, and does not.
  if (tep_read_number_field(const_cast<tep_format_field*>(field), record.data(), &value) != 0) {
    return std::nullopt;
  }
  if ((field->flags & TEP_FIELD_IS_SIGNED) != 0 && field->size == 4) {
    return static_cast<int32_t>(value);
  }
  return static_cast<int64_t>(value);
}

absl::string_view FtraceText(const tep_format_field* field, absl::Span<const uint8_t> record) {
  if (!Holds(field, record)) return "";
  auto offset = static_cast<size_t>(field->offset);
  auto size = static_cast<size_t>(field->size);
  if ((field->flags & TEP_FIELD_IS_DYNAMIC) != 0) {
    // Where the text is, and its length, in the halves of a word.
    const int64_t location = FtraceNumber(field, record).value_or(0);
    offset = static_cast<size_t>(location & 0xffff);
    size = static_cast<size_t>((location >> 16) & 0xffff);
    if (offset > record.size() || size > record.size() - offset) return "";
  }
  const absl::string_view text(reinterpret_cast<const char*>(record.data()) + offset, size);
  return text.substr(0, text.find('\0'));
}

}  // namespace whylate
