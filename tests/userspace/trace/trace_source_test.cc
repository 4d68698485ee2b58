#include "userspace/trace/trace_source.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "absl/strings/match.h"

namespace whylate {
namespace {

TEST(TraceSourceTest, AnUnknownNameIsToldWhichThereAre) {
  const auto source = CreateTraceSource("dtrace");
  ASSERT_EQ(source.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(source.status().message(), "bpf, tracefs, none"));
}

TEST(TraceSourceTest, EveryRowCreatesASource) {
  for (const TraceSourceRow& row : TraceSources()) EXPECT_TRUE(CreateTraceSource(row.name).ok());
}

TEST(TraceSourceTest, NoneCapturesNothing) {
  auto source = CreateTraceSource("none").value();
  ASSERT_TRUE(source->Start({}).ok());
  const Capture capture = source->Stop().value();
  EXPECT_EQ(capture.facts.source, "none");
  EXPECT_TRUE(capture.events.empty());
}

TEST(TraceSourceTest, StopWithoutStartIsAnError) {
  auto source = CreateTraceSource("bpf").value();
  EXPECT_EQ(source->Stop().status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace whylate
