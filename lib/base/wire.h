// The protobuf wire format seen as bytes: fields with the span that each one occupies, so that what is not
// edited can be written back verbatim; and small messages put together. Reading builds on protozero and never
// allocates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace gedit {

// Bytes that are no protobuf message. `at` points at the offending byte, so that whoever knows the file can
// tell the offset; see rethrow_in().
class Malformed : public Error {
 public:
  Malformed(const char* at, std::string message) : Error(Cause::kInput, std::move(message)), at_(at) {}
  const char* at() const { return at_; }

 private:
  const char* at_;
};

// Error of the file `path` with `byte N: ` before the message, where the place lies in `whole`.
[[noreturn]] void rethrow_in(const Malformed& error, std::string_view whole, std::string_view path);

enum class Wire : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

struct Field {
  uint32_t number = 0;
  Wire wire = Wire::kVarint;
  std::string_view raw;    // tag, length and value: what to copy to keep the field
  std::string_view value;  // kBytes: the content; else the encoded number
  uint64_t varint = 0;     // kVarint: the number

  bool bytes(uint32_t wanted) const { return number == wanted && wire == Wire::kBytes; }
};

// Goes over the fields of a message:  for (Fields fields(message); fields.next();) use(fields.field());
// Throws Malformed at the first byte that is not protobuf; what came before has been seen by then.
class Fields {
 public:
  explicit Fields(std::string_view message)
      : position_(message.data()), end_(message.data() + message.size()) {}

  bool next() {
    if (position_ == end_) return false;
    const auto tag = static_cast<unsigned char>(position_[0]);
    if (end_ - position_ >= 2 && tag >= 8 && tag < 0x80 && (tag & 7) == 0 &&
        static_cast<unsigned char>(position_[1]) < 0x80) {  // a small number: most attributes' values
      field_.number = tag >> 3U;
      field_.wire = Wire::kVarint;
      field_.varint = static_cast<unsigned char>(position_[1]);
      field_.raw = {position_, 2};
      field_.value = {position_ + 1, 1};
      position_ += 2;
      return true;
    }
    // Nearly every other field has a tag of one byte and a length of one or two.
    if (end_ - position_ >= 3 && tag >= 8 && tag < 0x80 &&
        (tag & 7) == static_cast<unsigned char>(Wire::kBytes)) {
      auto length = size_t{static_cast<unsigned char>(position_[1])};
      const char* value = position_ + 2;
      if (length >= 0x80) {
        const auto second = size_t{static_cast<unsigned char>(position_[2])};
        length = (length & 0x7f) | (second << 7);
        ++value;
        if (second >= 0x80) return next_any();
      }
      if (length > static_cast<size_t>(end_ - value)) return next_any();
      field_.number = tag >> 3U;
      field_.wire = Wire::kBytes;
      field_.raw = {position_, static_cast<size_t>(value - position_) + length};
      field_.value = {value, length};
      position_ = value + length;
      return true;
    }
    return next_any();
  }
  const Field& field() const { return field_; }
  const Field* operator->() const { return &field_; }

 private:
  bool next_any();

  const char* position_;
  const char* end_;
  Field field_;
};

// The value of the last (protobuf's rule) field `number` of kind bytes, empty where there is none.
std::string_view last_bytes(std::string_view message, uint32_t number);
uint64_t last_varint(std::string_view message, uint32_t number, uint64_t otherwise = 0);
bool has_field(std::string_view message, uint32_t number);

inline void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
inline void append_tag(std::string& out, uint32_t number, Wire wire) {
  append_varint(out, (uint64_t{number} << 3) | static_cast<uint64_t>(wire));
}
void append_bytes_field(std::string& out, uint32_t number, std::string_view value);
std::string bytes_field(uint32_t number, std::string value);  // the field alone
void append_varint_field(std::string& out, uint32_t number, uint64_t value);
size_t varint_size(uint64_t value);

// Calls use(number) for each number of a repeated varint field, packed or not.
template <typename Use>
void each_varint(const Field& field, Use use);

// A map entry with a string key: {1: key, 2: value}. A missing part is empty.
struct MapEntry {
  std::string_view key, value;
};
MapEntry any_map_entry(std::string_view entry);
inline MapEntry map_entry(std::string_view entry) {
  // As every writer lays it out: the key, then the value, which ends the entry.
  Fields fields(entry);
  if (!fields.next() || !fields->bytes(1)) return any_map_entry(entry);
  const std::string_view key = fields->value;
  if (!fields.next() || !fields->bytes(2) || fields->raw.end() != entry.end()) return any_map_entry(entry);
  return {key, fields->value};
}

// The key alone, of which the value need not be looked at.
inline std::string_view map_key(std::string_view entry) {
  Fields fields(entry);
  return fields.next() && fields->bytes(1) ? fields->value : any_map_entry(entry).key;
}

// The number that `position` stands at, which moves on behind it. Throws Malformed.
uint64_t read_varint(const char*& position, const char* end);

// ---------------------------------------------------------------------------------------------------------------------

template <typename Use>
void each_varint(const Field& field, Use use) {
  if (field.wire == Wire::kVarint) return use(field.varint);
  if (field.wire != Wire::kBytes) return;
  const char* position = field.value.data();
  const char* end = position + field.value.size();
  while (position != end) use(read_varint(position, end));
}

}  // namespace gedit
