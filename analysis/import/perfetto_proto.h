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
#include <protozero/pbf_reader.hpp>

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

class ProtoReader {
 public:
  explicit ProtoReader(absl::string_view message);

  // False at the end, and at what is malformed or cut off.
  bool Next(ProtoField* field);
  bool malformed() const { return malformed_; }
  // Bytes up to the end of the last whole field.
  size_t consumed() const { return consumed_; }

 private:
  protozero::pbf_reader reader_;
  size_t size_;
  size_t consumed_ = 0;
  bool malformed_ = false;
};

// Reads packed varints one by one.
class PackedReader {
 public:
  explicit PackedReader(absl::string_view packed)
      : data_(packed.data()), end_(packed.data() + packed.size()) {}
  // False at the end, and at what is malformed.
  bool Next(uint64_t* value);
  // Bytes that were not read.
  size_t left() const { return static_cast<size_t>(end_ - data_); }

 private:
  const char* data_;
  const char* end_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_PROTO_H_
