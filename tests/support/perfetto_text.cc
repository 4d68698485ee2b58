#include "tests/support/perfetto_text.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "analysis/import/perfetto_packets.h"
#include "analysis/import/perfetto_proto.h"
#include "analysis/model/perfetto_fields.h"
#include "analysis/report/escape.h"

namespace whylate {
namespace {

std::string TrackEventLine(int64_t time_ns, absl::string_view bytes) {
  using perfetto::TrackEvent;
  std::string name;
  std::string arrows;
  int64_t type = 0;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == TrackEvent::kName) name = absl::StrCat(" ", field.bytes);
    if (field.number == TrackEvent::kType) type = field.Int64();
    if (field.number == TrackEvent::kCounterValue) name = absl::StrCat(" ", field.Int64());
    if (field.number == TrackEvent::kFlowIds) arrows += " leaves";
    if (field.number == TrackEvent::kTerminatingFlowIds) arrows += " arrives";
  }
  const char* word = type == TrackEvent::kSliceBegin ? "begin"
                     : type == TrackEvent::kSliceEnd ? "end"
                     : type == TrackEvent::kInstant  ? "instant"
                                                     : "counter";
  return absl::StrCat(word, " ", time_ns, name, arrows);
}

std::string FtraceEventLine(absl::string_view bytes) {
  FtraceEventView view;
  if (!ReadFtraceEvent(bytes, &view)) return "  malformed";
  if (view.kind != perfetto::FtraceEvent::kGeneric) {
    return absl::StrCat("  ", view.time_ns, " ", view.kind);
  }
  ProtoReader reader(view.body);
  ProtoField field;
  reader.Next(&field);
  return absl::StrCat("  ", view.time_ns, " ", field.bytes);
}

void AddBundle(absl::string_view bytes, std::vector<std::string>* lines) {
  const size_t head = lines->size();
  uint64_t cpu = 0;
  bool lost = false;
  lines->emplace_back();
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == perfetto::FtraceBundle::kCpu) cpu = field.value;
    if (field.number == perfetto::FtraceBundle::kLostEvents) lost = field.Bool();
    if (field.number == perfetto::FtraceBundle::kEvent) {
      lines->push_back(FtraceEventLine(field.bytes));
    }
  }
  (*lines)[head] = absl::StrCat("cpu ", cpu, lost ? " lost" : "");
}

std::string TrackLine(absl::string_view bytes) {
  std::string name;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == perfetto::TrackDescriptor::kName) name = std::string(field.bytes);
    if (field.number == perfetto::TrackDescriptor::kThread) name = "of a thread";
  }
  return absl::StrCat("track ", name);
}

void AddPacket(absl::string_view bytes, std::vector<std::string>* lines) {
  int64_t time_ns = 0;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == perfetto::Packet::kTimestamp) time_ns = field.Int64();
    if (field.number == perfetto::Packet::kTrackDescriptor) {
      lines->push_back(TrackLine(field.bytes));
    }
    if (field.number == perfetto::Packet::kTrackEvent) {
      lines->push_back(TrackEventLine(time_ns, field.bytes));
    }
    if (field.number == perfetto::Packet::kFtraceEvents) AddBundle(field.bytes, lines);
  }
}

}  // namespace

std::vector<std::string> PacketLines(absl::string_view trace) {
  std::vector<std::string> lines;
  ProtoReader reader(trace);
  for (ProtoField field; reader.Next(&field);) AddPacket(field.bytes, &lines);
  return lines;
}

bool IsValidUtf8(absl::string_view text) { return ValidUtf8(text) == text; }

}  // namespace whylate
