// Memory that a process and its children see alike: an anonymous file (memfd), mapped.
//
//   ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Create("control", sizeof(Control)));
//   auto* control = new (memory.data()) Control();
//   // in the child, which got memory.fd() under some number:
//   ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Map(UniqueFd(fd)));
#ifndef WHYLATE_USERSPACE_PLATFORM_SHARED_MEMORY_H_
#define WHYLATE_USERSPACE_PLATFORM_SHARED_MEMORY_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {

class SharedMemory {
 public:
  // Zeroed, `size_bytes` long. `name` shows in /proc/PID/maps.
  static absl::StatusOr<SharedMemory> Create(const std::string& name, size_t size_bytes);
  // Maps all of an existing one.
  static absl::StatusOr<SharedMemory> Map(UniqueFd fd);

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  void* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }
  int fd() const { return fd_.get(); }
  // Touches every page and locks it into RAM, so that a write to it never faults.
  absl::Status Lock() const;

 private:
  SharedMemory(UniqueFd fd, void* data, size_t size_bytes)
      : fd_(std::move(fd)), data_(data), size_bytes_(size_bytes) {}

  UniqueFd fd_;
  void* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_SHARED_MEMORY_H_
