#include "analysis/import/text_proto_scan.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace whylate {
namespace {

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
         c == '+';
}

}  // namespace

void TextProtoScanner::SkipSpace() {
  size_t at = 0;
  while (at < rest_.size()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(rest_[at]))) {
      ++at;
    } else if (rest_[at] == '#') {
      at = std::min(rest_.find('\n', at), rest_.size());
    } else {
      break;
    }
  }
  rest_.remove_prefix(at);
}

std::optional<char> TextProtoScanner::Peek() {
  SkipSpace();
  if (rest_.empty()) return std::nullopt;
  return rest_[0];
}

bool TextProtoScanner::TakeString() {
  const char quote = rest_[0];
  size_t at = 1;
  while (at < rest_.size() && rest_[at] != quote && rest_[at] != '\n') {
    at += rest_[at] == '\\' ? 2 : 1;
  }
  if (at >= rest_.size() || rest_[at] != quote) return false;
  const absl::string_view raw = rest_.substr(1, at - 1);
  std::string part;
  // An escape that is none: the characters as they are.
  if (!absl::CUnescape(raw, &part)) part = std::string(raw);
  token_.string += part;
  rest_.remove_prefix(at + 1);
  return true;
}

bool TextProtoScanner::Next() {
  std::optional<char> first = Peek();
  if (!first.has_value()) return false;
  token_.string.clear();
  if (*first == '"' || *first == '\'') {
    token_.kind = TextProtoToken::Kind::kString;
    token_.word = absl::string_view();
    while (first == '"' || first == '\'') {
      if (!TakeString()) return false;
      first = Peek();
    }
    return true;
  }
  const auto end = std::find_if_not(rest_.begin(), rest_.end(), IsWordCharacter);
  const auto length = static_cast<size_t>(end - rest_.begin());
  token_.kind = length > 0 ? TextProtoToken::Kind::kWord : TextProtoToken::Kind::kSign;
  token_.word = rest_.substr(0, std::max<size_t>(length, 1));
  constexpr absl::string_view kSigns = "{}<>[]:;,/";
  if (length == 0 && kSigns.find(*first) == absl::string_view::npos) return false;
  rest_.remove_prefix(token_.word.size());
  return true;
}

size_t TextProtoScanner::LineNumber() const {
  const absl::string_view before = text_.substr(0, text_.size() - rest_.size());
  return 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::optional<uint64_t> TextProtoNumber(absl::string_view word) {
  if (word == "true") return 1;
  if (word == "false") return 0;
  const bool negative = !word.empty() && word[0] == '-';
  if (negative) word.remove_prefix(1);
  int base = 10;
  if (word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) {
    base = 16;
    word.remove_prefix(2);
  } else if (word.size() > 1 && word[0] == '0') {
    base = 8;
    word.remove_prefix(1);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return negative ? ~value + 1 : value;
}

}  // namespace whylate
