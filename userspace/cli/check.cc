#include "userspace/cli/check.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "analysis/report/escape.h"
#include "nlohmann/json.hpp"

namespace whylate {
namespace {

constexpr size_t kColumns = 96;

// Appends `text` to `out`, broken between words so that no line passes kColumns where a word does
// not by itself; `column` is where the first line stands, `indent` where the others begin. Ends the
// line.
void AppendWrapped(absl::string_view text, size_t column, size_t indent, std::string& out) {
  bool at_start = true;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const size_t width = DisplayWidth(word);
    if (!at_start && column + 1 + width > kColumns) {
      absl::StrAppend(&out, "\n", std::string(indent, ' '));
      column = indent;
      at_start = true;
    }
    if (!at_start) out.push_back(' ');
    absl::StrAppend(&out, word);
    column += width + (at_start ? 0 : 1);
    at_start = false;
  }
  out.push_back('\n');
}

std::vector<std::string> Missing(const std::vector<Ability>& abilities, AbilityPurpose purpose) {
  std::vector<std::string> names;
  for (const Ability& ability : abilities) {
    if (!ability.ok && ability.purpose == purpose) names.push_back(ability.name);
  }
  return names;
}

// The answer to "can this machine measure?".
std::string Conclusion(const std::vector<Ability>& abilities) {
  const std::vector<std::string> essential = Missing(abilities, AbilityPurpose::kRun);
  if (!essential.empty()) {
    return absl::StrCat("This machine cannot measure: no ", absl::StrJoin(essential, ", no "), ".");
  }
  std::string text = "This machine can measure";
  const std::vector<std::string> reasons = Missing(abilities, AbilityPurpose::kReasons);
  const std::vector<std::string> quality = Missing(abilities, AbilityPurpose::kQuality);
  if (!reasons.empty()) {
    absl::StrAppend(&text, ", without the reasons of misses (see ", absl::StrJoin(reasons, ", "),
                    ")");
  }
  if (!quality.empty()) {
    absl::StrAppend(&text, "; its numbers will suffer from ", absl::StrJoin(quality, ", "));
  }
  return absl::StrCat(text, ".");
}

std::string Headline(const std::vector<HostFact>& host) {
  const auto fact = [&](absl::string_view key) {
    return FindFact(host, key).value_or(absl::StrCat("unknown ", key));
  };
  const std::string guest = FindFact(host, "virtualization").value_or("unknown");
  return EscapeForTerminal(
      absl::StrCat(fact("kernel"), ", ", fact("cpu_model"), ", ", fact("cpus"), " CPUs, ",
                   guest == "none" ? "no hypervisor" : absl::StrCat("hypervisor ", guest), ", ",
                   fact("distribution")));
}

}  // namespace

std::string CheckText(const std::vector<Ability>& abilities, const std::vector<HostFact>& host) {
  size_t name_width = 0;
  for (const Ability& ability : abilities) {
    name_width = std::max(name_width, ability.name.size());
  }
  constexpr size_t kAnswerWidth = 4;  // "yes "
  const size_t indent = kAnswerWidth + name_width + 2;
  std::string out;
  AppendWrapped(Headline(host), 0, 0, out);
  out.push_back('\n');
  for (const Ability& ability : abilities) {
    absl::StrAppend(&out, ability.ok ? "yes " : "no  ", ability.name,
                    std::string(indent - kAnswerWidth - ability.name.size(), ' '));
    AppendWrapped(EscapeForTerminal(ability.detail), indent, indent, out);
    if (ability.ok || ability.remedy.empty()) continue;
    absl::StrAppend(&out, std::string(indent, ' '), "-> ");
    AppendWrapped(EscapeForTerminal(ability.remedy), indent + 3, indent + 3, out);
  }
  out.push_back('\n');
  // One line, the last, whatever its length: scripts read it.
  return absl::StrCat(out, Conclusion(abilities), "\n");
}

std::string CheckJson(const std::vector<Ability>& abilities, const std::vector<HostFact>& host) {
  using Json = nlohmann::ordered_json;
  Json document;
  document["schema"] = "whylate.check/1";
  document["abilities"] = Json::array();
  for (const Ability& ability : abilities) {
    Json entry;
    entry["name"] = ability.name;
    entry["ok"] = ability.ok;
    entry["detail"] = ValidUtf8(ability.detail);
    entry["remedy"] = ability.ok ? Json(nullptr) : Json(ValidUtf8(ability.remedy));
    entry["required"] = ability.required;
    document["abilities"].push_back(std::move(entry));
  }
  document["host"] = Json::object();
  for (const HostFact& fact : host) {
    document["host"][fact.key] = fact.value ? Json(ValidUtf8(*fact.value)) : Json(nullptr);
  }
  // ASCII only, so that a terminal shows bidi and C1 controls as \uNNNN.
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

int CheckExitCode(const std::vector<Ability>& abilities) {
  const bool missing = std::any_of(abilities.begin(), abilities.end(), [](const Ability& ability) {
    return ability.required && !ability.ok;
  });
  return missing ? 1 : 0;
}

int RunCheck(const CheckOptions& options, std::ostream& out) {
  const HostPaths paths;
  const std::vector<HostFact> host = ReadHostFacts(paths, options.workdir);
  const std::vector<Ability> abilities =
      CheckAbilities(paths, host, options.workdir, AbilityProbes());
  out << (options.json ? CheckJson(abilities, host) : CheckText(abilities, host));
  out.flush();
  return CheckExitCode(abilities);
}

}  // namespace whylate
