// Entries of protobuf maps put together; base/wire.h takes them apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gedit {

// A map entry with a string key: {1: key, 2: value}.
std::string map_entry_bytes(std::string_view key, std::string_view value);
// The same as field `number` of a message.
void append_map_entry(std::string& out, uint32_t number, std::string_view key, std::string_view value);

}  // namespace gedit
