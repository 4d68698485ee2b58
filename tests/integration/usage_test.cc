// What a user gets wrong, and what the machine does not allow: one clear line and the right exit
// code. On the real machine, as root.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/machine.h"
#include "tests/support/program.h"

namespace whylate {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr uid_t kNobody = 65534;

// One line on stderr that says `text`, nothing on stdout.
void ExpectOneLine(const ProgramResult& result, int exit_code, const std::string& text) {
  EXPECT_EQ(result.exit_code, exit_code);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_TRUE(absl::StartsWith(result.err, "whylate: ")) << result.err;
  EXPECT_THAT(result.err, HasSubstr(text));
}

std::vector<std::string> ShortRun(const std::string& out, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"run", "-d", "100ms", "--quiet", "-o", out};
  if (std::find(more.begin(), more.end(), "-W") == more.end()) {
    arguments.insert(arguments.end(), {"-W", "audio"});
  }
  if (std::find(more.begin(), more.end(), "-w") == more.end()) {
    arguments.insert(arguments.end(), {"-w", "none"});
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

void BecomeNobody() {
  if (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
      setresuid(kNobody, kNobody, kNobody) != 0) {
    _exit(125);
  }
}

TEST(UsageTest, AMistakeIsOneLineAndExitCodeTwo) {
  struct Mistake {
    std::vector<std::string> arguments;
    std::string text;
  };
  const std::vector<Mistake> mistakes = {
      {{"bogus"}, "bogus"},
      {{"run", "--bogus"}, "--bogus"},
      {{"run", "bogus"}, "bogus"},
      {{"help", "bogus"}, "unknown command 'bogus'"},
      {{"run", "-W", "bogus"}, "unknown workload 'bogus'; known: audio, video"},
      {{"run", "-w", "bogus"}, "unknown load 'bogus'; known: none, video"},
      {{"run", "-w", "none+burn"}, "unknown load 'none' (none stands alone)"},
      {{"run", "-w", "burn+burn"}, "more than once"},
      {{"run", "-W", "audio,audio"}, "named twice"},
      {{"run", "--preset", "bogus"}, "unknown preset 'bogus'; known: quick"},
      {{"run", "--source", "bogus"}, "'bogus'"},
      {{"run", "-L", "0"}, "--load-threads 0 is outside"},
      {{"run", "-L", "-1"}, "--load-threads -1 is outside"},
      {{"run", "-L", "100000"}, "--load-threads 100000 is outside"},
      {{"run", "-L", "many"}, "--load-threads"},
      {{"run", "-d", "0"}, "--duration 0 is outside"},
      {{"run", "-d", "-5s"}, "--duration -5s is outside"},
      {{"run", "-d", "1000h"}, "--duration 1000h is outside"},
      {{"run", "-d", "nan"}, "--duration nan is outside"},
      {{"run", "-d", "soon"}, "--duration 'soon' is no time"},
      {{"run", "-d", ""}, "--duration"},
      {{"run", "--repeat", "0"}, "--repeat 0 is outside"},
      {{"run", "--repeat", "99999999999"}, "--repeat"},
      {{"run", "-B", "99"}, "--bench-nice 99 is outside"},
      {{"run", "-N", "-99"}, "--load-nice -99 is outside"},
      {{"run", "-c", "99999"}, "--cpus: '99999'"},
      {{"run", "-c", "4000"}, "--cpus 4000 names a CPU that is not there"},
      {{"run", "-c", "a"}, "--cpus: 'a'"},
      {{"run", "-c", ""}, "--cpus"},
      {{"run", "-W", "custom"}, "--cpu-percent P and --interval US"},
      {{"run", "-W", "audio", "-w", "custom"}, "--cpu-percent P and --interval US"},
      {{"run", "--cpu-percent", "0"}, "--cpu-percent 0 is outside"},
      {{"run", "--cpu-percent", "101"}, "--cpu-percent 101 is outside"},
      {{"run", "--interval", "-3"}, "--interval -3 is outside"},
      {{"run", "-w", "command"}, "--load-command"},
      {{"run", "--out", ""}, "--out"},
      {{"run", "--resume", "somewhere", "-d", "1s"}, "give no others"},
      {{"report"}, "SESSION is required"},
      {{"report", "somewhere", "--format", "bogus"}, "unknown --format 'bogus'"},
      {{"run", "-W", "a\x1b[31m\n\xff"}, "a\\x1b[31m\\x0a\\xff"},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.text);
    ExpectOneLine(RunProgram(mistake.arguments), 2, mistake.text);
  }
}

TEST(UsageTest, WhatPrintsAndEndsIsExitCodeZero) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands = {
      {{"--version"}, "whylate "},
      {{"--help"}, "run"},
      {{"help"}, "Exit: 0 ran"},
      {{"help", "run"}, "--load-threads"},
      {{"run", "--help"}, "--load-threads"},
      {{"run", "--list"}, "memload"},
      {{"run", "--dry-run"}, "16 cells of 3 s"},
      {{"run", "--dry-run", "-W", "audio", "-w", "burn", "--repeat", "2"}, "audio/burn #2"},
  };
  for (const auto& [arguments, text] : commands) {
    SCOPED_TRACE(text);
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr(text));
    EXPECT_EQ(result.err, "");
  }
  const ProgramResult list = RunProgram({"run", "--list", "--json"});
  EXPECT_THAT(Json::parse(list.out)["workloads"], Contains("gaming"));
  EXPECT_EQ(RunProgram(std::vector<std::string>{}).exit_code, 2);
}

