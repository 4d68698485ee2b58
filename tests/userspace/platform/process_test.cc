#include "userspace/platform/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A child that waits to be killed; named `name` before the constructor returns.
class WaitingChild {
 public:
  explicit WaitingChild(const char* name = "waiting") {
    int ready[2];
    if (pipe(ready) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      prctl(PR_SET_NAME, name);
      close(ready[1]);  // both ends' last writer: the parent's read returns
      close(ready[0]);
      while (true) pause();
    }
    close(ready[1]);
    char none;
    (void)!read(ready[0], &none, 1);
    close(ready[0]);
  }
  ~WaitingChild() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      Reap();
    }
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;

  Tgid tgid() const { return Tgid{pid_}; }
  // Waits until it has ended and leaves it a zombie.
  int AwaitEnd() const {
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
    return info.si_status;
  }
  void Reap() {
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

TEST(ReadProcessTest, Ourselves) {
  const std::optional<ProcessFacts> facts = ReadProcess(Tgid{getpid()});
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->identity.tgid.value, getpid());
  EXPECT_EQ(facts->parent.value, getppid());
  EXPECT_EQ(facts->state, 'R');
  EXPECT_GT(facts->identity.start_ticks, 0u);
}

TEST(ReadProcessTest, NoSuchProcess) {
  EXPECT_FALSE(ReadProcess(Tgid{0x7fffffff}));
  EXPECT_FALSE(ReadProcess(Tgid{-1}));
}

// /proc/PID/stat has the name in parentheses, as it is.
class HostileNameTest : public testing::TestWithParam<const char*> {};

TEST_P(HostileNameTest, DoesNotShiftTheFields) {
  const WaitingChild child(GetParam());
  const std::optional<ProcessFacts> facts = ReadProcess(child.tgid());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->parent.value, getpid());
  EXPECT_THAT(facts->state, testing::AnyOf('S', 'R'));
  // It began after us, in ticks since boot, and not long after.
  const uint64_t ours = ReadProcess(Tgid{getpid()})->identity.start_ticks;
  EXPECT_GE(facts->identity.start_ticks, ours);
}

INSTANTIATE_TEST_SUITE_P(Names, HostileNameTest,
                         testing::Values("plain", "a b c", ") Z 1 (", "a) R 1 2", "(((", ")))", "",
                                         " ", "\n"));

TEST(ReadProcessTest, AnEndedChildIsAZombieAndNotAlive) {
  WaitingChild child;
  const ProcessIdentity identity = ReadProcess(child.tgid())->identity;
  EXPECT_TRUE(IsAlive(identity));
  kill(child.tgid().value, SIGKILL);
  child.AwaitEnd();
  EXPECT_EQ(ReadProcess(child.tgid())->state, 'Z');
  EXPECT_FALSE(IsAlive(identity));
  child.Reap();
  EXPECT_FALSE(IsAlive(identity));
}

TEST(IsAliveTest, AReusedPidIsAnotherProcess) {
  ProcessIdentity identity = ReadProcess(Tgid{getpid()})->identity;
  EXPECT_TRUE(IsAlive(identity));
  ++identity.start_ticks;
  EXPECT_FALSE(IsAlive(identity));
}

TEST(KillProcessTest, KillsTheOneMeant) {
  const WaitingChild child;
  KillProcess(ReadProcess(child.tgid())->identity);
  EXPECT_EQ(child.AwaitEnd(), SIGKILL);
}

TEST(KillProcessTest, SparesAProcessThatHasThePidNow) {
  const WaitingChild child;
  ProcessIdentity identity = ReadProcess(child.tgid())->identity;
  --identity.start_ticks;
  KillProcess(identity);
  // A SIGTERM that comes after a SIGKILL would not be what ended it.
  kill(child.tgid().value, SIGTERM);
  EXPECT_EQ(child.AwaitEnd(), SIGTERM);
}

TEST(ReadAllProcessesTest, HasUsAndOurChild) {
  const WaitingChild child;
  const std::vector<ProcessFacts> all = ReadAllProcesses();
  for (const Tgid tgid : {Tgid{getpid()}, child.tgid()}) {
    EXPECT_EQ(std::count_if(all.begin(), all.end(),
                            [&](const ProcessFacts& facts) { return facts.identity.tgid == tgid; }),
              1);
  }
}

ProcessFacts Process(int32_t pid, int32_t parent) {
  ProcessFacts facts;
  facts.identity.tgid = Tgid{pid};
  facts.parent = Tgid{parent};
  return facts;
}

std::vector<int32_t> DescendantPids(int32_t root, const std::vector<ProcessFacts>& all) {
  std::vector<int32_t> pids;
  for (const ProcessFacts& facts : DescendantsOf(Tgid{root}, all)) {
    pids.push_back(facts.identity.tgid.value);
  }
  return pids;
}

// 1 - 2 - 3 - 5
//       - 4
//   - 6
TEST(DescendantsOfTest, AreAllGenerationsBelow) {
  const std::vector<ProcessFacts> all = {Process(5, 3), Process(1, 0), Process(3, 2),
                                         Process(6, 1), Process(2, 1), Process(4, 2)};
  EXPECT_THAT(DescendantPids(2, all), UnorderedElementsAre(3, 4, 5));
  EXPECT_THAT(DescendantPids(1, all), UnorderedElementsAre(2, 3, 4, 5, 6));
  EXPECT_THAT(DescendantPids(5, all), IsEmpty());
}

TEST(DescendantsOfTest, TheRootNeedNotBeListed) {
  EXPECT_THAT(DescendantPids(9, {Process(10, 9), Process(11, 10)}), UnorderedElementsAre(10, 11));
}

TEST(DescendantsOfTest, NoProcesses) { EXPECT_THAT(DescendantPids(1, {}), IsEmpty()); }

// A list that is read while pids are reused may hold a circle.
TEST(DescendantsOfTest, CirclesEnd) {
  EXPECT_THAT(DescendantPids(1, {Process(2, 1), Process(3, 2), Process(1, 3)}),
              UnorderedElementsAre(2, 3));
  EXPECT_THAT(DescendantPids(1, {Process(1, 1)}), IsEmpty());
}

TEST(KillDescendantsTest, WithoutDescendantsThereIsNothingToDo) {
  const WaitingChild child;
  EXPECT_EQ(KillDescendants(child.tgid(), 0), 0u);
  EXPECT_TRUE(IsAlive(ReadProcess(child.tgid())->identity));
}

TEST(OpenPidfdTest, OfNobodyIsAnError) {
  EXPECT_THAT(OpenPidfd(Tgid{getpid()}), IsOk());
  EXPECT_THAT(OpenPidfd(Tgid{0x7fffffff}),
              StatusIs(absl::StatusCode::kNotFound, testing::HasSubstr("2147483647")));
}

TEST(DescribeWaitStatusTest, TellsExitsFromSignals) {
  EXPECT_EQ(DescribeWaitStatus(W_EXITCODE(2, 0)), "exited with status 2");
  EXPECT_EQ(DescribeWaitStatus(W_EXITCODE(0, SIGKILL)), "was killed by signal 9 (Killed)");
  EXPECT_EQ(DescribeWaitStatus(W_EXITCODE(0, SIGSEGV) | WCOREFLAG),
            "was killed by signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace whylate
