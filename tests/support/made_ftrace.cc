#include "tests/support/made_ftrace.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

constexpr size_t kFirstField = 12;  // kernels have it at 8
constexpr size_t kNameBytes = 16;
constexpr uint16_t kFirstId = 700;

struct TypeOfField {
  const char* before;
  const char* after;
  size_t size;
  bool is_signed;
};

TypeOfField TypeOf(FtraceField field) {
  switch (field) {
    case FtraceField::kName:
    case FtraceField::kNextName:
      return {"char ", "[16]", kNameBytes, false};
    case FtraceField::kState:
    case FtraceField::kCallNumber:
    case FtraceField::kCallResult:
    case FtraceField::kExpires:
    case FtraceField::kNow:
      return {"long ", "", 8, true};
    case FtraceField::kTimer:
      return {"void * ", "", 8, false};
    case FtraceField::kCloneFlags:
      return {"unsigned long ", "", 8, false};
    case FtraceField::kCallArguments:
      return {"unsigned long ", "[6]", 48, false};
    default:
      return {"int ", "", 4, true};
  }
}

std::string FieldLine(const std::string& declaration, size_t offset, size_t size, bool is_signed) {
  return absl::StrCat("\tfield:", declaration, ";\toffset:", offset, ";\tsize:", size,
                      ";\tsigned:", is_signed ? 1 : 0, ";\n");
}

void Append(const void* from, size_t size, std::vector<uint8_t>* to) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  to->insert(to->end(), bytes, bytes + size);
}

std::vector<const FtraceEventRow*> AllRows() {
  std::vector<const FtraceEventRow*> rows;
  for (const FtraceEventRow& row : FtraceSchedEvents()) rows.push_back(&row);
  for (const FtraceEventRow& row : FtraceCallEvents()) rows.push_back(&row);
  return rows;
}

}  // namespace

MadeFtrace::Made MadeFtrace::Make(const FtraceEventRow& row, uint16_t id) {
  Made made;
  made.id = id;
  made.text = absl::StrCat("name: ", row.name, "\nID: ", id, "\nformat:\n");
  absl::StrAppend(&made.text, FieldLine("unsigned short common_type", 0, 2, false),
                  FieldLine("unsigned char common_flags", 2, 1, false),
                  FieldLine("unsigned char common_preempt_count", 3, 1, false),
                  FieldLine("int common_pid", 4, 4, true), "\n");
  size_t at = kFirstField;
  // From the last to the first, so that they are not in the kernel's order.
  for (auto field = row.fields.rbegin(); field != row.fields.rend(); ++field) {
    if (field->name == nullptr) continue;
    const TypeOfField type = TypeOf(field->field);
    at = (at + 7) / 8 * 8;
    absl::StrAppend(&made.text, FieldLine(absl::StrCat(type.before, field->name, type.after), at,
                                          type.size, type.is_signed));
    made.places[field->field] = {at, type.size};
    at += type.size;
  }
  absl::StrAppend(&made.text, "\nprint fmt: \"\"\n");
  made.size_bytes = (at + 3) / 4 * 4;
  return made;
}

std::map<std::string, MadeFtrace::Made> MadeFtrace::MakeAll() const {
  std::map<std::string, Made> all;
  uint16_t id = kFirstId;
  for (const FtraceEventRow* row : AllRows()) all[row->name] = Make(*row, id++);
  return all;
}

FtraceFormats MadeFtrace::Formats() const {
  const std::map<std::string, Made> all = MakeAll();
  std::vector<FtraceFormats::Text> texts;
  for (const FtraceEventRow* row : AllRows()) texts.push_back({row, all.at(row->name).text});
  return FtraceFormats::Parse(texts).value();
}

std::vector<uint8_t> MadeFtrace::Record(const std::string& event, const Values& values,
                                        const Common& common) const {
  const Made made = MakeAll().at(event);
  std::vector<uint8_t> bytes(made.size_bytes);
  std::memcpy(bytes.data(), &made.id, sizeof(made.id));
  bytes[2] = common.flags;
  std::memcpy(bytes.data() + 4, &common.current, sizeof(common.current));
  for (const auto& [field, value] : values) {
    const Place place = made.places.at(field);
    if (const auto* text = std::get_if<std::string>(&value)) {
      std::memcpy(bytes.data() + place.offset, text->data(),
                  std::min(text->size(), kNameBytes - 1));
    } else {
      std::memcpy(bytes.data() + place.offset, &std::get<int64_t>(value),
                  std::min(place.size, sizeof(int64_t)));
    }
  }
  return bytes;
}

std::vector<uint8_t> MadeFtrace::Record(const std::string& event, const Values& values) const {
  return Record(event, values, Common());
}

MadePage& MadePage::Word(uint32_t word) {
  Append(&word, sizeof(word), &data_);
  return *this;
}

MadePage& MadePage::Add(uint32_t delta_ns, absl::Span<const uint8_t> record) {
  constexpr size_t kLongest = 28 * sizeof(uint32_t);
  if (record.empty() || record.size() > kLongest || record.size() % sizeof(uint32_t) != 0) {
    return AddLong(delta_ns, record);
  }
  Word(delta_ns << 5 | static_cast<uint32_t>(record.size() / sizeof(uint32_t)));
  Append(record.data(), record.size(), &data_);
  return *this;
}

MadePage& MadePage::AddLong(uint32_t delta_ns, absl::Span<const uint8_t> record) {
  Word(delta_ns << 5).Word(static_cast<uint32_t>(record.size() + sizeof(uint32_t)));
  Append(record.data(), record.size(), &data_);
  data_.resize((data_.size() + 3) / 4 * 4);
  return *this;
}

MadePage& MadePage::Extend(uint64_t delta_ns) {
  const auto low = static_cast<uint32_t>(delta_ns & ((1U << 27) - 1));
  return Word(low << 5 | 30).Word(static_cast<uint32_t>(delta_ns >> 27));
}

MadePage& MadePage::Stamp(uint64_t time_ns) {
  const auto low = static_cast<uint32_t>(time_ns & ((1U << 27) - 1));
  return Word(low << 5 | 31).Word(static_cast<uint32_t>(time_ns >> 27));
}

MadePage& MadePage::Discard(uint32_t delta_ns, uint32_t words) {
  Word(delta_ns << 5 | 29).Word(words * 4);
  for (uint32_t i = 1; i < words; ++i) Word(0xdeadbeef);
  return *this;
}

MadePage& MadePage::Missed(std::optional<uint64_t> count) {
  missed_ = true;
  missed_count_ = count;
  return *this;
}

std::vector<uint8_t> MadePage::Bytes() const {
  std::vector<uint8_t> bytes;
  uint64_t commit = data_.size();
  if (missed_) commit |= uint64_t{1} << 31;
  if (missed_count_.has_value()) commit |= uint64_t{1} << 30;
  Append(&time_ns_, sizeof(time_ns_), &bytes);
  Append(&commit, sizeof(commit), &bytes);
  Append(data_.data(), data_.size(), &bytes);
  if (missed_count_.has_value()) Append(&*missed_count_, sizeof(*missed_count_), &bytes);
  bytes.resize(std::max<size_t>(bytes.size(), 4096));
  return bytes;
}

}  // namespace whylate
