#include "analysis/report/session_totals.h"

namespace whylate {

SessionTotals TotalsOf(const Report& report) {
  SessionTotals session;
  Totals rows;
  for (const Cell& cell : report.cells) {
    if (!cell.explanation.trace) continue;
    session.duration_ns += cell.frames.end_ns - cell.frames.origin_ns;
    session.delay += TotalDelay(cell.explanation.misses);
    for (const Miss& miss : cell.explanation.misses) session.misses += 1 + miss.dropped;
    rows.AddCell(cell.explanation);
  }
  session.causes = rows.Causes();
  session.subjects = rows.Subjects();
  return session;
}

}  // namespace whylate
