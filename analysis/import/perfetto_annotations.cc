#include "analysis/import/perfetto_annotations.h"

#include <utility>

#include "analysis/import/perfetto_proto.h"
#include "analysis/model/perfetto_fields.h"

namespace whylate {
namespace {

constexpr int kMaxDepth = 8;

bool ReadAnnotation(absl::string_view bytes, int depth, size_t* left, Annotation* annotation) {
  using perfetto::DebugAnnotation;
  if (depth > kMaxDepth || *left == 0) return false;
  --*left;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    switch (field.number) {
      case DebugAnnotation::kName:
        annotation->name = field.bytes;
        break;
      case DebugAnnotation::kStringValue:
        annotation->text = field.bytes;
        break;
      case DebugAnnotation::kBoolValue:
      case DebugAnnotation::kUintValue:
      case DebugAnnotation::kIntValue:
        annotation->value = field.Int64();
        break;
      case DebugAnnotation::kDictEntries:
      case DebugAnnotation::kArrayValues: {
        Annotation child;
        if (!ReadAnnotation(field.bytes, depth + 1, left, &child)) return false;
        annotation->children.push_back(std::move(child));
        break;
      }
      default:
        break;
    }
  }
  return !reader.malformed();
}

}  // namespace

bool ReadTrackEvent(absl::string_view bytes, size_t limit, TrackEventView* event) {
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == perfetto::TrackEvent::kName) {
      event->name = field.bytes;
    } else if (field.number == perfetto::TrackEvent::kDebugAnnotations) {
      Annotation annotation;
      if (!ReadAnnotation(field.bytes, 1, &limit, &annotation)) return false;
      event->annotations.push_back(std::move(annotation));
    }
  }
  return !reader.malformed();
}

const Annotation* Find(const std::vector<Annotation>& annotations, absl::string_view name) {
  for (const Annotation& annotation : annotations) {
    if (annotation.name == name) return &annotation;
  }
  return nullptr;
}

int64_t NumberOf(const std::vector<Annotation>& annotations, absl::string_view name) {
  const Annotation* annotation = Find(annotations, name);
  return annotation == nullptr ? 0 : annotation->value;
}

absl::string_view TextOf(const std::vector<Annotation>& annotations, absl::string_view name) {
  const Annotation* annotation = Find(annotations, name);
  return annotation == nullptr ? absl::string_view() : annotation->text;
}

}  // namespace whylate
