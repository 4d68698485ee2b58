#include "analysis/model/recording.h"

#include "absl/strings/str_cat.h"

namespace whylate {

std::string Role::ToString() const {
  switch (kind) {
    case RoleKind::kWorkload:
      return "workload";
    case RoleKind::kLoad:
      return absl::StrCat("load:", load);
    case RoleKind::kKernel:
      return "kernel";
    case RoleKind::kObserver:
      return "observer";
    case RoleKind::kOther:
      return "other";
    case RoleKind::kIdle:
      return "idle";
    case RoleKind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace whylate
