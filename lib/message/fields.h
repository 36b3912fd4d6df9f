// A message's bytes as protobuf understands them: fields in the order of their numbers, the last of several
// numbers, of several members of a oneof and of several entries of a map with one key, the parts of one
// message together, and no field that is its default. Fields that proto/ does not know, or not with such a
// wire type, are passed over.
//   MessageFields fields;
//   fields.read(type, bytes, [&](const MessageField& field, size_t begin, size_t end) {
//     for (size_t i = begin; i < end; ++i) print(field, fields[i]);
//   });
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/packed.h"
#include "base/wire.h"
#include "message/type.h"

namespace gedit {

// A number as its type has it: sign-extended, of 32 bits or a bool where it is one. Zigzag and the bits of
// floats stay what they are on the wire.
uint64_t number_of(FieldType type, uint64_t wire_number);
uint64_t zigzag(int64_t number);

// Appends a whole number of the wire form, of any type but a bool, in digits.
void append_digits_of(std::string& out, FieldType type, uint64_t wire_number);

// Calls use(number) for each number, of the wire form, of a field that holds them, packed or not. Throws
// Malformed.
template <typename Use>
void each_number(const Field& field, Wire wire, Use use);

// Reads one message within another while the outer one is read.
class MessageFields {
 public:
  // Calls use(field, begin, end) for each field that is set: its values are (*this)[begin] up to end, one
  // unless it is repeated. Map entries come in the order of their keys; of an entry both parts are set.
  // Throws Malformed.
  template <typename Use>
  void read(const MessageType& type, std::string_view bytes, Use use) {
    const size_t start = found_.size(), merged = merged_.size();
    find(type, bytes);
    const size_t end = found_.size();
    for (size_t begin = start; begin < end;) {
      const MessageField* field = found_[begin].field;
      size_t next = begin + 1;
      while (next < end && found_[next].field == field) ++next;
      use(*field, begin, next);
      begin = next;
    }
    found_.erase(found_.begin() + static_cast<ptrdiff_t>(start), found_.end());
    while (merged_.size() > merged) merged_.pop_back();
  }

  Field operator[](size_t i) const { return found_[i].value; }

 private:
  struct Found {
    const MessageField* field;
    Field value;
  };

  void find(const MessageType& type, std::string_view bytes);
  void keep_last_of_oneofs(size_t start);
  void settle(size_t start);
  void settle_map(size_t begin, size_t& to);
  void complete_entry(const MessageType& type, size_t start);

  std::vector<Found> found_;
  std::deque<std::string> merged_;
};

// Appends the message as protobuf writes it: the fields above, numbers packed.
// Throws Malformed.
void append_canonical(std::string& out, const MessageType& type, std::string_view bytes);

// Appends field `number`: what write() appends is its content. Moves that once where it is longer than 127
// bytes.
template <typename Write>
void append_message(std::string& out, uint32_t number, Write write);

// What a field that is not set stands for: 0, or nothing.
Field default_value(const MessageField& field);

// The number itself as the wire has it.
void append_number(std::string& out, Wire wire, uint64_t number);

// ---------------------------------------------------------------------------------------------------------------------

template <typename Write>
void append_message(std::string& out, uint32_t number, Write write) {
  append_tag(out, number, Wire::kBytes);
  const size_t start = out.size();
  out += '\0';  // a length of one byte
  write();
  const size_t size = out.size() - start - 1;
  if (size < 0x80) {
    out[start] = static_cast<char>(size);
    return;
  }
  std::string length;
  append_varint(length, size);
  out.replace(start, 1, length);
}

template <typename Use>
void each_number(const Field& field, Wire wire, Use use) {
  if (field.wire == Wire::kVarint) return use(field.varint);
  for (Packed numbers(field.value, wire); numbers.next();) use(numbers.value());
}

}  // namespace gedit
