// Messages with other fields, everything else byte for byte as it stands and where it stood.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/map_entry.h"
#include "base/wire.h"

namespace gedit {

std::vector<std::string> bytes_fields(std::string_view message, uint32_t number);

// `message` with these values, and no others, as fields `number` of kind bytes; itself where it has them.
// They stand where the first one stood, or where the number belongs: before the first field of a higher one.
std::string with_fields(std::string_view message, uint32_t number, const std::vector<std::string>& values);
std::string with_field(std::string_view message, uint32_t number, std::string_view value);

// `message` with the fields for which keeps(const Field&) is true.
template <typename Keeps>
std::string only_fields(std::string_view message, Keeps keeps) {
  std::string out;
  for (Fields fields(message); fields.next();) {
    if (keeps(fields.field())) out += fields->raw;
  }
  return out;
}
std::string without_field(std::string_view message, uint32_t number);

// `message` with use(value) in the place of the value of every field `number` of kind bytes. `use` gives a
// std::optional where it can leave the field out.
template <typename Use>
std::string with_each_field(std::string_view message, uint32_t number, Use use) {
  std::string out;
  for (Fields fields(message); fields.next();) {
    if (!fields->bytes(number)) {
      out += fields->raw;
    } else if constexpr (std::is_convertible_v<decltype(use(fields->value)), std::string_view>) {
      append_bytes_field(out, number, use(fields->value));
    } else if (const auto value = use(fields->value)) {
      append_bytes_field(out, number, *value);
    }
  }
  return out;
}

// The same for fields that are entries of a map with a string key: use(key, value) gives the entry's value.
template <typename Use>
std::string with_each_entry(std::string_view message, uint32_t number, Use use) {
  return with_each_field(message, number, [&](std::string_view bytes) -> std::optional<std::string> {
    const MapEntry entry = map_entry(bytes);
    const std::optional<std::string> value = use(entry.key, entry.value);
    return value ? std::make_optional(map_entry_bytes(entry.key, *value)) : std::nullopt;
  });
}

}  // namespace gedit
