// A private instance of ftrace: buffers and settings of our own, beside whatever else traces.
//
//   ASSIGN_OR_RETURN(auto instance, TracefsInstance::Create());
//   RETURN_IF_ERROR(instance->Write("trace_clock", "mono"));
//   ASSIGN_OR_RETURN(UniqueFd pipe, instance->Open("per_cpu/cpu0/trace_pipe_raw", O_RDONLY));
//
// It is the directory instances/whylate-<run id of this process>-<number> of tracefs and goes with the
// object, once everything opened in it is closed. The kernel keeps what a killed process leaves:
// RemoveTracefsInstances() takes that away. Where tracefs is not mounted it is opened without being
// mounted anywhere (fsmount(2), Linux 5.2), so that there is no mount to leave behind.
#ifndef WHYLATE_USERSPACE_TRACE_TRACEFS_INSTANCE_H_
#define WHYLATE_USERSPACE_TRACE_TRACEFS_INSTANCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {

class TracefsInstance {
 public:
  // PermissionDenied without the rights, FailedPrecondition where the kernel has no ftrace.
  static absl::StatusOr<std::unique_ptr<TracefsInstance>> Create();

  TracefsInstance(const TracefsInstance&) = delete;
  TracefsInstance& operator=(const TracefsInstance&) = delete;
  ~TracefsInstance();

  // Files by their path below the instance; those that instances have not, as events/header_page, are
  // read from tracefs itself.
  absl::StatusOr<UniqueFd> Open(const std::string& file, int flags) const;
  absl::Status Write(const std::string& file, absl::string_view value) const;
  absl::StatusOr<std::string> Read(const std::string& file) const;
  absl::StatusOr<std::string> ReadGlobal(const std::string& file) const;
  bool Has(const std::string& file) const;

  const std::string& name() const { return name_; }

 private:
  TracefsInstance(UniqueFd tracefs, std::string name)
      : tracefs_(std::move(tracefs)), name_(std::move(name)) {}
  std::string PathOf(const std::string& file) const;

  UniqueFd tracefs_;
  std::string name_;
};

// Ok when an instance can be made, here and now: it tries. Else what is missing, and how to get it.
absl::Status TracefsUsable();

// Names of the instances of ours that are there; none without the rights to see them.
std::vector<std::string> TracefsInstances();

// Removes the instances of ours whose run id `chosen` holds for; tries for `timeout_ns`, since one is
// busy until the last process that read it is gone. Without rights it does nothing.
void RemoveTracefsInstances(const std::function<bool(absl::string_view run_id)>& chosen,
                            int64_t timeout_ns);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_TRACEFS_INSTANCE_H_
