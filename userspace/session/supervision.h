// What a process becomes that starts others: a subreaper, with a janitor beside it that ends what it
// leaves behind, and a run id by which leftovers are known.
//
//   ASSIGN_OR_RETURN(auto supervision, Supervision::Begin());
//   ASSIGN_OR_RETURN(Registration mine, supervision->registry().AddCgroup(path));
//
// One at a time, from a process with one thread that has called InstallStopSignal().
#ifndef WHYLATE_USERSPACE_SESSION_SUPERVISION_H_
#define WHYLATE_USERSPACE_SESSION_SUPERVISION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analysis/model/ids.h"
#include "userspace/platform/unique_fd.h"
#include "userspace/session/child_process.h"
#include "userspace/session/cleanup_registry.h"

namespace whylate {

class Supervision {
 public:
  // Cancelled when a stop was requested meanwhile.
  static absl::StatusOr<std::unique_ptr<Supervision>> Begin();
  ~Supervision() { End(); }
  Supervision(const Supervision&) = delete;
  Supervision& operator=(const Supervision&) = delete;

  CleanupRegistry& registry() { return registry_; }
  const std::string& run_id() const { return run_id_; }
  // This process and its janitor.
  std::vector<Tgid> Processes() const;

  // Ends the janitor, once it has ended what is still registered.
  void End();

 private:
  Supervision(CleanupRegistry registry, std::string run_id)
      : registry_(std::move(registry)), run_id_(std::move(run_id)) {}
  absl::Status StartJanitor();

  // In the order of their lives: the janitor looks at the registry until it has gone.
  CleanupRegistry registry_;
  std::string run_id_;
  UniqueFd own_pidfd_;
  std::unique_ptr<ChildProcess> janitor_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_SUPERVISION_H_
