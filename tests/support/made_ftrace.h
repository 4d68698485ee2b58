// Raw pages of ftrace, made by hand: records of the events that whylate reads, in formats of our own
// whose fields lie elsewhere than any kernel's, so that nothing can rely on fixed offsets.
//
//   MadeFtrace ftrace;
//   MadePage page(1000);
//   page.Add(5, ftrace.Record("sched_waking", {{FtraceField::kTid, 7}}, {.current = 3}));
//   store.Add(CpuId{0}, page.Bytes());
#ifndef WHYLATE_TESTS_SUPPORT_MADE_FTRACE_H_
#define WHYLATE_TESTS_SUPPORT_MADE_FTRACE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "userspace/trace/ftrace_formats.h"
#include "userspace/trace/ftrace_page.h"

namespace whylate {

class MadeFtrace {
 public:
  struct Common {
    int32_t current = 0;
    uint8_t flags = 0;
  };
  using Values = std::map<FtraceField, std::variant<int64_t, std::string>>;

  // The formats of all events of both tables.
  FtraceFormats Formats() const;
  // Fields that are not given are 0 and "".
  std::vector<uint8_t> Record(const std::string& event, const Values& values,
                              const Common& common) const;
  // The same without a current task, in task context.
  std::vector<uint8_t> Record(const std::string& event, const Values& values) const;

 private:
  struct Place {
    size_t offset = 0;
    size_t size = 0;
  };
  struct Made {
    uint16_t id = 0;
    size_t size_bytes = 0;
    std::string text;
    std::map<FtraceField, Place> places;
  };
  static Made Make(const FtraceEventRow& row, uint16_t id);
  std::map<std::string, Made> MakeAll() const;
};

class MadePage {
 public:
  explicit MadePage(uint64_t time_ns) : time_ns_(time_ns) {}

  // A record `delta_ns` (below 2^27) after the one before.
  MadePage& Add(uint32_t delta_ns, absl::Span<const uint8_t> record);
  // The same with its length in a word of its own, as long records have it.
  MadePage& AddLong(uint32_t delta_ns, absl::Span<const uint8_t> record);
  MadePage& Extend(uint64_t delta_ns);
  MadePage& Stamp(uint64_t time_ns);
  // A record that was taken back, of `words` 32-bit words.
  MadePage& Discard(uint32_t delta_ns, uint32_t words);
  // A word as it is.
  MadePage& Word(uint32_t word);
  MadePage& Missed(std::optional<uint64_t> count);

  // With the layout of FtracePageLayout's defaults, and what its page has beyond the data.
  std::vector<uint8_t> Bytes() const;

 private:
  uint64_t time_ns_;
  std::vector<uint8_t> data_;
  bool missed_ = false;
  std::optional<uint64_t> missed_count_;
};

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_MADE_FTRACE_H_
