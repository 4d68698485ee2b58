#include "userspace/session/cleanup_registry.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace whylate {
namespace {

using testing::HasSubstr;

// The supervisor's registry, and the janitor's view of it.
class CleanupRegistryTest : public testing::Test {
 protected:
  void CleanUp() { janitor_.CleanUp(0); }

  TemporaryDirectory directory_;
  CleanupRegistry registry_ = CleanupRegistry::Create().value();
  CleanupRegistry janitor_ = CleanupRegistry::Map(UniqueFd(dup(registry_.fd()))).value();
};

TEST_F(CleanupRegistryTest, NothingRegisteredIsNothingToDo) {
  directory_.Write("file", "x");
  CleanUp();
  EXPECT_TRUE(directory_.Has("file"));
}

TEST_F(CleanupRegistryTest, RemovesARegisteredFile) {
  directory_.Write("file", "x");
  directory_.Write("other", "x");
  const Registration mine = registry_.AddFile(directory_.Path("file")).value();
  CleanUp();
  EXPECT_FALSE(directory_.Has("file"));
  EXPECT_TRUE(directory_.Has("other"));
}

TEST_F(CleanupRegistryTest, RemovesARegisteredCgroup) {
  std::filesystem::create_directory(directory_.Path("whylate-1-2"));
  const Registration mine = registry_.AddCgroup(directory_.Path("whylate-1-2")).value();
  CleanUp();
  EXPECT_FALSE(directory_.Has("whylate-1-2"));
}

TEST_F(CleanupRegistryTest, WhatIsTakenOutStays) {
  directory_.Write("file", "x");
  { const Registration mine = registry_.AddFile(directory_.Path("file")).value(); }
  CleanUp();
  EXPECT_TRUE(directory_.Has("file"));
}

TEST_F(CleanupRegistryTest, WhatNeverCameToBeIsNoTrouble) {
  const Registration file = registry_.AddFile(directory_.Path("none")).value();
  const Registration cgroup = registry_.AddCgroup(directory_.Path("whylate-1-2")).value();
  CleanUp();
  EXPECT_EQ(directory_.EntryCount(), 0);
}

TEST_F(CleanupRegistryTest, AMovedRegistrationStandsForTheSame) {
  directory_.Write("file", "x");
  Registration outer;
  {
    Registration inner = registry_.AddFile(directory_.Path("file")).value();
    outer = std::move(inner);
  }
  CleanUp();
  EXPECT_FALSE(directory_.Has("file"));
}

TEST_F(CleanupRegistryTest, AssigningTakesTheOldOneOut) {
  directory_.Write("old", "x");
  directory_.Write("new", "x");
  Registration registration = registry_.AddFile(directory_.Path("old")).value();
  registration = registry_.AddFile(directory_.Path("new")).value();
  CleanUp();
  EXPECT_TRUE(directory_.Has("old"));
  EXPECT_FALSE(directory_.Has("new"));
}

TEST_F(CleanupRegistryTest, EntriesAreUsedAgain) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_THAT(registry_.AddFile(directory_.Path("file")), IsOk());
  }
}

TEST_F(CleanupRegistryTest, AnEntryUsedAgainIsTheNewOne) {
  directory_.Write("a", "x");
  { const Registration longer = registry_.AddFile(directory_.Path("a-much-longer-name")).value(); }
  const Registration mine = registry_.AddFile(directory_.Path("a")).value();
  CleanUp();
  EXPECT_FALSE(directory_.Has("a"));
}

TEST_F(CleanupRegistryTest, AFullRegistrySaysSo) {
  std::vector<Registration> registrations;
  absl::StatusOr<Registration> added = registry_.AddFile("/x");
  while (added.ok() && registrations.size() < 10000) {
    registrations.push_back(*std::move(added));
    added = registry_.AddFile("/x");
  }
  EXPECT_THAT(added, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("full")));
  registrations.pop_back();
  EXPECT_THAT(registry_.AddFile("/x"), IsOk());
}

TEST_F(CleanupRegistryTest, APathThatDoesNotFitIsRefused) {
  EXPECT_THAT(registry_.AddFile(std::string(4095, 'x')), IsOk());
  EXPECT_THAT(registry_.AddFile(std::string(4096, 'x')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too long")));
}

// Waits for a signal that ends it.
pid_t StartChild() {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) pause();
  }
  return pid;
}

// The signal that ended `pid`; reaps it.
int AwaitSignal(pid_t pid) {
  int wait_status = 0;
  waitpid(pid, &wait_status, 0);
  return WTERMSIG(wait_status);
}

TEST_F(CleanupRegistryTest, KillsARegisteredProcess) {
  const pid_t pid = StartChild();
  const Registration mine = registry_.AddProcess(ReadProcess(Tgid{pid})->identity).value();
  CleanUp();
  EXPECT_EQ(AwaitSignal(pid), SIGKILL);
}

TEST_F(CleanupRegistryTest, SparesAProcessThatHasThePidNow) {
  const pid_t pid = StartChild();
  ProcessIdentity identity = ReadProcess(Tgid{pid})->identity;
  ++identity.start_ticks;
  const Registration mine = registry_.AddProcess(identity).value();
  CleanUp();
  kill(pid, SIGTERM);
  EXPECT_EQ(AwaitSignal(pid), SIGTERM);
}

}  // namespace
}  // namespace whylate
