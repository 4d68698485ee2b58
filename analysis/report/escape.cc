#include "analysis/report/escape.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "absl/strings/str_format.h"

namespace whylate {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Characters that are never shown as they are. Zero-width joiner and non-joiner (U+200C, U+200D)
// are not among them: emoji and several scripts need them, and they move nothing.
constexpr Range kUnsafe[] = {
    {0x0000, 0x001f},    // C0
    {0x007f, 0x009f},    // DEL, C1
    {0x00ad, 0x00ad},    // soft hyphen
    {0x061c, 0x061c},    // Arabic letter mark
    {0x180e, 0x180e},    // Mongolian vowel separator
    {0x200b, 0x200b},    // zero-width space
    {0x200e, 0x200f},    // left-to-right and right-to-left marks
    {0x2028, 0x202e},    // line and paragraph separators, bidi embeddings and overrides
    {0x2060, 0x206f},    // invisible operators, bidi isolates, deprecated formatting
    {0xfdd0, 0xfdef},    // noncharacters
    {0xfeff, 0xfeff},    // byte order mark
    {0xfff9, 0xfffb},    // interlinear annotation
    {0xfffe, 0xffff},    // noncharacters
    {0xe0000, 0xe007f},  // tags
};

constexpr Range kZeroWidth[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x0300, 0x036f},   {0x0483, 0x0489},   {0x0591, 0x05bd},
    {0x05bf, 0x05bf}, {0x05c1, 0x05c2}, {0x05c4, 0x05c5},   {0x05c7, 0x05c7},   {0x0610, 0x061a},
    {0x061c, 0x061c}, {0x064b, 0x065f}, {0x0670, 0x0670},   {0x06d6, 0x06dc},   {0x06df, 0x06e4},
    {0x06e7, 0x06e8}, {0x06ea, 0x06ed}, {0x0711, 0x0711},   {0x0730, 0x074a},   {0x07a6, 0x07b0},
    {0x0816, 0x0819}, {0x081b, 0x0823}, {0x0825, 0x0827},   {0x0829, 0x082d},   {0x08ca, 0x08e1},
    {0x08e3, 0x0902}, {0x093a, 0x093a}, {0x093c, 0x093c},   {0x0941, 0x0948},   {0x094d, 0x094d},
    {0x0951, 0x0957}, {0x0962, 0x0963}, {0x0981, 0x0981},   {0x09bc, 0x09bc},   {0x09c1, 0x09c4},
    {0x09cd, 0x09cd}, {0x0a01, 0x0a02}, {0x0a3c, 0x0a3c},   {0x0a41, 0x0a51},   {0x0abc, 0x0abc},
    {0x0ac1, 0x0ac8}, {0x0acd, 0x0acd}, {0x0bc0, 0x0bc0},   {0x0bcd, 0x0bcd},   {0x0c3e, 0x0c40},
    {0x0c46, 0x0c56}, {0x0d41, 0x0d44}, {0x0d4d, 0x0d4d},   {0x0e31, 0x0e31},   {0x0e34, 0x0e3a},
    {0x0e47, 0x0e4e}, {0x0eb1, 0x0eb1}, {0x0eb4, 0x0ebc},   {0x0ec8, 0x0ecd},   {0x0f71, 0x0f7e},
    {0x0f80, 0x0f84}, {0x135d, 0x135f}, {0x17b4, 0x17b5},   {0x17b7, 0x17bd},   {0x17c9, 0x17d3},
    {0x180b, 0x180f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x20d0, 0x20f0}, {0x2de0, 0x2dff},   {0x302a, 0x302d},   {0x3099, 0x309a},
    {0xa66f, 0xa672}, {0xa674, 0xa67d}, {0xa8e0, 0xa8f1},   {0xfb1e, 0xfb1e},   {0xfe00, 0xfe0f},
    {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0x1d167, 0x1d169}, {0xe0000, 0xe007f}, {0xe0100, 0xe01ef},
};

constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x23f0, 0x23f0},   {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267f, 0x267f},   {0x2693, 0x2693},   {0x26a1, 0x26a1},
    {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},
    {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},   {0x27bf, 0x27bf},
    {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0x3247},   {0x3250, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},
    {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1aff0, 0x1b2ff},
    {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a},
    {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393},
    {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4},
    {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d},
    {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596},
    {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc},
    {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6df}, {0x1f6eb, 0x1f6ef}, {0x1f6f4, 0x1f6ff},
    {0x1f7e0, 0x1f7f0}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff},
    {0x1fa70, 0x1faff}, {0x20000, 0x2fffd}, {0x30000, 0x3fffd},
};

// `ranges` are sorted and disjoint: O(log n).
template <size_t N>
constexpr bool IsIn(const Range (&ranges)[N], char32_t character) {
  const Range* after =
      std::upper_bound(std::begin(ranges), std::end(ranges), character,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return after != std::begin(ranges) && character <= std::prev(after)->last;
}

template <size_t N>
constexpr bool IsSorted(const Range (&ranges)[N]) {
  for (size_t i = 0; i < N; ++i) {
    if (ranges[i].first > ranges[i].last) return false;
    if (i > 0 && ranges[i - 1].last >= ranges[i].first) return false;
  }
  return true;
}
static_assert(IsSorted(kUnsafe) && IsSorted(kZeroWidth) && IsSorted(kWide));

struct Decoded {
  std::optional<char32_t> character;  // unset: the first byte starts no well-formed sequence
  size_t size_bytes = 1;
};

// The first character of `text`, which is not empty. The second byte's bounds are those of
// Unicode's table 3-7; they rule out overlong forms, surrogates and what lies past U+10FFFF.
Decoded DecodeFirst(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (size == 0 || text.size() < size) return {};
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return {};
  char32_t character = lead & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    character = character << 6 | (byte(i) & 0x3fU);
  }
  return {character, size};
}

// Calls `visit(decoded, bytes)` for each character or stray byte of `text`.
template <typename Visitor>
void ForEach(absl::string_view text, Visitor visit) {
  while (!text.empty()) {
    const Decoded decoded = DecodeFirst(text);
    visit(decoded, text.substr(0, decoded.size_bytes));
    text.remove_prefix(decoded.size_bytes);
  }
}

}  // namespace

std::string EscapeForTerminal(absl::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  ForEach(text, [&](const Decoded& decoded, absl::string_view bytes) {
    if (decoded.character && !IsIn(kUnsafe, *decoded.character)) {
      escaped.append(bytes.data(), bytes.size());
    } else if (bytes.size() == 1) {
      absl::StrAppendFormat(&escaped, "\\x%02x", uint32_t{static_cast<uint8_t>(bytes[0])});
    } else {
      absl::StrAppendFormat(&escaped, "\\u{%x}", static_cast<uint32_t>(*decoded.character));
    }
  });
  return escaped;
}

size_t DisplayWidth(absl::string_view text) {
  size_t columns = 0;
  ForEach(text, [&](const Decoded& decoded, absl::string_view) {
    if (!decoded.character) {
      columns += 1;
    } else if (!IsIn(kZeroWidth, *decoded.character)) {
      columns += IsIn(kWide, *decoded.character) ? 2 : 1;
    }
  });
  return columns;
}

std::string ValidUtf8(absl::string_view text) {
  constexpr absl::string_view kReplacement = "\xef\xbf\xbd";
  std::string valid;
  valid.reserve(text.size());
  ForEach(text, [&](const Decoded& decoded, absl::string_view bytes) {
    const absl::string_view kept = decoded.character ? bytes : kReplacement;
    valid.append(kept.data(), kept.size());
  });
  return valid;
}

}  // namespace whylate
