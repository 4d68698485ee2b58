// The files that disk and memory loads work on: sized, prepared, and without a name.
//
// One file to read serves the whole session; each write or memload cell gets a new one. All vanish
// with the last process that holds them.
#ifndef WHYLATE_USERSPACE_SESSION_LOAD_FILES_H_
#define WHYLATE_USERSPACE_SESSION_LOAD_FILES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "userspace/load/load.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {

// How large each file may be, from the RAM and the free space of the working directory.
struct LoadFileSizes {
  int64_t read_bytes = 0;
  int64_t write_bytes = 0;
  int64_t memory_limit_bytes = 0;  // of memload's cgroup
  int64_t anonymous_bytes = 0;     // memload: anonymous memory
  int64_t mapped_bytes = 0;        // memload: pages of its file
};
// ResourceExhausted where the free space is too little for a real load.
absl::StatusOr<LoadFileSizes> PlanLoadFiles(int64_t ram_bytes, int64_t swap_free_bytes,
                                            int64_t free_bytes);

class LoadFiles {
 public:
  // An open file and how much of it to use.
  struct File {
    int fd = -1;
    int64_t size_bytes = 0;
    UniqueFd owned;  // where the file is this cell's alone
  };

  LoadFiles(std::string directory, std::string run_id)
      : directory_(std::move(directory)), run_id_(std::move(run_id)) {}

  // Cancelled when a stop was requested meanwhile.
  absl::StatusOr<File> Prepare(LoadFile kind);
  absl::StatusOr<LoadFileSizes> Sizes() const;

  // Bytes written so far to the block device of the directory; nullopt where it has none that says.
  std::optional<int64_t> DeviceWrittenBytes() const;
  // "tmpfs", "overlay" where the files would not be on a disk of their own; else "".
  std::string NotADisk() const;

 private:
  absl::Status FillReadFile(int fd, int64_t size_bytes) const;

  std::string directory_;
  std::string run_id_;
  UniqueFd read_file_;
  int64_t read_bytes_ = 0;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_LOAD_FILES_H_
