#include "base/map_entry.h"

#include "base/wire.h"

namespace gedit {

std::string map_entry_bytes(std::string_view key, std::string_view value) {
  std::string entry;
  append_bytes_field(entry, 1, key);
  append_bytes_field(entry, 2, value);
  return entry;
}

void append_map_entry(std::string& out, uint32_t number, std::string_view key, std::string_view value) {
  append_bytes_field(out, number, map_entry_bytes(key, value));
}

}  // namespace gedit
