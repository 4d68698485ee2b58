// What tests of the eBPF capture on the running kernel share.
#ifndef WHYLATE_TESTS_SUPPORT_BPF_CAPTURE_H_
#define WHYLATE_TESTS_SUPPORT_BPF_CAPTURE_H_

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "analysis/model/ids.h"
#include "userspace/trace/bpf_source.h"
#include "userspace/trace/trace_source.h"

namespace whylate {

inline Tid ThisThread() { return Tid{static_cast<int32_t>(syscall(SYS_gettid))}; }

// Skips where the machine cannot capture, and says why.
class BpfCaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    const absl::Status usable = BpfUsable();
    if (!usable.ok()) GTEST_SKIP() << usable;
  }

  // What was recorded while `activity` ran.
  static Capture Record(const TraceOptions& options, const std::function<void()>& activity) {
    std::unique_ptr<TraceSource> source = CreateBpfSource();
    const absl::Status started = source->Start(options);
    EXPECT_TRUE(started.ok()) << started;
    activity();
    auto capture = source->Stop();
    EXPECT_TRUE(capture.ok()) << capture.status();
    return capture.ok() ? *std::move(capture) : Capture{};
  }
  // With this process watched.
  static Capture RecordThisProcess(const std::function<void()>& activity) {
    TraceOptions options;
    options.watched = {Tgid{getpid()}};
    return Record(options, activity);
  }
};

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_BPF_CAPTURE_H_
