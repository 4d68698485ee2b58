// Catches what libbpf would print to stderr, so that it can go into a Status.
//
//   LibbpfLog log;
//   int error = -bpf_object__load(object);
//   if (error != 0) return log.Failure(error, "load the eBPF programs");
//
// libbpf's printer is one for the whole process: at most one LibbpfLog at a time.
#ifndef WHYLATE_USERSPACE_TRACE_LIBBPF_LOG_H_
#define WHYLATE_USERSPACE_TRACE_LIBBPF_LOG_H_

#include <bpf/libbpf.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace whylate {

class LibbpfLog {
 public:
  LibbpfLog();
  LibbpfLog(const LibbpfLog&) = delete;
  LibbpfLog& operator=(const LibbpfLog&) = delete;
  ~LibbpfLog();

  // A Status for errno `error`: the attempt, the errno's text, what to do about it, and the end of
  // what libbpf said.
  absl::Status Failure(int error, absl::string_view attempt) const;

 private:
  libbpf_print_fn_t previous_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_LIBBPF_LOG_H_
