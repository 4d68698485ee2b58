// One trace of a latency tracer, line by line, into a collector.
#ifndef WHYLATE_ANALYSIS_IMPORT_LATENCY_TRACE_H_
#define WHYLATE_ANALYSIS_IMPORT_LATENCY_TRACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/import/event_collector.h"
#include "analysis/import/latency_line.h"
#include "analysis/import/seen_stints.h"
#include "analysis/model/ids.h"

namespace whylate {

struct LatencyHeader {
  std::string tracer;  // "wakeup_rt"
  std::string kernel;
  std::optional<int64_t> latency_ns;
  std::string task;  // "cyclictest-250 (uid:0 nice:0 policy:1 rt_prio:99)"
  std::string started_at;
  std::string ended_at;

  // A section with interrupts or preemption off, and no wake-up.
  bool IsSection() const { return !started_at.empty(); }
};

class LatencyTrace {
 public:
  // Its time 0 is `base_ns`, 1 s or later. `unseen`: since when each CPU is not looked at. Both must
  // outlive the object.
  LatencyTrace(EventCollector* collector, std::map<CpuId, int64_t>* unseen, LatencyHeader header,
               int64_t base_ns);

  void Line(const LatencyLine& line);
  // A call of the stack that the line before began.
  void Stack(absl::string_view function);
  // Places a switch that the text lacks, and says in a note what the trace tells. The time at which
  // it ends.
  int64_t Finish();

  bool has_lines() const { return first_ns_.has_value(); }
  const LatencyHeader& header() const { return header_; }

 private:
  struct Seen {
    Tid tid;
    std::string name;
    std::optional<int32_t> priority;
    int64_t time_ns = 0;
    TracedTask task() const { return {tid, name, priority}; }
  };
  struct Woken {
    Tid tid;
    std::string name;
    std::optional<int32_t> priority;
    CpuId cpu;
    int64_t time_ns = 0;
    TracedTask task() const { return {tid, name, priority}; }
  };
  // Between two lines, and what they were about.
  struct Silence {
    int64_t ns = 0;
    std::string after;
    std::string before;
    bool irqs_off = false;
  };

  void BeginCpu(CpuId cpu);
  void Observe(const LatencyLine& line, int64_t time_ns);
  void Event(const LatencyLine& line, const LatencyEvent& event, int64_t time_ns);
  void Silent(const LatencyLine& line, int64_t time_ns);
  std::string ResultInWords() const;
  std::string FactsInWords() const;

  EventCollector* collector_;
  std::map<CpuId, int64_t>* unseen_;
  SeenStints stints_;
  LatencyHeader header_;
  const int64_t base_ns_;
  std::optional<int64_t> first_ns_;
  int64_t last_ns_ = 0;
  std::string last_what_;
  bool last_irqs_off_ = false;
  Silence longest_;
  std::map<CpuId, Seen> seen_;
  std::optional<Woken> woken_;
  bool switched_ = false;
  bool stack_counts_ = false;
  std::vector<std::string> stack_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_LATENCY_TRACE_H_
