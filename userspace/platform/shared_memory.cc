#include "userspace/platform/shared_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/errno_status.h"

namespace whylate {
namespace {

absl::StatusOr<void*> MapShared(int fd, size_t size_bytes) {
  void* data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    return ErrnoStatus(errno, absl::StrCat("map ", size_bytes, " bytes of shared memory"));
  }
  return data;
}

}  // namespace

absl::StatusOr<SharedMemory> SharedMemory::Create(const std::string& name, size_t size_bytes) {
  UniqueFd fd(memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "create shared memory (memfd_create)");
  if (ftruncate(fd.get(), static_cast<off_t>(size_bytes)) != 0) {
    return ErrnoStatus(errno, absl::StrCat("size shared memory to ", size_bytes, " bytes"));
  }
  ASSIGN_OR_RETURN(void* data, MapShared(fd.get(), size_bytes));
  return SharedMemory(std::move(fd), data, size_bytes);
}

absl::StatusOr<SharedMemory> SharedMemory::Map(UniqueFd fd) {
  struct stat facts;
  if (fstat(fd.get(), &facts) != 0) return ErrnoStatus(errno, "stat shared memory");
  const auto size_bytes = static_cast<size_t>(facts.st_size);
  ASSIGN_OR_RETURN(void* data, MapShared(fd.get(), size_bytes));
  return SharedMemory(std::move(fd), data, size_bytes);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_bytes_);
}

absl::Status SharedMemory::Lock() const {
  if (mlock(data_, size_bytes_) != 0) {
    return ErrnoStatus(errno, absl::StrCat("lock ", size_bytes_, " bytes into memory (mlock)"));
  }
  return absl::OkStatus();
}

}  // namespace whylate
