// Text from elsewhere (task names, paths, command lines, comments), made fit for a terminal or
// JSON.
//
// A task may be named "\e]0;owned\a": such bytes reach the reader's terminal as visible escapes
// only.
//
//   EscapeForTerminal("a\x1b[31mb\n");  // "a\x1b[31mb\x0a", spelled out in printable ASCII
//   DisplayWidth("日本");               // 4
//   ValidUtf8("a\xff");                 // "a\uFFFD", for JSON
#ifndef WHYLATE_ANALYSIS_REPORT_ESCAPE_H_
#define WHYLATE_ANALYSIS_REPORT_ESCAPE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace whylate {

// `text` with everything that could steer a terminal or deceive its reader spelled out: control
// characters (newline and tab too), DEL and bytes that are not UTF-8 as \xNN, C1 controls, bidi
// controls, invisible formatting characters, line separators and noncharacters as \u{N}. Other
// characters stay, the backslash too: the result is for reading, not for reversing. Valid UTF-8.
std::string EscapeForTerminal(absl::string_view text);

// Columns that `text` takes on a terminal: 2 for East Asian wide characters and emoji, 0 for
// combining marks and controls, 1 for others and for each byte that is not UTF-8. Ranges follow
// Unicode's EastAsianWidth (W, F) and general categories Mn, Me, coarsely: whole blocks.
size_t DisplayWidth(absl::string_view text);

// `text` with each byte that is not part of well-formed UTF-8 (Unicode, table 3-7: no surrogates,
// no overlong forms, nothing past U+10FFFF) replaced by U+FFFD.
std::string ValidUtf8(absl::string_view text);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_ESCAPE_H_
