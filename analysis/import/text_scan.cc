#include "analysis/import/text_scan.h"

#include <algorithm>
#include <limits>

namespace whylate {
namespace {

constexpr size_t kMostDigits = 18;
// Of the seconds of a time.
constexpr size_t kMostSecondDigits = 10;

size_t CountDigits(absl::string_view text, size_t from, size_t most) {
  size_t count = 0;
  while (count <= most && from + count < text.size() && IsDigit(text[from + count])) ++count;
  return count;
}

int64_t ValueOf(absl::string_view digits) {
  int64_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void SkipBlanks(absl::string_view* text) {
  size_t count = 0;
  while (count < text->size() && IsBlank((*text)[count])) ++count;
  text->remove_prefix(count);
}

absl::string_view TrimBlanks(absl::string_view text) {
  SkipBlanks(&text);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

absl::string_view TakeToken(absl::string_view* text) {
  size_t count = 0;
  while (count < text->size() && !IsBlank((*text)[count])) ++count;
  const absl::string_view token = text->substr(0, count);
  text->remove_prefix(count);
  return token;
}

bool TakePrefix(absl::string_view* text, absl::string_view prefix) {
  if (text->substr(0, prefix.size()) != prefix) return false;
  text->remove_prefix(prefix.size());
  return true;
}

std::optional<int64_t> TakeNumber(absl::string_view* text) {
  const size_t count = CountDigits(*text, 0, kMostDigits);
  if (count == 0 || count > kMostDigits) return std::nullopt;
  const int64_t value = ValueOf(text->substr(0, count));
  text->remove_prefix(count);
  return value;
}

std::optional<int32_t> TakeInt32(absl::string_view* text) {
  absl::string_view rest = *text;
  const bool negative = TakePrefix(&rest, "-");
  std::optional<int64_t> value = TakeNumber(&rest);
  if (!value.has_value() || *value > std::numeric_limits<int32_t>::max()) return std::nullopt;
  *text = rest;
  return static_cast<int32_t>(negative ? -*value : *value);
}

std::optional<uint32_t> TakeState(absl::string_view* text) {
  absl::string_view rest = *text;
  if (TakePrefix(&rest, "0x")) {
    uint32_t value = 0;
    size_t count = 0;
    while (count < rest.size() && HexValue(rest[count]) >= 0) {
      if (++count > 8) return std::nullopt;
      value = value * 16 + static_cast<uint32_t>(HexValue(rest[count - 1]));
    }
    if (count == 0) return std::nullopt;
    rest.remove_prefix(count);
    *text = rest;
    return value;
  }
  const std::optional<int64_t> value = TakeNumber(&rest);
  if (!value.has_value() || *value > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  *text = rest;
  return static_cast<uint32_t>(*value);
}

std::optional<TextTime> TakeTime(absl::string_view* text) {
  const size_t seconds = CountDigits(*text, 0, kMostSecondDigits);
  if (seconds == 0 || seconds > kMostSecondDigits || seconds >= text->size() ||
      (*text)[seconds] != '.') {
    return std::nullopt;
  }
  const size_t decimals = CountDigits(*text, seconds + 1, 9);
  if (decimals == 0 || decimals > 9) return std::nullopt;
  int64_t fraction_ns = ValueOf(text->substr(seconds + 1, decimals));
  for (size_t i = decimals; i < 9; ++i) fraction_ns *= 10;
  // At most 10^10 s: within 64 bits of nanoseconds only up to 9.2 * 10^9.
  const int64_t whole = ValueOf(text->substr(0, seconds));
  if (whole >= 9'000'000'000) return std::nullopt;
  text->remove_prefix(seconds + 1 + decimals);
  return TextTime{whole * 1'000'000'000 + fraction_ns, static_cast<int32_t>(decimals)};
}

absl::string_view TakeLine(absl::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  absl::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

bool DropCutLine(absl::string_view* text) {
  if (text->empty() || text->back() == '\n') return false;
  const size_t end = text->rfind('\n');
  *text = text->substr(0, end == absl::string_view::npos ? 0 : end + 1);
  return true;
}

}  // namespace whylate
