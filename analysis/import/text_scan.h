// Reading numbers and times out of hostile text: every function takes what it reads off the front
// of `text`, and leaves it alone where that is not there. Nothing overflows.
#ifndef WHYLATE_ANALYSIS_IMPORT_TEXT_SCAN_H_
#define WHYLATE_ANALYSIS_IMPORT_TEXT_SCAN_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace whylate {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }

void SkipBlanks(absl::string_view* text);
absl::string_view TrimBlanks(absl::string_view text);
// Up to the next blank or the end, without it.
absl::string_view TakeToken(absl::string_view* text);
bool TakePrefix(absl::string_view* text, absl::string_view prefix);

// Decimal digits, at most 18 of them.
std::optional<int64_t> TakeNumber(absl::string_view* text);
// The same with an optional '-', and in 32 bits.
std::optional<int32_t> TakeInt32(absl::string_view* text);
// "0x" and up to 8 hexadecimal digits, or a TakeNumber() of 32 bits.
std::optional<uint32_t> TakeState(absl::string_view* text);

// "SECONDS.FRACTION", 1 to 9 decimals.
struct TextTime {
  int64_t time_ns = 0;
  int32_t decimals = 0;
};
std::optional<TextTime> TakeTime(absl::string_view* text);

// The next line without its end, off the front of `text`, which must not be empty.
absl::string_view TakeLine(absl::string_view* text);

// Takes a last line without an end off the back of `text`: cut, it may read as another number.
// False where there is none.
bool DropCutLine(absl::string_view* text);
inline constexpr char kCutNote[] = "the text ends within a line: that line is left out";

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_TEXT_SCAN_H_
