// Loads on the disk and on memory: write, read and memload.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/load/bodies.h"
#include "userspace/platform/errno_status.h"

namespace whylate {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
// How much the writer may leave to the kernel's own timing before it asks for writeback to begin.
constexpr int64_t kWritebackStepBytes = int64_t{16} << 20;
// The reader drops what it has read in steps of this size.
constexpr int64_t kDropStepBytes = int64_t{8} << 20;

std::vector<char> IncompressibleChunk() {
  std::vector<char> chunk(kChunkBytes);
  uint64_t value = 1;
  for (char& byte : chunk) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>(value >> 56);
  }
  return chunk;
}

absl::StatusOr<char*> MapAnonymousAndFile(int file, size_t anonymous_bytes, size_t file_bytes,
                                          char** mapped) {
  void* anonymous =
      mmap(nullptr, anonymous_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (anonymous == MAP_FAILED) return ErrnoStatus(errno, "map anonymous memory");
  void* pages = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (pages == MAP_FAILED) return ErrnoStatus(errno, "map the load file");
  *mapped = static_cast<char*>(pages);
  return static_cast<char*>(anonymous);
}

// Dirties one byte of each page, in order.
void TouchPages(const LoadContext& context, char* memory, size_t size_bytes, char mark) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kPagesPerStep = 64;
  for (size_t at = 0; at < size_bytes;) {
    uint64_t touched = 0;
    for (; touched < kPagesPerStep && at < size_bytes; ++touched, at += page) {
      // volatile: the page has to be touched, whether or not anyone reads it.
      *static_cast<volatile char*>(memory + at) = mark;
    }
    context.Advance(0, touched);
  }
}

}  // namespace

absl::Status RunWriteLoad(const LoadContext& context) {
  const std::vector<char> chunk = IncompressibleChunk();
  const int file = context.file();
  RETURN_IF_ERROR(context.Ready());
  while (true) {
    int64_t asked_bytes = 0;
    for (int64_t at = 0; at < context.settings().file_bytes;) {
      const ssize_t written = pwrite(file, chunk.data(), chunk.size(), at);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return ErrnoStatus(errno, "write the load file");
      at += written;
      context.Advance(0, static_cast<uint64_t>(written));
      if (at - asked_bytes < kWritebackStepBytes) continue;
      // No fsync, as a compiler or a download does none; but writeback that only begins after the
      // cell would make this no disk load. Asking does not wait.
      sync_file_range(file, asked_bytes, at - asked_bytes, SYNC_FILE_RANGE_WRITE);
      asked_bytes = at;
    }
    if (ftruncate(file, 0) != 0) return ErrnoStatus(errno, "truncate the load file");
  }
}

absl::Status RunReadLoad(const LoadContext& context) {
  std::vector<char> chunk(kChunkBytes);
  const int file = context.file();
  RETURN_IF_ERROR(context.Ready());
  while (true) {
    for (int64_t at = 0; at < context.settings().file_bytes;) {
      const ssize_t count = pread(file, chunk.data(), chunk.size(), at);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return ErrnoStatus(errno, "read the load file");
      if (count == 0) return absl::InternalError("the load file is shorter than it was written");
      at += count;
      context.Advance(0, static_cast<uint64_t>(count));
      // What was read shall not be found in the page cache the next time round. From the start of the
      // file, because a page in a large folio that reaches past the range is kept (6.18, ext4).
      if (at % kDropStepBytes == 0) posix_fadvise(file, 0, at, POSIX_FADV_DONTNEED);
    }
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  }
}

absl::Status RunMemoryLoad(const LoadContext& context) {
  const auto anonymous_bytes = static_cast<size_t>(context.settings().memory_bytes);
  const auto file_bytes = static_cast<size_t>(context.settings().file_bytes);
  char* mapped = nullptr;
  ASSIGN_OR_RETURN(char* const anonymous,
                   MapAnonymousAndFile(context.file(), anonymous_bytes, file_bytes, &mapped));
  RETURN_IF_ERROR(context.Ready());
  for (char mark = 1;; mark = static_cast<char>(mark + 1)) {
    TouchPages(context, anonymous, anonymous_bytes, mark);
    TouchPages(context, mapped, file_bytes, mark);
  }
}

}  // namespace whylate
