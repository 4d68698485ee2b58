#include "userspace/platform/scheduling.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using testing::_;
using testing::HasSubstr;

// Runs `body` on a thread of its own: what it sets goes with it.
template <typename Body>
void OnThread(Body body) {
  std::thread(body).join();
}

std::string ThreadName() {
  char name[16];
  prctl(PR_GET_NAME, name);
  return name;
}

TEST(AffinityTest, WeMayUseSomeCpu) {
  const absl::StatusOr<CpuSet> allowed = GetAffinity(Tid{0});
  ASSERT_THAT(allowed, IsOk());
  EXPECT_FALSE(allowed->empty());
}

TEST(AffinityTest, PinsTheCallingThread) {
  OnThread([] {
    CpuSet last;
    last.Add(GetAffinity(Tid{0})->ToVector().back());
    ASSERT_THAT(SetAffinity(last), IsOk());
    EXPECT_THAT(GetAffinity(Tid{0}), IsOkAndHolds(last));
  });
}

TEST(AffinityTest, CreatedThreadsInheritIt) {
  OnThread([] {
    CpuSet first;
    first.Add(GetAffinity(Tid{0})->ToVector().front());
    ASSERT_THAT(SetAffinity(first), IsOk());
    OnThread([&] { EXPECT_THAT(GetAffinity(Tid{0}), IsOkAndHolds(first)); });
  });
}

TEST(AffinityTest, CpusThatAreNotThereAreAnError) {
  CpuSet absent;
  absent.Add(CpuId{CpuSet::kMaxCpus - 1});
  OnThread([&] { EXPECT_THAT(SetAffinity(absent), StatusIs(_, HasSubstr("CPUs 8191"))); });
  OnThread([] { EXPECT_FALSE(SetAffinity(CpuSet()).ok()); });
}

TEST(AffinityTest, OfNoTaskIsNotFound) {
  EXPECT_THAT(GetAffinity(Tid{0x7fffffff}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("2147483647")));
}

TEST(NiceTest, SetsThatOfTheCallingThread) {
  OnThread([] {
    ASSERT_THAT(SetNice(19), IsOk());
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 19);
  });
}

TEST(TimerSlackTest, IsSet) {
  OnThread([] {
    SetTimerSlackNs(12345);
    EXPECT_EQ(prctl(PR_GET_TIMERSLACK), 12345);
  });
}

TEST(ThreadNameTest, IsSet) {
  OnThread([] {
    SetThreadName("burn-3");
    EXPECT_EQ(ThreadName(), "burn-3");
  });
}

TEST(ThreadNameTest, IsCutToWhatTheKernelKeeps) {
  OnThread([] {
    SetThreadName("a-name-of-twenty-one");
    EXPECT_EQ(ThreadName(), "a-name-of-twent");
  });
}

}  // namespace
}  // namespace whylate
