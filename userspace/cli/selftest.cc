#include "userspace/cli/selftest.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "analysis/model/status_macros.h"
#include "analysis/report/escape.h"
#include "userspace/cli/command.h"

namespace whylate {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostRuns = 1000;
constexpr double kNsPerMsAsDouble = 1e6;

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string KernelRelease() {
  utsname names;
  return uname(&names) == 0 ? names.release : "";
}

// A line per run, with the time left: on a terminal each overwrites the one before.
class Progress : public SelftestObserver {
 public:
  Progress(bool quiet, int64_t runs)
      : quiet_(quiet), runs_(runs), terminal_(isatty(STDERR_FILENO) == 1) {}

  void OnRun(const ScenarioRow& row, size_t index, size_t count, int64_t run,
             int64_t left_ns) override {
    if (quiet_ || (!terminal_ && run > 0)) return;
    std::string line = absl::StrFormat("[%d/%d] %s", index + 1, count, row.name);
    if (runs_ > 1 && terminal_) absl::StrAppend(&line, " run ", run + 1);
    absl::StrAppend(&line, absl::StrFormat(", %.0f s left", Seconds(left_ns)));
    std::cerr << (terminal_ ? "\r\033[K" : "") << line << (terminal_ ? "" : "\n") << std::flush;
    line_is_open_ = terminal_;
  }
  void Finish() const {
    if (line_is_open_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  bool quiet_;
  int64_t runs_;
  bool terminal_;
  bool line_is_open_ = false;
};

std::string Verdict(const ScenarioResult& scenario) {
  if (scenario.skipped) return "skipped";
  if (!scenario.score.wrong.empty()) return "WRONG";
  return scenario.unproven.empty() ? "ok" : "unproven";
}

std::string TableRow(const ScenarioResult& scenario) {
  const Score& score = scenario.score;
  std::string line = absl::StrFormat("%2d  %-20s", scenario.row->row, scenario.row->name);
  if (scenario.skipped) return absl::StrCat(line, "  skipped");
  absl::StrAppend(&line, absl::StrFormat("%6d %6d %10d", score.runs, score.late, score.injections));
  if (score.injected_ns > 0) {
    absl::StrAppend(&line,
                    absl::StrFormat(" %11.1f %11.1f %7.2f",
                                    static_cast<double>(score.injected_ns) / kNsPerMsAsDouble,
                                    static_cast<double>(score.named_ns) / kNsPerMsAsDouble,
                                    100 * score.NamedShare()));
  } else {
    absl::StrAppend(&line, absl::StrFormat(" %11s %11s %7s", "-", "-", "-"));
  }
  return absl::StrCat(line, absl::StrFormat(" %5d  %s", score.wrong.size(), Verdict(scenario)));
}

// "hog 16, self 1 (+2 incomplete)": most frames first.
std::string NamedAs(const Score& score) {
  std::vector<std::pair<std::string, int64_t>> subjects(score.confusion.begin(),
                                                        score.confusion.end());
  std::stable_sort(subjects.begin(), subjects.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (const auto& [subject, frames] : subjects) {
    words.push_back(absl::StrCat(EscapeForTerminal(subject), " ", frames));
  }
  std::string text = absl::StrJoin(words, ", ");
  if (score.incomplete_frames > 0) {
    absl::StrAppend(&text, text.empty() ? "" : " ", "(+", score.incomplete_frames, " incomplete)");
  }
  return text.empty() ? "no frame was late" : text;
}

void AppendNotes(const ScenarioResult& scenario, std::string& text) {
  const absl::string_view name = scenario.row->name;
  if (scenario.skipped) {
    absl::StrAppend(&text, name, ": skipped: ", EscapeForTerminal(*scenario.skipped), "\n");
  }
  if (scenario.prediction) {
    absl::StrAppend(&text, name, ": ", scenario.prediction->ToString(), "\n");
  }
  for (const std::string& lack : scenario.unproven) {
    absl::StrAppend(&text, name, ": not proven: ", lack, "\n");
  }
  // The first few tell enough; their lines are the analysis's own, with names escaped.
  constexpr size_t kMostShown = 3;
  const auto show = [&](const std::vector<std::string>& frames, absl::string_view what) {
    for (size_t i = 0; i < std::min(kMostShown, frames.size()); ++i) {
      absl::StrAppend(&text, name, ": ", what, ": ", frames[i], "\n");
    }
  };
  show(scenario.score.wrong, "wrong");
  if (scenario.score.IsShort()) show(scenario.score.short_named, "too little");
  show(scenario.score.badly_split, "badly split");
}

std::string Conclusion(const SelftestResult& result) {
  size_t wrong = 0;
  size_t skipped = 0;
  size_t unproven = 0;
  for (const ScenarioResult& scenario : result.scenarios) {
    wrong += scenario.score.wrong.size();
    skipped += scenario.skipped ? 1 : 0;
    unproven += scenario.unproven.empty() ? 0 : 1;
  }
  return absl::StrFormat("%d scenarios, %d skipped, %d not proven, %d wrong verdicts: %s\n",
                         result.scenarios.size(), skipped, unproven, wrong,
                         result.Ok() ? "causes are named right here" : "not all is named right");
}

Json ToJson(const ScenarioResult& scenario) {
  const Score& score = scenario.score;
  Json json;
  json["name"] = scenario.row->name;
  json["row"] = scenario.row->row;
  json["what"] = scenario.row->what;
  json["runs"] = score.runs;
  json["wrong"] = score.wrong.size();
  json["wrong_verdicts"] = Json::array();
  for (const std::string& wrong : score.wrong) json["wrong_verdicts"].push_back(ValidUtf8(wrong));
  json["skipped"] = scenario.skipped ? Json(ValidUtf8(*scenario.skipped)) : Json(nullptr);
  json["injections"] = score.injections;
  json["injected_ns"] = score.injected_ns;
  json["named_ns"] = score.named_ns;
  json["confusion"] = Json::object();
  for (const auto& [subject, frames] : score.confusion) {
    json["confusion"][ValidUtf8(subject)] = frames;
  }
  json["incomplete"] = score.incomplete_frames;
  json["late"] = score.late;
  json["dropped"] = score.dropped;
  json["lost_events"] = score.lost;
  json["unknown_ns"] = score.unknown_ns;
  json["delay_ns"] = score.delay_ns;
  json["decisions"] = Json::object();
  for (const auto& [injection, decisions] : score.decision_ns) {
    for (const auto& [decision, ns] : decisions) json["decisions"][injection][decision] = ns;
  }
  json["unproven"] = scenario.unproven;
  json["prediction"] = nullptr;
  if (scenario.prediction) {
    const Interval95 removal = scenario.prediction->Removal();
    json["prediction"] = {{"predicted", scenario.prediction->MeanPredicted()},
                          {"low", removal.low},
                          {"high", removal.high},
                          {"pairs", scenario.prediction->removed.size()}};
  }
  return json;
}

absl::Status Complete(SelftestFlags& flags) {
  if (!flags.seconds.empty()) {
    ASSIGN_OR_RETURN(
        flags.options.duration_ns,
        ParseDurationNs("--seconds", flags.seconds, absl::Milliseconds(500), absl::Minutes(10)));
  }
  if (flags.options.runs < 1 || flags.options.runs > kMostRuns) {
    return absl::InvalidArgumentError(
        absl::StrCat("--runs ", flags.options.runs, " is outside 1 to ", kMostRuns));
  }
  return SelectScenarios(flags.options).status();
}

}  // namespace

std::string SelftestText(const SelftestResult& result, const SelftestOptions& options) {
  std::string text =
      absl::StrFormat("whylate selftest: runs of %.1f s; kernel %s\n", Seconds(options.duration_ns),
                      EscapeForTerminal(KernelRelease()));
  if (result.busy_share > 0.05) {
    absl::StrAppend(&text, absl::StrFormat("The machine was busy to %.0f %% before it began.\n",
                                           100 * result.busy_share));
  }
  absl::StrAppend(&text, absl::StrFormat("\n%2s  %-20s%6s %6s %10s %11s %11s %7s %5s\n", "#",
                                         "scenario", "runs", "late", "injections", "injected ms",
                                         "named ms", "%", "wrong"));
  for (const ScenarioResult& scenario : result.scenarios) {
    absl::StrAppend(&text, TableRow(scenario), "\n");
  }
  absl::StrAppend(&text, "\nwhat was done          who is named for the late and skipped frames\n");
  for (const ScenarioResult& scenario : result.scenarios) {
    if (scenario.skipped) continue;
    absl::StrAppend(&text,
                    absl::StrFormat("%-22s %s\n", scenario.row->name, NamedAs(scenario.score)));
  }
  text.push_back('\n');
  for (const ScenarioResult& scenario : result.scenarios) AppendNotes(scenario, text);
  if (result.interrupted) text += "interrupted; the rest was not tried\n";
  return text + Conclusion(result);
}

std::string SelftestJson(const SelftestResult& result, const SelftestOptions& options) {
  Json document;
  document["schema"] = "whylate.selftest/1";
  document["kernel"] = ValidUtf8(KernelRelease());
  document["runs"] = options.runs;
  document["seconds"] = Seconds(options.duration_ns);
  document["busy_share"] = result.busy_share;
  document["interrupted"] = result.interrupted;
  document["ok"] = result.Ok();
  document["scenarios"] = Json::array();
  for (const ScenarioResult& scenario : result.scenarios) {
    document["scenarios"].push_back(ToJson(scenario));
  }
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string SelftestList() {
  std::string text = "Scenarios (what is done to a workload):\n";
  for (const ScenarioRow& row : ScenarioRows()) {
    absl::StrAppend(&text, absl::StrFormat("  %-20s %s\n", row.name, row.what));
  }
  return text;
}

int RunSelftestCommand(SelftestFlags flags) {
  const absl::Status status = Complete(flags);
  if (!status.ok()) return ReportError(status);
  if (flags.list) {
    std::cout << SelftestList();
    return FinishOutput(kExitOk);
  }
  Progress progress(flags.quiet, flags.options.runs);
  absl::StatusOr<SelftestResult> result = RunSelftest(flags.options, progress);
  progress.Finish();
  if (!result.ok()) return ReportError(result.status());
  std::cout << (flags.json ? SelftestJson(*result, flags.options)
                           : SelftestText(*result, flags.options));
  const int exit_code = result->Ok() ? kExitOk : kExitFailed;
  return FinishOutput(result->interrupted ? kExitInterrupted : exit_code);
}

}  // namespace whylate
