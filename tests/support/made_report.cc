#include "tests/support/made_report.h"

namespace whylate {
namespace {

constexpr int64_t kMs = 1000000;

Frame MadeFrame(int64_t index, int64_t release_ns, int64_t start_ns, int64_t completion_ns,
                int64_t cpu_ns, int64_t demand_ns) {
  return {index,
          kMadeOriginNs + release_ns,
          kMadeOriginNs + start_ns,
          kMadeOriginNs + completion_ns,
          cpu_ns,
          demand_ns};
}

void Account(Cell& cell, bool has_unfinished_frame) {
  cell.frames.has_unfinished = has_unfinished_frame;
  cell.counts = CountFrames(cell.frames).value();
  cell.classic = ComputeClassic(cell.frames, cell.counts);
}

// Releases at 0, 16.7, 33.3 and 50 ms; frame 1 runs from 20 to 40 ms, so that 2 is dropped.
Cell VideoUnderBurn() {
  Cell cell;
  cell.workload = "video";
  cell.load = "burn";
  cell.title = "Video (60 Hz, 40 %)";
  cell.notes = {"frames took 2.5 % more CPU time than calibrated"};
  cell.frames.pacing = Pacing::kSkip;
  cell.frames.period = {1000 * kMs, 60};
  cell.frames.origin_ns = kMadeOriginNs;
  cell.frames.end_ns = kMadeOriginNs + 66666666;
  cell.frames.frames = {MadeFrame(0, 0, 50000, 6800000, 6700000, 6666667),
                        MadeFrame(1, 16666666, 20000000, 40000000, 6900000, 6666667),
                        MadeFrame(3, 50000000, 50100000, 56900000, 6750000, 6666667)};
  Account(cell, false);
  cell.load_progress = LoadProgress{{{"burn", "loops", 80000000, {}, std::nullopt, 2}}};
  cell.explanation = MadeExplanation(kMadeOriginNs);
  cell.observer = ObserverCost{3000 * kMs, 30 * kMs, 15 * kMs, 20 * kMs, 4567890};
  return cell;
}

Cell GamingUnderNone() {
  Cell cell;
  cell.workload = "gaming";
  cell.load = "none";
  cell.title = "Gaming (back to back)";
  cell.frames.pacing = Pacing::kBackToBack;
  cell.frames.period = {10 * kMs, 1};
  cell.frames.origin_ns = kMadeOriginNs;
  cell.frames.end_ns = kMadeOriginNs + 30 * kMs;
  cell.frames.frames = {MadeFrame(0, 0, 10000, 10100000, 10050000, 10000000),
                        MadeFrame(1, 10100000, 10100000, 20400000, 10200000, 10000000),
                        MadeFrame(2, 20400000, 20400000, 31000000, 10100000, 10000000)};
  Account(cell, false);
  return cell;
}

Cell XUnderBurnAndWrite() {
  Cell cell;
  cell.workload = "x";
  cell.load = "burn+write";
  cell.run = 1;
  cell.title = "X (10 Hz, 0-100 %)";
  cell.invalid = {"load write moved no byte to the disk"};
  cell.frames.pacing = Pacing::kCarry;
  cell.frames.period = {100 * kMs, 1};
  cell.frames.origin_ns = kMadeOriginNs;
  cell.frames.end_ns = kMadeOriginNs + 300 * kMs;
  cell.frames.frames = {MadeFrame(0, 0, 20000, 50000, 20000, 0),
                        MadeFrame(1, 100 * kMs, 101 * kMs, 260 * kMs, 50 * kMs, 50 * kMs)};
  Account(cell, true);
  cell.load_progress = LoadProgress{{{"burn", "loops", 450000000, {}, std::nullopt, 2},
                                     {"write", "bytes", 12345678, {12000000}, 9876543, 1}}};
  return cell;
}

std::vector<Segment> MadeSegments(int64_t origin_ns) {
  Segment late;
  late.kind = SegmentKind::kLateRelease;
  late.start_ns = origin_ns + 16666666;
  late.end_ns = origin_ns + 16700000;
  late.reason = "timer fired late";
  late.timer_expires_ns = origin_ns + 16666666;
  late.timer_fired_ns = origin_ns + 16699000;

  Occupant burner;
  burner.task = "burn-0";
  burner.tid = Tid{4321};
  burner.role = {RoleKind::kLoad, "burn"};
  burner.cpu = CpuId{1};
  burner.start_ns = origin_ns + 16700000;
  burner.end_ns = origin_ns + 20000000;
  burner.decision = Decision::kMissedPull;
  burner.parts = {{PartKind::kSoftirq, 40000, true, "softirq NET_RX"}};
  Segment wait;
  wait.kind = SegmentKind::kRunqueueWait;
  wait.start_ns = burner.start_ns;
  wait.end_ns = burner.end_ns;
  wait.cpu = CpuId{1};
  wait.occupants = {burner};
  wait.avoidable_ns = 2000000;
  wait.possibly_avoidable_ns = 100000;
  wait.decision = Decision::kMissedPull;
  wait.waker = "hrtimer";

  Segment running;
  running.kind = SegmentKind::kRunning;
  running.start_ns = wait.end_ns;
  running.end_ns = origin_ns + 40000000;
  running.cpu = CpuId{0};
  running.parts = {{PartKind::kIrq, 30000, false, "irq 24 virtio2-req.0"},
                   {PartKind::kSteal, 1000000, false, ""}};
  return {late, wait, running};
}

}  // namespace

Explanation MadeExplanation(int64_t origin_ns) {
  Miss miss;
  miss.frame.index = 1;
  miss.frame.release_ns = origin_ns + 16666666;
  miss.frame.start_ns = origin_ns + 20000000;
  miss.frame.completion_ns = origin_ns + 40000000;
  miss.deadline_ns = origin_ns + 33333333;
  miss.dropped = 1;
  miss.segments = MadeSegments(origin_ns);
  miss.verdict = Verdict{"burn & kworker/0:1",
                         {"burn", "kworker/0:1"},
                         "runqueue_wait",
                         Decision::kMissedPull,
                         true,
                         250000,
                         Confidence::kComplete,
                         1000,
                         ""};
  Explanation explanation;
  explanation.misses = {miss};
  explanation.causes = {{"burn", "runqueue_wait", Decision::kMissedPull, 2, 0, 3300000},
                        {"steal", "running", std::nullopt, 0, 0, 1000000}};
  explanation.subjects = {{"burn", 2, 0, 1, 3300000}};
  explanation.trace = TraceTotals{"bpf", 123456, 7, 2, 1000, 1};
  return explanation;
}

Report MadeReport() {
  Report report;
  report.label = "made";
  report.version = "0.1.0";
  report.run_id = "1234-56789";
  report.started = "2026-11-30T15:27:44Z";
  report.finished = "2026-11-30T15:28:44Z";
  report.host = {{"kernel", "6.18.0"},
                 {"cpus", "2"},
                 {"cpu_model", "Made CPU @ 3 GHz"},
                 {"virtualization", "kvm"},
                 {"hz", std::nullopt}};
  report.options.workloads = {"video", "gaming", "x"};
  report.options.loads = {"none", "burn", "burn+write"};
  report.options.duration_ns = 3000 * kMs;
  report.options.repeat = 2;
  report.options.load_threads = 2;
  report.options.bench_nice = -5;
  report.options.cpus = "0-1";
  report.options.source = "bpf";
  report.options.comment = "made by hand";
  report.warnings = {"not root: no scheduler trace"};
  report.loops_per_ms = 600000;
  report.cells = {VideoUnderBurn(), GamingUnderNone(), XUnderBurnAndWrite()};
  return report;
}

}  // namespace whylate
