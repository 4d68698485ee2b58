#include "analysis/import/latency_text.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/event_collector.h"
#include "analysis/import/latency_line.h"
#include "analysis/import/latency_trace.h"
#include "analysis/import/mail_text.h"
#include "analysis/import/text_scan.h"

namespace whylate {
namespace {

constexpr size_t kSniffedBytes = 256 * 1024;
constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kMostLatencyUs = 1'000'000'000;
// 15 years: more traces than anybody has in one text.
constexpr int64_t kLastBaseNs = 500'000'000 * kNsPerSecond;
constexpr size_t kLongestText = 128;

std::string Short(absl::string_view text) {
  return std::string(TrimBlanks(text).substr(0, kLongestText));
}

std::optional<int64_t> LatencyNs(absl::string_view comment) {
  if (!TakePrefix(&comment, "latency:")) return std::nullopt;
  SkipBlanks(&comment);
  const std::optional<int64_t> us = TakeNumber(&comment);
  SkipBlanks(&comment);
  if (!us.has_value() || *us > kMostLatencyUs || !TakePrefix(&comment, "us")) return std::nullopt;
  return *us * kNsPerUs;
}

// Without "#", "|", "=>" and blanks before it.
std::optional<absl::string_view> Comment(absl::string_view line) {
  SkipBlanks(&line);
  if (!TakePrefix(&line, "#")) return std::nullopt;
  while (!line.empty() && (IsBlank(line[0]) || line[0] == '|')) line.remove_prefix(1);
  if (TakePrefix(&line, "=>")) SkipBlanks(&line);
  return line;
}

class LatencyReader {
 public:
  explicit LatencyReader(const ImportLimits& limits) : collector_("latency tracer text", limits) {}

  absl::StatusOr<ImportedTrace> Read(absl::string_view text) {
    if (DropCutLine(&text)) collector_.Note(kCutNote);
    while (!text.empty()) Line(WithoutQuoteMarks(TakeLine(&text)));
    EndTrace();
    for (const auto& [cpu, since_ns] : unseen_) collector_.Unseen(cpu, since_ns, std::nullopt);
    if (wakeups_ > 0) {
      collector_.Note(
          "a latency trace is of one wake-up: other CPUs, and other switches, are not in it; a "
          "task that two lines name is taken to have stayed on its CPU between them");
    }
    if (sections_ > 0) {
      collector_.Note(
          "a section with interrupts or preemption off has no wake-up: who waited meanwhile is not "
          "known");
      collector_.ToldResult();
    }
    if (wakeups_ > 1) {
      collector_.Note(
          absl::StrCat(wakeups_, " traces, each with times of its own: placed one after another"));
    }
    return collector_.Finish();
  }

 private:
  void Line(absl::string_view line) {
    if (const auto comment = Comment(line); comment.has_value()) {
      Header(*comment);
      return;
    }
    SkipBlanks(&line);
    if (TakePrefix(&line, "=>")) {
      SkipBlanks(&line);
      if (trace_ != nullptr) trace_->Stack(line);
      return;
    }
    const std::optional<LatencyLine> split = SplitLatencyLine(line);
    if (!split.has_value()) return;
    // What follows no header has no end.
    if (trace_ == nullptr) BeginTrace();
    if (trace_ != nullptr) trace_->Line(*split);
  }

  void Header(absl::string_view comment) {
    constexpr absl::string_view kTracer = " latency trace v";
    if (TakePrefix(&comment, "tracer:")) {
      NewHeader();
      header_.tracer = Short(comment);
    } else if (const auto latency_ns = LatencyNs(comment); latency_ns.has_value()) {
      if (header_.latency_ns.has_value() || trace_ != nullptr) NewHeader();
      header_.latency_ns = latency_ns;
    } else if (TakePrefix(&comment, "task:")) {
      header_.task = Short(comment);
    } else if (TakePrefix(&comment, "started at:")) {
      header_.started_at = Short(comment);
    } else if (TakePrefix(&comment, "ended at:")) {
      header_.ended_at = Short(comment);
    } else if (const size_t at = comment.find(kTracer); at != absl::string_view::npos) {
      absl::string_view name = comment.substr(0, at);
      if (trace_ != nullptr || (!header_.tracer.empty() && header_.tracer != name)) NewHeader();
      header_.tracer = Short(name);
      comment.remove_prefix(at + kTracer.size());
      TakeToken(&comment);
      SkipBlanks(&comment);
      if (TakePrefix(&comment, "on ")) header_.kernel = Short(TakeToken(&comment));
    }
  }

  void NewHeader() {
    EndTrace();
    header_ = LatencyHeader();
  }

  void BeginTrace() {
    if (!header_.latency_ns.has_value() || base_ns_ > kLastBaseNs) return;
    if (header_.tracer.empty()) header_.tracer = header_.IsSection() ? "irqsoff" : "wakeup";
    if (header_.task.empty()) header_.task = "a task";
    trace_ = std::make_unique<LatencyTrace>(&collector_, &unseen_, std::move(header_), base_ns_);
    header_ = LatencyHeader();
  }

  void EndTrace() {
    if (trace_ == nullptr) return;
    const int64_t end_ns = trace_->Finish();
    ++(trace_->header().IsSection() ? sections_ : wakeups_);
    base_ns_ = (end_ns / kNsPerSecond + 2) * kNsPerSecond;
    trace_.reset();
  }

  EventCollector collector_;
  LatencyHeader header_;  // of the trace that comes next
  std::unique_ptr<LatencyTrace> trace_;
  int64_t base_ns_ = kNsPerSecond;
  std::map<CpuId, int64_t> unseen_;
  int64_t wakeups_ = 0;
  int64_t sections_ = 0;
};

}  // namespace

bool LooksLikeLatencyText(absl::string_view text) {
  absl::string_view rest = text.substr(0, kSniffedBytes);
  bool has_header = false;
  while (!rest.empty()) {
    const absl::string_view line = WithoutQuoteMarks(TakeLine(&rest));
    if (const auto comment = Comment(line); comment.has_value()) {
      has_header = has_header || LatencyNs(*comment).has_value();
    } else if (has_header && SplitLatencyLine(line).has_value()) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<ImportedTrace> ImportLatencyText(absl::string_view text,
                                                const ImportLimits& limits) {
  const std::optional<std::string> decoded = FromQuotedPrintable(text);
  return LatencyReader(limits).Read(decoded.has_value() ? absl::string_view(*decoded) : text);
}

}  // namespace whylate
