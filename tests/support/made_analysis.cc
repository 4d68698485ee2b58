#include "tests/support/made_analysis.h"

namespace whylate {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kOriginNs = (int64_t{1} << 53) + 1;  // no double holds it

int64_t At(int64_t ms) { return kOriginNs + ms * kMs; }

Activation Late() {
  Occupant bash;
  bash.task = "bash";
  bash.tid = Tid{1181};
  bash.role = {RoleKind::kOther, ""};
  bash.cpu = CpuId{0};
  bash.start_ns = At(100);
  bash.end_ns = At(112);
  bash.decision = Decision::kHigherClass;
  bash.standing = {SchedClass::kRealTime, 30, std::nullopt};
  Segment wait;
  wait.kind = SegmentKind::kRunqueueWait;
  wait.start_ns = At(100);
  wait.end_ns = At(112);
  wait.cpu = CpuId{0};
  wait.decision = Decision::kHigherClass;
  wait.standing = {SchedClass::kFair, std::nullopt, 0};
  wait.occupants = {bash};
  Segment running;
  running.kind = SegmentKind::kRunning;
  running.start_ns = At(112);
  running.end_ns = At(117);
  running.cpu = CpuId{0};
  Verdict verdict;
  verdict.subject = "bash";
  verdict.subjects = {"bash"};
  verdict.kind = "runqueue_wait";
  verdict.decision = Decision::kHigherClass;
  verdict.sufficient = true;
  verdict.margin_ns = 11 * kMs;
  Activation activation;
  activation.task = "rcu_preempt";
  activation.tid = Tid{8};
  activation.start_ns = At(100);
  activation.end_ns = At(117);
  activation.finished = true;
  activation.waking_ns = At(100);
  activation.running_ns = At(112);
  activation.deadline_ns = At(116);
  activation.late = true;
  activation.wait_ns = 12 * kMs;
  activation.wait_known = true;
  activation.segments = {wait, running};
  activation.verdict = verdict;
  return activation;
}

Activation Unknown() {
  Segment unknown;
  unknown.start_ns = At(200);
  unknown.end_ns = At(203);
  unknown.reason = "events lost";
  Activation activation;
  activation.task = "sshd";
  activation.tid = Tid{9};
  activation.start_ns = At(200);
  activation.end_ns = At(203);
  activation.segments = {unknown};
  return activation;
}

}  // namespace

TraceAnalysis MadeAnalysis() {
  TraceAnalysis trace;
  trace.format = "ftrace text";
  trace.notes = {"no affinity: waits are possibly avoidable"};
  trace.events = 1234;
  trace.begin_ns = kOriginNs;
  trace.end_ns = At(1000);
  trace.options.deadline_ns = 16 * kMs;
  trace.analysis.activations = {Late(), Unknown()};
  trace.analysis.tasks = {{"rcu_preempt", Tid{8}, 2, 1, 13 * kMs, 12 * kMs},
                          {"sshd", Tid{9}, 1, 0, 0, 0}};
  trace.analysis.subjects = {{"bash", 12 * kMs}};
  trace.analysis.total = 3;
  trace.analysis.late = 1;
  trace.analysis.trace = TraceTotals{.source = "ftrace text", .events = 1234};
  return trace;
}

}  // namespace whylate
