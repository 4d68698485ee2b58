// Writes small trace.dat files of version 6, for tests: one page of events a CPU, of sched_switch
// and sched_waking alone.
//
//   MadeTraceDat made(2);
//   made.Switch(100, 0, 1, "alpha", 1, 0, "swapper/0");
//   made.Bytes();
#ifndef WHYLATE_TESTS_SUPPORT_MADE_TRACE_DAT_H_
#define WHYLATE_TESTS_SUPPORT_MADE_TRACE_DAT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace whylate {

class MadeTraceDat {
 public:
  explicit MadeTraceDat(int32_t cpus) : pages_(static_cast<size_t>(cpus)) {}

  // Of one CPU in order of time.
  MadeTraceDat& Switch(int64_t time_ns, int32_t cpu, int32_t prev, const std::string& prev_comm,
                       int64_t prev_state, int32_t next, const std::string& next_comm);
  MadeTraceDat& Waking(int64_t time_ns, int32_t cpu, int32_t waker, uint8_t flags, int32_t wakee,
                       const std::string& comm, int32_t target);
  // "entries: 7\noverrun: 3\n" and the like.
  MadeTraceDat& Stats(int32_t cpu, const std::string& counters);
  MadeTraceDat& Uname(std::string uname);
  // "local", "mono" ..
  MadeTraceDat& Clock(const std::string& clock);
  // Events were lost before the page of `cpu`.
  MadeTraceDat& LostBefore(int32_t cpu, uint64_t count);

  std::string Bytes() const;

 private:
  struct Page {
    int64_t begin_ns = 0;
    int64_t last_ns = 0;
    std::string data;
    uint64_t lost = 0;
    bool is_lossy = false;
  };
  void Add(int64_t time_ns, int32_t cpu, const std::string& record);

  std::vector<Page> pages_;
  std::string options_;
};

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_MADE_TRACE_DAT_H_
