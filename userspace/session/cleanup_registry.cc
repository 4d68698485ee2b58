#include "userspace/session/cleanup_registry.h"

#include <unistd.h>

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/cgroup.h"

namespace whylate {

Registration::~Registration() {
  if (registry_ != nullptr) registry_->entry(index_).kind.store(CleanupRegistry::Kind::kFree);
}

absl::StatusOr<CleanupRegistry> CleanupRegistry::Create() {
  ASSIGN_OR_RETURN(SharedMemory memory,
                   SharedMemory::Create("whylate-cleanup", kMaxEntries * sizeof(Entry)));
  return CleanupRegistry(std::move(memory));
}

absl::StatusOr<CleanupRegistry> CleanupRegistry::Map(UniqueFd fd) {
  ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Map(std::move(fd)));
  return CleanupRegistry(std::move(memory));
}

absl::StatusOr<Registration> CleanupRegistry::Add(Kind kind, const ProcessIdentity& process,
                                                  const std::string& path) {
  if (path.size() >= kMaxPathBytes) {
    return absl::InvalidArgumentError(absl::StrCat("path too long: ", path));
  }
  for (size_t i = 0; i < kMaxEntries; ++i) {
    Entry& free = entry(i);
    if (free.kind.load() != Kind::kFree) continue;
    free.process = process;
    std::memcpy(free.path, path.c_str(), path.size() + 1);
    free.kind.store(kind);  // last: the janitor reads an entry only once it is whole
    return Registration(this, i);
  }
  return absl::ResourceExhaustedError("the clean-up registry is full");
}

absl::StatusOr<Registration> CleanupRegistry::AddProcess(const ProcessIdentity& identity) {
  return Add(Kind::kProcess, identity, "");
}

absl::StatusOr<Registration> CleanupRegistry::AddCgroup(const std::string& directory) {
  return Add(Kind::kCgroup, {}, directory);
}

absl::StatusOr<Registration> CleanupRegistry::AddFile(const std::string& path) {
  return Add(Kind::kFile, {}, path);
}

void CleanupRegistry::CleanUp(int64_t timeout_ns) const {
  // Descendants first: once a command's process is gone, its orphans are nobody's.
  for (size_t i = 0; i < kMaxEntries; ++i) {
    const Entry& found = entry(i);
    if (found.kind.load() != Kind::kProcess || !IsAlive(found.process)) continue;
    KillDescendants(found.process.tgid, timeout_ns);
    KillProcess(found.process);
  }
  for (size_t i = 0; i < kMaxEntries; ++i) {
    const Entry& found = entry(i);
    if (found.kind.load() == Kind::kCgroup) RemoveCgroup(found.path, timeout_ns);
    if (found.kind.load() == Kind::kFile) unlink(found.path);
  }
}

}  // namespace whylate
