#include "userspace/session/load_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/files.h"
#include "userspace/session/stop_signal.h"

namespace whylate {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kLeastFileBytes = 16 * kMiB;
constexpr int64_t kFillStepBytes = 16 * kMiB;
constexpr int64_t kSectorBytes = 512;  // of /sys/dev/block/*/stat, whatever the device's own

int64_t WholeMiB(int64_t bytes) { return bytes / kMiB * kMiB; }

}  // namespace

absl::StatusOr<LoadFileSizes> PlanLoadFiles(int64_t ram_bytes, int64_t swap_free_bytes,
                                            int64_t free_bytes) {
  const int64_t share_bytes = free_bytes / 10;
  if (share_bytes < kLeastFileBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a disk load takes a tenth of the free space, at least ", kLeastFileBytes / kMiB,
        " MiB, and only ", free_bytes / kMiB, " MiB are free; give --workdir with more"));
  }
  LoadFileSizes sizes;
  sizes.read_bytes = WholeMiB(std::min({ram_bytes / 4, share_bytes, 512 * kMiB}));
  sizes.write_bytes = WholeMiB(std::min(ram_bytes, share_bytes));
  sizes.memory_limit_bytes = WholeMiB(std::min({ram_bytes / 8, share_bytes, 512 * kMiB}));
  // Together 110 % of the limit, as the classic load has of the RAM. Without swap anonymous memory
  // can't be reclaimed: no more than half of the limit, and pages of a file for the rest.
  const bool swap = swap_free_bytes > 2 * sizes.memory_limit_bytes;
  sizes.anonymous_bytes = WholeMiB(sizes.memory_limit_bytes * (swap ? 90 : 45) / 100);
  sizes.mapped_bytes = WholeMiB(sizes.memory_limit_bytes * 110 / 100) - sizes.anonymous_bytes;
  return sizes;
}

absl::StatusOr<LoadFileSizes> LoadFiles::Sizes() const {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return ErrnoStatus(errno, "read the size of the RAM (sysinfo)");
  const auto unit = static_cast<int64_t>(info.mem_unit);
  ASSIGN_OR_RETURN(const int64_t free_bytes, FreeBytes(directory_));
  return PlanLoadFiles(static_cast<int64_t>(info.totalram) * unit,
                       static_cast<int64_t>(info.freeswap) * unit, free_bytes);
}

absl::StatusOr<LoadFiles::File> LoadFiles::Prepare(LoadFile kind) {
  File file;
  if (kind == LoadFile::kNone) return file;
  if (kind == LoadFile::kRead && read_file_.valid()) {
    file.fd = read_file_.get();
    file.size_bytes = read_bytes_;
    return file;
  }
  ASSIGN_OR_RETURN(const LoadFileSizes sizes, Sizes());
  ASSIGN_OR_RETURN(file.owned, CreateUnnamedFile(directory_, run_id_));
  file.fd = file.owned.get();
  if (kind == LoadFile::kWrite) file.size_bytes = sizes.write_bytes;
  if (kind == LoadFile::kMapped) {
    file.size_bytes = sizes.mapped_bytes;
    // Allocated now: a page that finds the disk full later would be a SIGBUS.
    const int error = posix_fallocate(file.fd, 0, file.size_bytes);
    if (error != 0) return ErrnoStatus(error, absl::StrCat("allocate ", file.size_bytes, " bytes"));
  }
  if (kind == LoadFile::kRead) {
    RETURN_IF_ERROR(FillReadFile(file.fd, sizes.read_bytes));
    read_file_ = std::move(file.owned);
    read_bytes_ = file.size_bytes = sizes.read_bytes;
  }
  return file;
}

absl::Status LoadFiles::FillReadFile(int fd, int64_t size_bytes) const {
  // Not zeros, which a file system or a disk may keep as a note instead of as data.
  std::vector<uint64_t> chunk(static_cast<size_t>(kMiB) / sizeof(uint64_t));
  uint64_t value = 1;
  for (int64_t at = 0; at < size_bytes; at += kMiB) {
    for (uint64_t& word : chunk) word = value = value * 6364136223846793005U + 1442695040888963407U;
    const ssize_t written = pwrite(fd, chunk.data(), static_cast<size_t>(kMiB), at);
    if (written != kMiB) {
      return ErrnoStatus(
          written < 0 ? errno : ENOSPC,
          absl::StrCat("write the file to read, ", size_bytes / kMiB, " MiB in ", directory_));
    }
    if (StopRequested()) return absl::CancelledError("stopped");
    // A part at a time, because a process that waits in fsync() can be neither stopped nor killed.
    if ((at + kMiB) % kFillStepBytes == 0) {
      sync_file_range(
          fd, at + kMiB - kFillStepBytes, kFillStepBytes,
          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    }
  }
  if (fsync(fd) != 0) return ErrnoStatus(errno, "write the file to read to the disk");
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  return absl::OkStatus();
}

std::optional<int64_t> LoadFiles::DeviceWrittenBytes() const {
  struct stat facts;
  if (stat(directory_.c_str(), &facts) != 0) return std::nullopt;
  const std::optional<std::string> text = ReadFileLine(
      absl::StrCat("/sys/dev/block/", major(facts.st_dev), ":", minor(facts.st_dev), "/stat"));
  if (!text) return std::nullopt;
  // Documentation/block/stat.rst: the 7th number counts sectors written.
  const std::vector<absl::string_view> fields = absl::StrSplit(*text, ' ', absl::SkipWhitespace());
  int64_t sectors = 0;
  if (fields.size() < 7 || !absl::SimpleAtoi(fields[6], &sectors)) return std::nullopt;
  return sectors * kSectorBytes;
}

std::string LoadFiles::NotADisk() const {
  struct statfs facts;
  if (statfs(directory_.c_str(), &facts) != 0) return "";
  switch (static_cast<unsigned long>(facts.f_type)) {
    case TMPFS_MAGIC:
      return "tmpfs";
    case RAMFS_MAGIC:
      return "ramfs";
    case OVERLAYFS_SUPER_MAGIC:
      return "overlay";
    default:
      return "";
  }
}

}  // namespace whylate
