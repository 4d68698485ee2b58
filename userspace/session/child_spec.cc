#include "userspace/session/child_spec.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

using Json = nlohmann::json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T>
std::optional<T> Optional(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return value.get<T>();
}

}  // namespace

std::string ToMessage(const ChildSpec& spec) {
  // A command line may hold any bytes, which JSON text may not; as numbers they pass.
  Json command = Json::array();
  for (char byte : spec.load.command) command.push_back(static_cast<unsigned char>(byte));
  const Json message = {{"kind", static_cast<int>(spec.kind)},
                        {"parent", spec.parent},
                        {"nice", OrNull(spec.nice)},
                        {"cpus", spec.cpus},
                        {"workload", spec.workload},
                        {"duration_ns", spec.duration_ns},
                        {"load", spec.load.name},
                        {"threads", spec.load.threads},
                        {"loops_per_ms", spec.load.loops_per_ms},
                        {"cpu_percent", OrNull(spec.load.values.cpu_percent)},
                        {"interval_us", OrNull(spec.load.values.interval_us)},
                        {"command", std::move(command)},
                        {"file_bytes", spec.load.file_bytes},
                        {"memory_bytes", spec.load.memory_bytes}};
  return message.dump();
}

absl::StatusOr<ChildSpec> ChildSpecFromMessage(absl::string_view message) {
  try {
    const Json root = Json::parse(message.begin(), message.end());
    ChildSpec spec;
    const int kind = root.at("kind").get<int>();
    if (kind < 0 || kind > static_cast<int>(ChildKind::kJanitor)) {
      throw std::invalid_argument(absl::StrCat("kind ", kind));
    }
    spec.kind = static_cast<ChildKind>(kind);
    spec.parent = root.at("parent").get<int32_t>();
    spec.nice = Optional<int32_t>(root.at("nice"));
    spec.cpus = root.at("cpus").get<std::string>();
    spec.workload = root.at("workload").get<std::string>();
    spec.duration_ns = root.at("duration_ns").get<int64_t>();
    spec.load.name = root.at("load").get<std::string>();
    spec.load.threads = root.at("threads").get<int32_t>();
    spec.load.loops_per_ms = root.at("loops_per_ms").get<int64_t>();
    spec.load.values.cpu_percent = Optional<double>(root.at("cpu_percent"));
    spec.load.values.interval_us = Optional<int64_t>(root.at("interval_us"));
    for (const Json& byte : root.at("command")) {
      spec.load.command.push_back(static_cast<char>(byte.get<unsigned char>()));
    }
    spec.load.file_bytes = root.at("file_bytes").get<int64_t>();
    spec.load.memory_bytes = root.at("memory_bytes").get<int64_t>();
    return spec;
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("a child's spec is malformed: ", error.what()));
  }
}

}  // namespace whylate
