#include "base/message_edit.h"

namespace gedit {
namespace {

template <typename Write>
std::string with_written(std::string_view message, uint32_t number, Write write) {
  std::string out;
  bool written = false;
  for (Fields fields(message); fields.next();) {
    const bool same = fields->bytes(number);
    if (!written && (same || fields->number > number)) {
      write(out);
      written = true;
    }
    if (!same) out += fields->raw;
  }
  if (!written) write(out);
  return out;
}

}  // namespace

std::vector<std::string> bytes_fields(std::string_view message, uint32_t number) {
  std::vector<std::string> values;
  for (Fields fields(message); fields.next();) {
    if (fields->bytes(number)) values.emplace_back(fields->value);
  }
  return values;
}

std::string with_fields(std::string_view message, uint32_t number, const std::vector<std::string>& values) {
  if (bytes_fields(message, number) == values) return std::string(message);
  return with_written(message, number, [&](std::string& out) {
    for (const std::string& value : values) append_bytes_field(out, number, value);
  });
}

std::string with_field(std::string_view message, uint32_t number, std::string_view value) {
  return with_written(message, number, [&](std::string& out) { append_bytes_field(out, number, value); });
}

std::string without_field(std::string_view message, uint32_t number) {
  return only_fields(message, [&](const Field& field) { return field.number != number; });
}

}  // namespace gedit
