// A part of a scenario in a process of its own: forked, not executed, so that it shares memory and
// code with whoever stages it, and is a task of its own to the scheduler.
//
//   ForkedProcess::Settings settings{.name = "hog", .cpus = cpu0, .fifo_priority = 50};
//   ASSIGN_OR_RETURN(auto hog, ForkedProcess::Start(settings, registry, [](const Channel& channel) {
//     RETURN_IF_ERROR(AwaitGo(channel));
//     ...
//   }));
//   RETURN_IF_ERROR(hog.AwaitReady());
//   RETURN_IF_ERROR(hog.Go());
//
// It dies with this object and with the thread that made it, however that ends. Where it can't die by
// that, because it is frozen, the janitor thaws it first. Make it while the process has one thread.
#ifndef WHYLATE_USERSPACE_SELFTEST_FORKED_PROCESS_H_
#define WHYLATE_USERSPACE_SELFTEST_FORKED_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/ids.h"
#include "userspace/platform/channel.h"
#include "userspace/session/cleanup_registry.h"

namespace whylate {

class ForkedProcess {
 public:
  struct Settings {
    std::string name;                      // of its thread
    std::optional<CpuSet> cpus;            // all of its parent's, if unset
    std::optional<int32_t> fifo_priority;  // SCHED_FIFO; unset: as its parent
    bool only_when_idle = false;           // SCHED_IDLE
  };
  using Body = std::function<absl::Status(const Channel& channel)>;

  // Runs `body` in the child, settled as asked; the child ends when it returns. `registry` may be null
  // and must outlive the process.
  static absl::StatusOr<ForkedProcess> Start(const Settings& settings, CleanupRegistry* registry,
                                             const Body& body);

  ForkedProcess(ForkedProcess&& other) noexcept;
  ForkedProcess& operator=(ForkedProcess&&) = delete;
  ~ForkedProcess();

  Tgid tgid() const { return Tgid{pid_}; }
  Tid tid() const { return Tid{pid_}; }
  // Its threads, now.
  std::vector<Tid> Threads() const;

  // Waits for a message of the child's; an error says what it said instead, or that it ended.
  // Cancelled where a stop was requested.
  absl::Status Await(const std::string& message, int64_t timeout_ns) const;
  absl::Status AwaitReady() const;
  // An error says why it has ended, or what it said.
  absl::Status CheckSilent() const;
  absl::Status Go() const { return channel_.Send("go"); }
  // Kills and reaps it. Also done at destruction.
  void End();

 private:
  ForkedProcess(pid_t pid, Channel channel) : pid_(pid), channel_(std::move(channel)) {}

  pid_t pid_ = -1;
  Channel channel_;
  Registration registration_;
};

// In the child: says that it is ready, and waits until it may go.
absl::Status AwaitGo(const Channel& channel);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_FORKED_PROCESS_H_