TEST(UsageTest, AnOutputDirectoryThatExistsIsLeftAlone) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch.File("directory"));
  std::ofstream(scratch.File("file")) << "mine";
  std::filesystem::create_symlink("nowhere", scratch.File("dangling"));
  std::filesystem::create_symlink("directory", scratch.File("link"));
  for (const char* name : {"directory", "file", "dangling", "link"}) {
    SCOPED_TRACE(name);
    ExpectOneLine(RunProgram(ShortRun(scratch.File(name))), 1, "exists already");
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.File("directory")));
  EXPECT_EQ(ReadText(scratch.File("file")), "mine");
}

TEST(UsageTest, APlaceThatIsNotThereIsNamed) {
  const ScratchDirectory scratch;
  const std::string missing = scratch.File("missing");
  ExpectOneLine(RunProgram(ShortRun(missing + "/session")), 1, "name another with --out");
  ExpectOneLine(RunProgram(ShortRun(scratch.File("a"), {"--workdir", missing})), 1,
                "name another with --workdir");
  EXPECT_FALSE(std::filesystem::exists(scratch.File("a")));
  ExpectOneLine(RunProgram({"report", missing}), 1, missing);
  ExpectOneLine(RunProgram({"run", "--resume", missing}), 1, missing);
}

TEST(UsageTest, AReportThatIsNoneIsOneLine) {
  const ScratchDirectory scratch;
  const std::string good = scratch.File("good");
  RunProgram(ShortRun(good));
  const std::string json = ReadText(good + "/report.json");
  Json other_schema = Json::parse(json);
  other_schema["schema"] = "whylate.report/999";
  Json no_number = Json::parse(json);
  no_number["cells"][0]["origin_ns"] = "\x1b[2J";
  Json ragged = Json::parse(json);
  ragged["cells"][0]["samples"]["cpu_ns"] = Json::array();
  const std::vector<std::string> texts = {"",
                                          "garbage \x1b[2J \n",
                                          "[]",
                                          "{}",
                                          json.substr(0, json.size() / 2),
                                          json.substr(0, json.size() - 2),
                                          std::string(100000, '['),
                                          other_schema.dump(),
                                          no_number.dump(),
                                          ragged.dump()};
  const std::string bad = scratch.File("bad");
  std::filesystem::create_directory(bad);
  for (const std::string& text : texts) {
    SCOPED_TRACE(text.substr(0, 50));
    std::ofstream(bad + "/report.json", std::ios::trunc) << text;
    const ProgramResult result = RunProgram({"report", bad});
    ExpectOneLine(result, 1, bad + "/report.json: not a");
    EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
    ExpectOneLine(RunProgram({"run", "--resume", bad}), 1, bad + "/report.json: not a");
    EXPECT_EQ(ReadText(bad + "/report.json"), text);
  }
}

