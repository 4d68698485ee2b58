#include "userspace/cli/explain.h"

#include <algorithm>
#include <iostream>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "analysis/model/status_macros.h"
#include "analysis/report/escape.h"
#include "analysis/report/explain_text.h"
#include "analysis/report/report_json.h"
#include "userspace/cli/command.h"
#include "userspace/cli/session_file.h"

namespace whylate {
namespace {

struct LateFrame {
  const Cell* cell;
  const Miss* miss;
  int64_t overrun_ns() const { return miss->frame.completion_ns - miss->deadline_ns; }
};

// As the user may write it: "video/burn#2", and the first run with "#1" or without.
std::string CellName(const Cell& cell) {
  return absl::StrCat(cell.workload, "/", cell.load, "#", cell.run + 1);
}

absl::StatusOr<std::vector<const Cell*>> ChooseCells(const Report& report,
                                                     const std::string& wanted) {
  std::vector<const Cell*> cells;
  std::vector<std::string> names;
  std::string full = absl::StrReplaceAll(wanted, {{" #", "#"}});  // as the report shows it
  if (!absl::StrContains(full, '#')) absl::StrAppend(&full, "#1");
  for (const Cell& cell : report.cells) {
    names.push_back(CellName(cell));
    if (wanted.empty() || names.back() == full) cells.push_back(&cell);
  }
  if (!cells.empty()) return cells;
  if (report.cells.empty()) return absl::NotFoundError("the session has no finished cell");
  return absl::InvalidArgumentError(
      absl::StrCat("no cell '", wanted, "' in this session; it has ", absl::StrJoin(names, ", ")));
}

// Of a frame that is no late one.
std::string WhyNotLate(const Cell& cell, int64_t frame) {
  for (const Miss& miss : cell.explanation.misses) {
    if (frame <= miss.frame.index || frame > miss.frame.index + miss.dropped) continue;
    return absl::StrCat("frame ", frame, " was dropped: its release passed while frame ",
                        miss.frame.index, " was at work; see --frame ", miss.frame.index);
  }
  const bool is_there = std::any_of(cell.frames.frames.begin(), cell.frames.frames.end(),
                                    [&](const Frame& other) { return other.index == frame; });
  return absl::StrCat(is_there ? "frame " : "there is no frame ", frame,
                      is_there ? " of that cell met its deadline" : " in that cell");
}

// Said where no late frame is to be told of.
std::string NothingLate(const std::vector<const Cell*>& cells) {
  std::string text = "no frame was late\n";
  for (const Cell* cell : cells) {
    for (const std::string& reason : cell->invalid) {
      absl::StrAppend(&text, CellName(*cell), " is NOT VALID: ", EscapeForTerminal(reason), "\n");
    }
  }
  return text;
}

absl::StatusOr<std::vector<LateFrame>> ChooseFrames(const std::vector<const Cell*>& cells,
                                                    const ExplainFlags& flags) {
  std::vector<LateFrame> frames;
  for (const Cell* cell : cells) {
    for (const Miss& miss : cell->explanation.misses) {
      if (!flags.frame || miss.frame.index == *flags.frame) frames.push_back({cell, &miss});
    }
  }
  if (flags.frame && frames.empty()) {
    return absl::InvalidArgumentError(WhyNotLate(*cells.front(), *flags.frame));
  }
  std::stable_sort(frames.begin(), frames.end(), [](const LateFrame& a, const LateFrame& b) {
    return a.overrun_ns() > b.overrun_ns();
  });
  const auto most = flags.frame ? frames.size() : static_cast<size_t>(flags.worst.value_or(1));
  if (frames.size() > most) frames.resize(most);
  return frames;
}

absl::Status Explain(const ExplainFlags& flags) {
  if (flags.frame && flags.cell.empty()) {
    return absl::InvalidArgumentError("--frame K needs --cell WORKLOAD/LOAD");
  }
  if (flags.worst && *flags.worst < 1) {
    return absl::InvalidArgumentError(absl::StrCat("--worst ", *flags.worst, " is less than 1"));
  }
  const absl::StatusOr<Report> report = OpenSession(flags.session);
  if (!report.ok()) return report.status();
  ASSIGN_OR_RETURN(const std::vector<const Cell*> cells, ChooseCells(*report, flags.cell));
  ASSIGN_OR_RETURN(const std::vector<LateFrame> frames, ChooseFrames(cells, flags));
  if (flags.json) {
    std::vector<std::string> rows;
    for (const LateFrame& late : frames) rows.push_back(MissToJson(*late.cell, *late.miss));
    std::cout << "[" << absl::StrJoin(rows, ",") << "]\n";
    return absl::OkStatus();
  }
  if (frames.empty()) std::cout << NothingLate(cells);
  for (size_t i = 0; i < frames.size(); ++i) {
    std::cout << (i == 0 ? "" : "\n") << ExplainMiss(*frames[i].cell, *frames[i].miss);
  }
  return absl::OkStatus();
}

}  // namespace

int RunExplain(const ExplainFlags& flags) {
  const absl::Status status = Explain(flags);
  return status.ok() ? FinishOutput(kExitOk) : ReportError(status);
}

}  // namespace whylate
