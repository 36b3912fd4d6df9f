// Fuzzers of tables: the input as a file, either as it is or, so that checksums do not stand in the way, as
// the records of a table that is well formed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/file.h"
#include "checkpoint/table.h"
#include "fuzzed.h"

namespace gedit {

class TableFile {
 public:
  // The first byte tells which: odd, and the rest is records, each a length of the key, of the value, both.
  TableFile(const uint8_t* data, size_t size) : file_(table(as_text(data, size))) {}

  std::string path() const { return file_.path(); }

 private:
  static std::string table(std::string_view bytes) {
    if (bytes.empty() || (bytes[0] & 1) == 0) return std::string(bytes);
    StringSink table;
    build(bytes.substr(1), table);
    return std::move(table.text);
  }

  static void build(std::string_view bytes, Sink& out) {
    std::map<std::string, std::string> records;
    while (bytes.size() >= 3) {
      const size_t key = static_cast<unsigned char>(bytes[0]);
      const size_t value = static_cast<unsigned char>(bytes[1]) | size_t{static_cast<unsigned char>(bytes[2])}
                                                                      << 8;
      bytes.remove_prefix(3);
      std::string name(bytes.substr(0, key));
      bytes.remove_prefix(name.size());
      std::string text(bytes.substr(0, value));
      bytes.remove_prefix(text.size());
      records.insert_or_assign(std::move(name), std::move(text));
    }
    TableWriter table(out);
    for (const auto& [key, value] : records) table.add(key, value);
    table.finish();
  }

  BytesFile file_;
};

}  // namespace gedit