TEST(UsageTest, AFullDiskForTheSessionIsOneLine) {
  const ScratchDirectory scratch;
  const std::optional<PrivateMount> tiny = PrivateMount::Memory(scratch, 4096);
  const std::optional<PrivateMount> small = PrivateMount::Memory(scratch, 65536);
  if (!tiny || !small) GTEST_SKIP() << "no tmpfs can be mounted here";
  // Nothing of it is kept where not even the beginning fits.
  ExpectOneLine(RunProgram(ShortRun(tiny->path() + "/session")), 1, "No space left on device");
  EXPECT_TRUE(std::filesystem::is_empty(tiny->path()));
  // Where it fills up later, the cells before stay.
  std::vector<std::string> arguments =
      ShortRun(small->path() + "/session", {"-W", "custom", "--cpu-percent", "1", "--interval",
                                            "1000", "--repeat", "100", "--record", "none"});
  ExpectOneLine(RunProgram(arguments), 1, "No space left on device");
  const Report report = ReadReport(small->path() + "/session");
  EXPECT_GT(report.cells.size(), 0U);
  EXPECT_FALSE(std::filesystem::exists(small->path() + "/session/.report.json.tmp"));
}

TEST(UsageTest, AFullDiskForTheLoadsStampsTheCell) {
  const ScratchDirectory scratch;
  const std::optional<PrivateMount> disk = PrivateMount::Disk(scratch, 64 * kMiB);
  if (!disk) GTEST_SKIP() << "no loop device can be mounted here";
  const std::string out = scratch.File("session");
  const ProgramResult result =
      RunProgram(ShortRun(out, {"-w", "write,none", "--workdir", disk->path()}));
  EXPECT_EQ(result.exit_code, 3);
  const Report report = ReadReport(out);
  ASSERT_EQ(report.cells.size(), 2U);
  EXPECT_THAT(report.cells[0].invalid, ElementsAre(HasSubstr("MiB are free; give --workdir")));
  EXPECT_GT(report.cells[1].counts.due + report.cells[1].counts.censored, 0);
}

TEST(UsageTest, AFileSizeLimitIsNoDeathOfTheSession) {
  const ScratchDirectory scratch;
  const std::string out = scratch.File("session");
  const ProgramResult result =
      RunProgram(ProgramRequest{.arguments = ShortRun(out, {"-w", "read,none"}), .before_exec = [] {
                                  const rlimit limit = {4 << 20, 4 << 20};
                                  setrlimit(RLIMIT_FSIZE, &limit);
                                }});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  const Report report = ReadReport(out);
  ASSERT_EQ(report.cells.size(), 2U);
  EXPECT_THAT(report.cells[0].invalid, ElementsAre(HasSubstr("write the file to read")));
}

TEST(UsageTest, AnOutputThatCannotBeWrittenIsAFailure) {
  const ScratchDirectory scratch;
  const ProgramResult result =
      RunProgram(ProgramRequest{.arguments = ShortRun(scratch.File("session")), .before_exec = [] {
                                  dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
                                }});
  ExpectOneLine(result, 1, "standard output");
}

TEST(UsageTest, NotRootRunsAndSaysWhatIsMissing) {
  const ScratchDirectory scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 0755), 0);
  const std::string home = scratch.File("home");
  std::filesystem::create_directory(home);
  ASSERT_EQ(chown(home.c_str(), kNobody, kNobody), 0);
  const auto run = [&](const std::vector<std::string>& arguments) {
    return RunProgram(ProgramRequest{.arguments = arguments,
                                     .environment = {"HOME", "XDG_CACHE_HOME"},
                                     .directory = home,
                                     .before_exec = BecomeNobody});
  };
  const ProgramResult result = run(ShortRun("session", {"-w", "none,memload"}));
  EXPECT_EQ(result.exit_code, 3) << result.err;
  const Report report = ReadReport(home + "/session");
  ASSERT_EQ(report.cells.size(), 2U);
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("CAP_BPF")));
  EXPECT_THAT(report.warnings[0], HasSubstr("root"));
  EXPECT_THAT(result.out, HasSubstr("CAP_PERFMON"));
  EXPECT_GT(report.cells[0].counts.due + report.cells[0].counts.censored, 0);
  EXPECT_THAT(report.cells[1].invalid, ElementsAre(HasSubstr("run as root")));
  ExpectOneLine(run(ShortRun("../session")), 1, "Permission denied; name another with --out");
  ExpectOneLine(run(ShortRun("nice", {"-B", "-5"})), 1, "needs CAP_SYS_NICE");
  EXPECT_FALSE(std::filesystem::exists(home + "/nice"));
}

