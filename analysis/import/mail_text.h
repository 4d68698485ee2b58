// Text that went through a mail: quoted-printable, and lines that are quoted.
#ifndef WHYLATE_ANALYSIS_IMPORT_MAIL_TEXT_H_
#define WHYLATE_ANALYSIS_IMPORT_MAIL_TEXT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace whylate {

// What `text` says where it is quoted-printable (RFC 2045, 6.7): "=3D" is in it, or a line as long
// as such lines are that ends with a "=" of its own. Else nullopt. O(length).
std::optional<std::string> FromQuotedPrintable(absl::string_view text);

// Without the marks of a quotation before it: "> | text" is "text" with its own blanks but one.
absl::string_view WithoutQuoteMarks(absl::string_view line);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_MAIL_TEXT_H_
