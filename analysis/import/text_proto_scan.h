// The tokens of protobuf's text format, taken one after another off hostile text.
//
//   TextProtoScanner scanner(text);
//   while (scanner.Next()) Use(scanner.token());
//
// Blanks and comments are passed over. Takes no memory but for one string at a time. O(length).
#ifndef WHYLATE_ANALYSIS_IMPORT_TEXT_PROTO_SCAN_H_
#define WHYLATE_ANALYSIS_IMPORT_TEXT_PROTO_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace whylate {

struct TextProtoToken {
  enum class Kind : uint8_t { kWord, kString, kSign };
  Kind kind = Kind::kSign;
  // A name, a number or an enumerator as written; of a sign its one character.
  absl::string_view word;
  std::string string;  // unescaped; adjacent strings are one
  bool Is(char sign) const { return kind == Kind::kSign && word.size() == 1 && word[0] == sign; }
};

class TextProtoScanner {
 public:
  explicit TextProtoScanner(absl::string_view text) : text_(text), rest_(text) {}

  // False at the end, and at what no token begins with, an unclosed string included.
  bool Next();
  const TextProtoToken& token() const { return token_; }
  // The next token's first character; nullopt at the end.
  std::optional<char> Peek();
  bool AtEnd() { return !Peek().has_value(); }
  // Of what comes next, from 1. O(length).
  size_t LineNumber() const;

 private:
  void SkipSpace();
  bool TakeString();

  absl::string_view text_;
  absl::string_view rest_;
  TextProtoToken token_;
};

// Decimal, "0x" or octal, with an optional "-", "true" and "false"; as a varint holds it.
std::optional<uint64_t> TextProtoNumber(absl::string_view word);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_TEXT_PROTO_SCAN_H_
