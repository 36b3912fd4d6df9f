#include "base/wire.h"

#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace gedit {

uint64_t read_varint(const char*& position, const char* end) {
  const char* start = position;
  try {
    return protozero::decode_varint(&position, end);
  } catch (const protozero::exception&) {  // the only one that leaves this file is ours
    throw Malformed(start, "not a protobuf message (a number is cut off or too long)");
  }
}

void rethrow_in(const Malformed& error, std::string_view whole, std::string_view path) {
  const bool inside = error.at() >= whole.data() && error.at() <= whole.data() + whole.size();
  if (!inside) throw Error(error).in(path);
  throw Error(Cause::kInput, error.what()).of("byte " + std::to_string(error.at() - whole.data())).in(path);
}

bool Fields::next_any() {
  const char* start = position_;
  const uint64_t tag = read_varint(position_, end_);
  const uint64_t number = tag >> 3;
  if (number == 0 || number > 0x1fffffff)
    throw Malformed(start, "not a protobuf message (field number out of range)");
  field_.number = static_cast<uint32_t>(number);
  field_.wire = static_cast<Wire>(tag & 7);
  const char* value = position_;
  const auto left = static_cast<uint64_t>(end_ - position_);
  switch (field_.wire) {
    case Wire::kVarint:
      field_.varint = read_varint(position_, end_);
      break;
    case Wire::kBytes: {
      const uint64_t length = read_varint(position_, end_);
      const auto remain = static_cast<uint64_t>(end_ - position_);
      if (length > remain) {
        throw Malformed(start, "record is " + std::to_string(length) + " bytes long, " +
                                   std::to_string(remain) + " remain");
      }
      value = position_;
      position_ += length;
      break;
    }
    case Wire::kFixed64:
    case Wire::kFixed32: {
      const uint64_t width = field_.wire == Wire::kFixed64 ? 8 : 4;
      if (left < width) throw Malformed(start, "the last number is cut off");
      position_ += width;
      break;
    }
    default:
      throw Malformed(start, "not a protobuf message (wire type " + std::to_string(tag & 7) + ")");
  }
  field_.value = {value, static_cast<size_t>(position_ - value)};
  field_.raw = {start, static_cast<size_t>(position_ - start)};
  return true;
}

std::string_view last_bytes(std::string_view message, uint32_t number) {
  std::string_view found;
  for (Fields fields(message); fields.next();) {
    if (fields->bytes(number)) found = fields->value;
  }
  return found;
}

uint64_t last_varint(std::string_view message, uint32_t number, uint64_t otherwise) {
  for (Fields fields(message); fields.next();) {
    if (fields->number == number && fields->wire == Wire::kVarint) otherwise = fields->varint;
  }
  return otherwise;
}

bool has_field(std::string_view message, uint32_t number) {
  for (Fields fields(message); fields.next();) {
    if (fields->number == number) return true;
  }
  return false;
}

void append_bytes_field(std::string& out, uint32_t number, std::string_view value) {
  append_tag(out, number, Wire::kBytes);
  append_varint(out, value.size());
  out += value;
}

std::string bytes_field(uint32_t number, std::string value) {
  std::string head;
  append_tag(head, number, Wire::kBytes);
  append_varint(head, value.size());
  return std::move(value.insert(0, head));
}

void append_varint_field(std::string& out, uint32_t number, uint64_t value) {
  append_tag(out, number, Wire::kVarint);
  append_varint(out, value);
}

size_t varint_size(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

MapEntry any_map_entry(std::string_view entry) {
  MapEntry found;
  for (Fields fields(entry); fields.next();) {
    if (fields->bytes(1)) found.key = fields->value;
    if (fields->bytes(2)) found.value = fields->value;
  }
  return found;
}

}  // namespace gedit
