// The program: flags -> options, Status -> exit code. Everything else is in the libraries.
#include <CLI/CLI.hpp>
#include <cstring>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/report/escape.h"
#include "userspace/cli/analyze.h"
#include "userspace/cli/check.h"
#include "userspace/cli/command.h"
#include "userspace/cli/explain.h"
#include "userspace/cli/report.h"
#include "userspace/cli/run.h"
#include "userspace/cli/selftest.h"
#include "userspace/session/child_main.h"
#include "userspace/session/child_spec.h"

namespace whylate {
namespace {

constexpr char kSessionHelp[] = "session directory, or the .pftrace file of one of its cells";

void AddRunOptions(CLI::App& run, RunFlags& flags) {
  SessionOptions& options = flags.request.options;
  const std::string session = "Session";
  const auto list_option = [&](const char* names, std::vector<std::string>& value,
                               const char* help) {
    run.add_option(names, value, help)->delimiter(',')->type_name("NAME[,..]")->group(session);
  };
  list_option("-W,--workload", options.workloads, "workloads to measure (see --list)");
  list_option("-w,--load", options.loads, "loads to measure them under; combine with +");
  const auto option = [&](const char* names, auto& value, const char* type, const char* help) {
    run.add_option(names, value, help)->type_name(type)->group(session);
  };
  option("-d,--duration", flags.duration, "TIME",
         "of one cell: 10s, 500ms, 2m (default 10s; preset quick 3s)");
  option("--preset", options.preset, "NAME", "quick (default), standard or classic");
  option("--cpu-percent", options.cpu_percent, "P", "work of custom, in percent of a CPU");
  option("--interval", options.interval_us, "US", "period of custom, in microseconds");
  option("-L,--load-threads", options.load_threads, "N",
         "threads of burn and ring, groups of hack (default: one per CPU)");
  option("--load-command", options.load_command, "'CMD'", "the command line of load command");
  option("-B,--bench-nice", options.bench_nice, "N", "nice value of the workload");
  option("-N,--load-nice", options.load_nice, "N", "nice value of the loads");
  option("-c,--cpus", options.cpus, "LIST", "pins workload and loads, not whylate itself: 0-1,4");
  option("--source", options.source, "NAME",
         "of the scheduler trace: bpf, tracefs or none (default: the first that is allowed)");
  option("--buffer-size", flags.buffer_size, "SIZE",
         "between the kernel and the reader of the trace: 64K, 8M (default 8M)");
  option("--record", options.record, "WHAT",
         "of the trace, as Perfetto files: misses (around late frames, default), all or none");
  option("--repeat", options.repeat, "N", "runs of each cell (default 1)");
  option("--label", flags.request.label, "NAME", "of the session (default: the kernel's release)");
  option("-m,--comment", options.comment, "TEXT", "kept with the session");
  option("--workdir", options.workdir, "DIR", "for the files of disk loads (default: .)");
  const std::string output = "Output";
  run.add_option("-o,--out", flags.request.out, "session directory; must not exist")
      ->type_name("DIR")
      ->group(output);
  run.add_option("--resume", flags.resume, "go on with the unfinished session in DIR")
      ->type_name("DIR")
      ->group(output);
  run.add_flag("--list", flags.list, "list workloads and loads")->group(output);
  run.add_flag("--dry-run", flags.dry_run, "list the cells, the time and the disk they need")
      ->group(output);
  run.add_flag("--quiet", flags.quiet, "no progress")->group(output);
  run.add_flag("--json", flags.json, "the report as JSON on standard output")->group(output);
  // As from a script whose variable is unset: not the same as no option.
  const CLI::Validator not_empty(
      [](const std::string& value) { return std::string(value.empty() ? "is empty" : ""); }, "");
  for (const char* name : {"--duration", "--preset", "--load-command", "--cpus", "--source",
                           "--record", "--workdir", "--out", "--resume"}) {
    run.get_option(name)->check(not_empty);
  }
}

void AddAnalyzeOptions(CLI::App& analyze, AnalyzeFlags& flags) {
  analyze.add_option("FILE", flags.file, "the trace")->required();
  const auto option = [&](const char* names, auto& value, const char* type, const char* help) {
    analyze.add_option(names, value, help)->type_name(type);
  };
  option("--task", flags.task, "NAME|TID", "of this task alone");
  option("--deadline", flags.deadline, "TIME", "of each activation, after its waking: 5ms");
  option("--period", flags.period, "TIME", "the same, of a periodic task: 16.667ms");
  option("--worst", flags.worst, "N", "explain the N that waited longest (default 10)");
  analyze.add_flag("--json", flags.json, "as JSON");
}

void AddSelftestOptions(CLI::App& selftest, SelftestFlags& flags) {
  const auto option = [&](const char* names, auto& value, const char* type, const char* help) {
    return selftest.add_option(names, value, help)->type_name(type);
  };
  option("--scenario", flags.options.scenarios, "NAME[,..]", "of these alone (see --list)")
      ->delimiter(',');
  option("--runs", flags.options.runs, "N", "of each scenario (default 1)");
  option("--seconds", flags.seconds, "TIME", "of a run: 3, 1500ms (default 3)");
  option("--workdir", flags.options.workdir, "DIR", "for a file to read from a disk (default: .)");
  selftest.add_flag("--list", flags.list, "list the scenarios");
  selftest.add_flag("--quiet", flags.quiet, "no progress");
  selftest.add_flag("--json", flags.json, "as JSON");
  selftest.footer(absl::StrFormat(
      "All scenarios take about %d s. As root, on a machine with nothing else to do.\n"
      "Exit: 0 all is named right, 1 not all, 2 usage, 130 interrupted.",
      EstimateSelftestNs(SelftestOptions()) / 1000000000));
}

// An option of the session itself was given.
bool ChangesSession(const CLI::App& run) {
  for (const CLI::Option* option : run.get_options()) {
    if (option->count() > 0 && (option->get_group() == "Session" || option->check_name("--out"))) {
      return true;
    }
  }
  return false;
}

int PrintHelp(CLI::App& app, const std::string& command) {
  if (command.empty()) {
    std::cout << app.help();
    return kExitOk;
  }
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (subcommand->get_name() != command) continue;
    std::cout << subcommand->help();
    return kExitOk;
  }
  return ReportError(
      absl::InvalidArgumentError(absl::StrCat("unknown command '", command, "'; see --help")));
}

int Main(int argc, char** argv) {
  CLI::App app{
      "whylate: why was that frame late? Interactive workloads under load, measured and "
      "explained."};
  app.set_version_flag("--version", absl::StrCat("whylate ", WHYLATE_VERSION));
  app.require_subcommand(0, 1);
  app.footer(
      "Exit: 0 ran (misses are a result), 1 failed, 2 usage, 3 ran but some cell is not\n"
      "valid, 130 interrupted.");

  RunFlags run_flags;
  run_flags.request.version = WHYLATE_VERSION;
  CLI::App* run = app.add_subcommand("run", "workloads x loads -> tables, a session directory");
  AddRunOptions(*run, run_flags);

  ReportFlags report_flags;
  CLI::App* report = app.add_subcommand("report", "render a session again");
  report->add_option("SESSION", report_flags.session, kSessionHelp)->required();
  report->add_option("--format", report_flags.format, "text (default) or json");

  ExplainFlags explain_flags;
  CLI::App* explain = app.add_subcommand("explain", "why was a frame late: timeline and verdict");
  explain->add_option("SESSION", explain_flags.session, kSessionHelp)->required();
  explain->add_option("--cell", explain_flags.cell, "WORKLOAD/LOAD (#N for the Nth run)");
  explain->add_option("--frame", explain_flags.frame, "the frame of this index");
  explain->add_option("--worst", explain_flags.worst, "the N that were latest (default 1)");
  explain->add_flag("--json", explain_flags.json, "as JSON");

  AnalyzeFlags analyze_flags;
  CLI::App* analyze =
      app.add_subcommand("analyze", "a trace recorded elsewhere: who made its tasks wait");
  AddAnalyzeOptions(*analyze, analyze_flags);

  CheckOptions check_options;
  CLI::App* check = app.add_subcommand("check", "can this machine measure? what to do if not");
  check->add_flag("--json", check_options.json, "as JSON");
  check->add_option("--workdir", check_options.workdir, "for the files of disk loads (default: .)");

  SelftestFlags selftest_flags;
  CLI::App* selftest =
      app.add_subcommand("selftest", "provoke known causes; see whether each is named right");
  AddSelftestOptions(*selftest, selftest_flags);

  std::string help_command;
  CLI::App* help = app.add_subcommand("help", "help on a command");
  help->add_option("CMD", help_command, "run, explain, report, analyze, check or selftest");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help, --version
  } catch (const CLI::ParseError& error) {
    return ReportError(absl::InvalidArgumentError(absl::StrCat(error.what(), "; see --help")));
  }
  if (*run) return RunRun(run_flags, ChangesSession(*run));
  if (*report) return RunReport(report_flags);
  if (*explain) return RunExplain(explain_flags);
  if (*analyze) return RunAnalyze(analyze_flags);
  if (*check) return FinishOutput(RunCheck(check_options, std::cout));
  if (*selftest) return RunSelftestCommand(selftest_flags);
  if (*help) return PrintHelp(app, help_command);
  std::cerr << app.help();
  return kExitUsage;
}

}  // namespace
}  // namespace whylate

int main(int argc, char** argv) {
  if (argc >= 2 && std::strcmp(argv[1], whylate::kChildCommand) == 0) return whylate::ChildMain();
  return whylate::Main(argc, argv);
}
