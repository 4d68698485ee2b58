// Reads the fields of a protobuf message that may be hostile: what is malformed ends it.
//
//   ProtoReader reader(bytes);
//   for (ProtoField field; reader.Next(&field);) {
//     if (field.number == 1) tid = field.Int32();
//   }
//   if (reader.malformed()) ...
//
// Never throws. The views point into the message.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_PROTO_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_PROTO_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"

namespace whylate {

struct ProtoField {
  uint32_t number = 0;
  bool is_bytes = false;    // a string, bytes, a message or packed numbers, in `bytes`
  uint64_t value = 0;       // else a number
  absl::string_view bytes;  // never null where is_bytes

  // As protobuf reads these types; 0 or "" where the field is of another kind.
  int64_t Int64() const { return static_cast<int64_t>(value); }
  int32_t Int32() const { return static_cast<int32_t>(value); }
  bool Bool() const { return value != 0; }
};

// Reads packed varints one by one.
class PackedReader {
 public:
  explicit PackedReader(absl::string_view packed)
      : data_(packed.data()), end_(packed.data() + packed.size()) {}
  // False at the end, and at what is malformed, which ends it.
  bool Next(uint64_t* value);
  // Bytes that were not read.
  size_t left() const { return static_cast<size_t>(end_ - data_); }

 private:
  friend class ProtoReader;
  // A number of little-endian bytes as they are.
  template <typename Fixed>
  bool NextFixed(uint64_t* value);
  bool NextBytes(uint64_t length, absl::string_view* bytes);

  const char* data_;
  const char* end_;
};

class ProtoReader {
 public:
  explicit ProtoReader(absl::string_view message) : reader_(message), size_(message.size()) {}

  // False at the end, and at what is malformed or cut off.
  bool Next(ProtoField* field);
  bool malformed() const { return malformed_; }
  // Bytes up to the end of the last whole field.
  size_t consumed() const { return consumed_; }

 private:
  bool Read(ProtoField* field);

  PackedReader reader_;
  size_t size_;
  size_t consumed_ = 0;
  bool malformed_ = false;
};

// Inline: an event of a trace has some twenty fields.

inline bool PackedReader::Next(uint64_t* value) {
  constexpr unsigned kLastShift = 63;  // of the tenth byte
  uint64_t bits = 0;
  for (unsigned shift = 0; shift <= kLastShift && data_ != end_; shift += 7) {
    const auto byte = static_cast<unsigned char>(*data_++);
    bits |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) {
      *value = bits;
      return true;
    }
  }
  data_ = end_;
  return false;
}

template <typename Fixed>
bool PackedReader::NextFixed(uint64_t* value) {
  if (left() < sizeof(Fixed)) return false;
  Fixed fixed = 0;
  std::memcpy(&fixed, data_, sizeof(fixed));
  data_ += sizeof(fixed);
  *value = fixed;
  return true;
}

inline bool PackedReader::NextBytes(uint64_t length, absl::string_view* bytes) {
  if (left() < length) return false;
  *bytes = absl::string_view(data_, static_cast<size_t>(length));
  data_ += length;
  return true;
}

ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool ProtoReader::Read(ProtoField* field) {
  enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  uint64_t tag = 0;
  if (!reader_.Next(&tag)) return false;
  field->number = static_cast<uint32_t>(tag) >> 3;
  field->is_bytes = false;
  field->value = 0;
  field->bytes = absl::string_view();
  // Numbers that the format does not allow.
  if (field->number == 0 || (field->number >= 19000 && field->number <= 19999)) return false;
  switch (tag & 7) {
    case kVarint:
      return reader_.Next(&field->value);
    case kFixed64:
      return reader_.NextFixed<uint64_t>(&field->value);
    case kFixed32:
      return reader_.NextFixed<uint32_t>(&field->value);
    case kBytes: {
      uint64_t length = 0;
      field->is_bytes = true;
      return reader_.Next(&length) &&
             reader_.NextBytes(static_cast<uint32_t>(length), &field->bytes);
    }
    default:
      return false;
  }
}

ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool ProtoReader::Next(ProtoField* field) {
  if (malformed_ || reader_.left() == 0) return false;
  malformed_ = !Read(field);
  if (malformed_) return false;
  consumed_ = size_ - reader_.left();
  return true;
}

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_PROTO_H_