// As in a container: the program becomes the first process of a PID namespace, with its own /proc.
void EnterPidNamespace() {
  if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) _exit(99);
  const pid_t child = fork();
  if (child == 0) {
    const bool mounted = mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("proc", "/proc", "proc", 0, nullptr) == 0;
    if (!mounted) _exit(99);
    return;
  }
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

// Thread ids of a PID namespace are not those of the kernel's records.
TEST(UsageTest, InAContainerMissesAreCountedAndNotExplained) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const ScratchDirectory scratch;
  const std::string out = scratch.File("session");
  const ProgramResult result =
      RunProgram({.arguments = ShortRun(out), .before_exec = EnterPidNamespace});
  if (result.exit_code == 99) GTEST_SKIP() << "no PID namespace can be made";
  EXPECT_THAT(result.exit_code, AnyOf(0, 3)) << result.err;
  const Report report = ReadReport(out);
  EXPECT_EQ(report.options.source, "none");
  EXPECT_THAT(report.warnings, Contains(HasSubstr("--pid=host")));
  ExpectOneLine(RunProgram({.arguments = ShortRun(scratch.File("asked"), {"--source", "bpf"}),
                            .before_exec = EnterPidNamespace}),
                1, "--pid=host");
}

TEST(UsageTest, UnderSudoFilesBelongToTheInvokingUser) {
  const ScratchDirectory scratch;
  const std::string out = scratch.File("session");
  RunProgram(ProgramRequest{.arguments = ShortRun(out),
                            .environment = {"SUDO_UID=65534", "SUDO_GID=65533",
                                            "XDG_CACHE_HOME=" + scratch.File("cache")}});
  int entries = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch.path())) {
    struct stat facts = {};
    ASSERT_EQ(stat(entry.path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_uid, 65534U) << entry.path();
    EXPECT_EQ(facts.st_gid, 65533U) << entry.path();
    ++entries;
  }
  EXPECT_GE(entries, 6);  // the session with two files, the cache in its directory with one
}

TEST(UsageTest, ACacheThatCannotBeWrittenIsNoError) {
  const ScratchDirectory scratch;
  const ProgramResult result =
      RunProgram(ProgramRequest{.arguments = ShortRun(scratch.File("session")),
                                .environment = {"XDG_CACHE_HOME=/proc/no/cache"}});
  EXPECT_THAT(result.exit_code, AnyOf(0, 3));
  EXPECT_EQ(result.err, "");
}

TEST(UsageTest, HostileTextIsEscapedInTextAndValidInJson) {
  const ScratchDirectory scratch;
  const std::string out = scratch.File("session");
  const std::string hostile =
      "a\x1b]0;owned\x07\n\xff\xe2\x80\xae"
      "b";
  const std::vector<std::string> arguments =
      ShortRun(out, {"-w", "command", "--label", hostile, "-m", hostile, "--load-command",
                     "printf '\\033[2J\\377\\n'; : '" + hostile + "'"});
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.out, HasSubstr("a\\x1b]0;owned\\x07\\x0a"));
  EXPECT_THAT(result.out, HasSubstr("last output: \\x1b[2J"));
  for (const char* bad : {"\x1b", "\x07", "\xff", "\xe2\x80\xae"}) {
    EXPECT_THAT(result.out, Not(HasSubstr(bad)));
  }
  const Json report = Json::parse(ReadText(out + "/report.json"), nullptr, false);
  ASSERT_TRUE(report.is_object());
  EXPECT_THAT(report["label"].get<std::string>(), HasSubstr("a\x1b]0;owned\x07\n"));
  EXPECT_EQ(RunProgram({"report", out}).out, ReadText(out + "/report.txt"));
}

}  // namespace
}  // namespace whylate
