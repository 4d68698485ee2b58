#include "analysis/import/perfetto_proto.h"

#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace whylate {

ProtoReader::ProtoReader(absl::string_view message)
    : reader_(message.data(), message.size()), size_(message.size()) {}

bool ProtoReader::Next(ProtoField* field) {
  if (malformed_) return false;
  try {
    if (!reader_.next()) return false;
    field->number = reader_.tag();
    field->is_bytes = false;
    field->value = 0;
    field->bytes = absl::string_view();
    switch (reader_.wire_type()) {
      case protozero::pbf_wire_type::varint:
        field->value = reader_.get_uint64();
        break;
      case protozero::pbf_wire_type::fixed64:
        field->value = reader_.get_fixed64();
        break;
      case protozero::pbf_wire_type::fixed32:
        field->value = reader_.get_fixed32();
        break;
      case protozero::pbf_wire_type::length_delimited: {
        const protozero::data_view view = reader_.get_view();
        field->is_bytes = true;
        field->bytes = absl::string_view(view.data(), view.size());
        break;
      }
      default:
        reader_.skip();
    }
  } catch (const protozero::exception&) {
    malformed_ = true;
    return false;
  }
  consumed_ = size_ - reader_.length();
  return true;
}

bool PackedReader::Next(uint64_t* value) {
  if (data_ == end_) return false;
  try {
    *value = protozero::decode_varint(&data_, end_);
  } catch (const protozero::exception&) {
    data_ = end_;
    return false;
  }
  return true;
}

}  // namespace whylate
