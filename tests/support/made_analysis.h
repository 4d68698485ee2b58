// An analysis of no real trace, with something in each field.
#ifndef WHYLATE_TESTS_SUPPORT_MADE_ANALYSIS_H_
#define WHYLATE_TESTS_SUPPORT_MADE_ANALYSIS_H_

#include "analysis/report/trace_analysis.h"

namespace whylate {

// rcu_preempt (tid 8) is woken at 100 ms, waits 12 ms behind bash (tid 1181, RT 30), runs 5 and is
// 1 ms late; sshd (tid 9) runs at 200 ms, of which no more is known.
TraceAnalysis MadeAnalysis();

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_MADE_ANALYSIS_H_
