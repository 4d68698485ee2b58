#include "tests/support/made_trace_dat.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr uint16_t kSwitchId = 300;
constexpr uint16_t kWakingId = 301;

template <typename T>
std::string Word(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff));
  }
  return bytes;
}

std::string Comm(const std::string& name) {
  std::string bytes = name;
  bytes.resize(16, '\0');
  return bytes;
}

std::string Sized(const std::string& data) { return Word<uint64_t>(data.size()) + data; }

std::string Field(const std::string& declaration, int offset, int size, bool is_signed) {
  return absl::StrCat("\tfield:", declaration, ";\toffset:", offset, ";\tsize:", size,
                      ";\tsigned:", is_signed ? 1 : 0, ";\n");
}

std::string Format(const std::string& name, int id, const std::string& fields) {
  return absl::StrCat("name: ", name, "\nID: ", id, "\nformat:\n",
                      Field("unsigned short common_type", 0, 2, false),
                      Field("unsigned char common_flags", 2, 1, false),
                      Field("unsigned char common_preempt_count", 3, 1, false),
                      Field("int common_pid", 4, 4, true), "\n", fields, "\nprint fmt: \"made\"\n");
}

std::string SwitchFormat() {
  return Format("sched_switch", kSwitchId,
                Field("char prev_comm[16]", 8, 16, false) + Field("pid_t prev_pid", 24, 4, true) +
                    Field("int prev_prio", 28, 4, true) + Field("long prev_state", 32, 8, true) +
                    Field("char next_comm[16]", 40, 16, false) +
                    Field("pid_t next_pid", 56, 4, true) + Field("int next_prio", 60, 4, true));
}

std::string WakingFormat() {
  return Format("sched_waking", kWakingId,
                Field("char comm[16]", 8, 16, false) + Field("pid_t pid", 24, 4, true) +
                    Field("int prio", 28, 4, true) + Field("int target_cpu", 32, 4, true));
}

std::string Header() {
  const std::string page = Field("u64 timestamp", 0, 8, false) +
                           Field("local_t commit", 8, 8, true) +
                           Field("int overwrite", 8, 1, true) + Field("char data", 16, 4080, false);
  const std::string event =
      "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
      "\tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n"
      "\ttime_stamp : type == 31\n\tdata max type_len  == 28\n";
  return absl::StrCat(std::string("header_page\0", 12), Sized(page),
                      std::string("header_event\0", 13), Sized(event));
}

}  // namespace

void MadeTraceDat::Add(int64_t time_ns, int32_t cpu, const std::string& record) {
  Page& page = pages_[static_cast<size_t>(cpu)];
  if (page.data.empty()) page.begin_ns = page.last_ns = time_ns;
  const uint64_t delta = static_cast<uint64_t>(time_ns - page.last_ns);
  page.last_ns = time_ns;
  // A time that does not fit into 27 bits has an entry of its own before it.
  if (delta >> 27 != 0) {
    page.data += Word<uint32_t>(static_cast<uint32_t>(30 | (delta & 0x7ffffff) << 5));
    page.data += Word<uint32_t>(static_cast<uint32_t>(delta >> 27));
  }
  const uint32_t words = static_cast<uint32_t>(record.size() / 4);
  const uint32_t own = delta >> 27 != 0 ? 0 : static_cast<uint32_t>(delta);
  page.data += Word<uint32_t>(words | own << 5) + record;
}

MadeTraceDat& MadeTraceDat::Switch(int64_t time_ns, int32_t cpu, int32_t prev,
                                   const std::string& prev_comm, int64_t prev_state, int32_t next,
                                   const std::string& next_comm) {
  Add(time_ns, cpu,
      Word<uint16_t>(kSwitchId) + Word<uint16_t>(0) + Word(prev) + Comm(prev_comm) + Word(prev) +
          Word<int32_t>(120) + Word(prev_state) + Comm(next_comm) + Word(next) +
          Word<int32_t>(120));
  return *this;
}

MadeTraceDat& MadeTraceDat::Waking(int64_t time_ns, int32_t cpu, int32_t waker, uint8_t flags,
                                   int32_t wakee, const std::string& comm, int32_t target) {
  Add(time_ns, cpu,
      Word<uint16_t>(kWakingId) + Word(flags) + Word<uint8_t>(0) + Word(waker) + Comm(comm) +
          Word(wakee) + Word<int32_t>(120) + Word(target));
  return *this;
}

MadeTraceDat& MadeTraceDat::Stats(int32_t cpu, const std::string& counters) {
  const std::string text = absl::StrCat("CPU: ", cpu, "\n", counters) + std::string(1, '\0');
  options_ += Word<uint16_t>(2) + Word<uint32_t>(static_cast<uint32_t>(text.size())) + text;
  return *this;
}

MadeTraceDat& MadeTraceDat::Uname(std::string uname) {
  uname.push_back('\0');
  options_ += Word<uint16_t>(5) + Word<uint32_t>(static_cast<uint32_t>(uname.size())) + uname;
  return *this;
}

MadeTraceDat& MadeTraceDat::Clock(const std::string& clock) {
  const std::string text = "[" + clock + "]" + std::string(1, '\0');
  options_ += Word<uint16_t>(4) + Word<uint32_t>(static_cast<uint32_t>(text.size())) + text;
  return *this;
}

MadeTraceDat& MadeTraceDat::LostBefore(int32_t cpu, uint64_t count) {
  pages_[static_cast<size_t>(cpu)].is_lossy = true;
  pages_[static_cast<size_t>(cpu)].lost = count;
  return *this;
}

std::string MadeTraceDat::Bytes() const {
  std::string bytes("\x17\x08\x44tracing6\0\0\x08", 14);
  bytes += Word<uint32_t>(kPageBytes) + Header();
  bytes += Word<uint32_t>(0);  // formats of ftrace's own
  bytes += Word<uint32_t>(1) + std::string("sched\0", 6) + Word<uint32_t>(2);
  bytes += Sized(SwitchFormat()) + Sized(WakingFormat());
  bytes += Word<uint32_t>(0) + Word<uint32_t>(0);  // symbols, printk formats
  bytes += Sized("1 alpha\n");
  bytes += Word<uint32_t>(static_cast<uint32_t>(pages_.size()));
  bytes += std::string("options  \0", 10) + options_ + Word<uint16_t>(0);
  bytes += std::string("flyrecord\0", 10);
  size_t offset = bytes.size() + pages_.size() * 16;
  offset = (offset + kPageBytes - 1) / kPageBytes * kPageBytes;
  const size_t first = offset;
  for (const Page& page : pages_) {
    const size_t size = page.data.empty() ? 0 : kPageBytes;
    bytes += Word<uint64_t>(offset) + Word<uint64_t>(size);
    offset += size;
  }
  bytes.resize(first, '\0');
  for (const Page& page : pages_) {
    if (page.data.empty()) continue;
    // The length's upper bits: events were lost, and their number follows the data.
    const uint64_t marks = page.is_lossy ? uint64_t{3} << 30 : 0;
    std::string content =
        Word(page.begin_ns) + Word<uint64_t>(page.data.size() | marks) + page.data;
    if (page.is_lossy) content += Word(page.lost);
    content.resize(kPageBytes, '\0');
    bytes += content;
  }
  return bytes;
}

}  // namespace whylate
