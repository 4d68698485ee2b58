#include "analysis/import/open_trace.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/ftrace_text.h"
#include "analysis/import/latency_text.h"
#include "analysis/import/perf_script.h"
#include "analysis/import/perfetto.h"
#include "analysis/import/perfetto_textproto.h"
#include "analysis/import/timehist_text.h"
#include "analysis/import/trace_dat_layout.h"
#include "analysis/model/status_macros.h"

namespace whylate {
namespace {

struct KnownFile {
  absl::string_view begin;
  const char* what;
};

// What people give by mistake, and what to do about it.
constexpr KnownFile kKnownFiles[] = {
    {"PERFILE2", "perf.data: convert it with `perf script`"},
    {absl::string_view("\x7f"
                       "ELF",
                       4),
     "an ELF program or library"},
    {absl::string_view("\x00\x05\x16\x07", 4), "an AppleDouble file (00 05 16 07), made by macOS"},
    {"PK\x03\x04", "a zip archive: unpack it"},
    {"\x1f\x8b", "gzip: unpack it"},
    {"\x28\xb5\x2f\xfd", "zstd: unpack it"},
    {absl::string_view("\xfd"
                       "7zXZ"),
     "xz: unpack it"},
    {"BZh", "bzip2: unpack it"},
    {"SQLite format 3", "an SQLite database"},
};

// Text has no control characters but those of lines and tabs.
bool IsText(absl::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\x1b';
  });
}

absl::Status NoTrace(absl::string_view head) {
  if (head.empty()) return absl::InvalidArgumentError("no trace: an empty file");
  for (const KnownFile& known : kKnownFiles) {
    if (head.substr(0, known.begin.size()) == known.begin) {
      return absl::InvalidArgumentError(absl::StrCat("no trace: ", known.what));
    }
  }
  const absl::string_view begin = head.substr(0, 24);
  const size_t line = std::min(begin.find('\n'), begin.size());
  if (IsText(head.substr(0, 4096))) {
    return absl::InvalidArgumentError(
        absl::StrCat("no trace: text without a line of a trace; it begins \"",
                     absl::CHexEscape(begin.substr(0, line)), "\""));
  }
  return absl::InvalidArgumentError(absl::StrCat("no trace: binary data that begins \"",
                                                 absl::CHexEscape(begin.substr(0, 16)),
                                                 "\"; trace.dat begins with 17 08 44 \"tracing\""));
}

struct TextFormat {
  bool (*looks_like)(absl::string_view head);
  TraceFormat format;
};

// The first that knows the text: those with a header of their own before those told by one line.
constexpr TextFormat kTextFormats[] = {
    {LooksLikePerfettoText, TraceFormat::kPerfettoText},
    {LooksLikeLatencyText, TraceFormat::kLatencyText},
    {LooksLikeTimehistText, TraceFormat::kTimehistText},
    {LooksLikePerfScript, TraceFormat::kPerfScript},
    {LooksLikeFtraceText, TraceFormat::kFtraceText},
};

std::optional<TraceFormat> TellTextFormat(absl::string_view head) {
  for (const TextFormat& text : kTextFormats) {
    if (text.looks_like(head)) return text.format;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<TraceFormat> TellTraceFormat(absl::string_view head) {
  if (LooksLikeTraceDat(head)) return TraceFormat::kTraceDat;
  for (const KnownFile& known : kKnownFiles) {
    if (head.substr(0, known.begin.size()) == known.begin) return NoTrace(head);
  }
  // Names are bytes: a trace may have control characters in one.
  const bool is_text = IsText(head.substr(0, 4096));
  if (!is_text && LooksLikePerfetto(head)) return TraceFormat::kPerfetto;
  if (const std::optional<TraceFormat> format = TellTextFormat(head)) return *format;
  if (LooksLikePerfetto(head)) return TraceFormat::kPerfetto;
  return NoTrace(head);
}

absl::StatusOr<ImportedTrace> ImportTraceBytes(absl::string_view bytes,
                                               const ImportLimits& limits) {
  ASSIGN_OR_RETURN(const TraceFormat format, TellTraceFormat(bytes));
  switch (format) {
    case TraceFormat::kPerfetto:
      return ImportPerfetto(bytes, limits);
    case TraceFormat::kPerfettoText:
      return ImportPerfettoText(bytes, limits);
    case TraceFormat::kLatencyText:
      return ImportLatencyText(bytes, limits);
    case TraceFormat::kTimehistText:
      return ImportTimehistText(bytes, limits);
    case TraceFormat::kFtraceText:
      return ImportFtraceText(bytes, limits);
    case TraceFormat::kPerfScript:
      return ImportPerfScript(bytes, limits);
    case TraceFormat::kTraceDat:
      break;
  }
  return absl::InvalidArgumentError("trace.dat is read from its file, not from memory or a pipe");
}

}  // namespace whylate
