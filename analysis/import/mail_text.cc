#include "analysis/import/mail_text.h"

#include "absl/strings/match.h"
#include "analysis/import/text_scan.h"

namespace whylate {
namespace {

// A soft break ends a line of at most 76 characters, and not a short one.
constexpr size_t kShortestBroken = 70;
constexpr size_t kLongestBroken = 76;

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsSoftBreak(absl::string_view line) {
  if (line.size() < kShortestBroken || line.size() > kLongestBroken || line.back() != '=') {
    return false;
  }
  return line[line.size() - 2] != '=';
}

bool IsQuotedPrintable(absl::string_view text) {
  if (absl::StrContains(text, "=3D")) return true;
  while (!text.empty()) {
    if (IsSoftBreak(TakeLine(&text))) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> FromQuotedPrintable(absl::string_view text) {
  if (!IsQuotedPrintable(text)) return std::nullopt;
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    const absl::string_view next = text.substr(at + 1, 2);
    if (text[at] != '=') {
      decoded.push_back(text[at]);
    } else if (!next.empty() && next[0] == '\n') {
      at += 1;
    } else if (next == "\r\n") {
      at += 2;
    } else if (next.size() == 2 && HexDigit(next[0]) >= 0 && HexDigit(next[1]) >= 0) {
      decoded.push_back(static_cast<char>(HexDigit(next[0]) * 16 + HexDigit(next[1])));
      at += 2;
    } else {
      decoded.push_back('=');
    }
  }
  return decoded;
}

absl::string_view WithoutQuoteMarks(absl::string_view line) {
  absl::string_view rest = line;
  while (true) {
    absl::string_view marks = rest;
    SkipBlanks(&marks);
    if (!TakePrefix(&marks, ">") && !TakePrefix(&marks, "|")) return rest;
    rest = marks;
    TakePrefix(&rest, " ");
  }
}

}  // namespace whylate
