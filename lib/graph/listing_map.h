// Map fields and split messages as protobuf understands them, on bytes.
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"

namespace gedit {

// The content of message field `number`, which protobuf takes to be all its records one behind the other;
// `kept` holds it where there are several.
std::string_view merged(std::string_view message, uint32_t number, std::list<std::string>& kept);

// A map with string keys, seen in its entries. Of a key that is there twice the last entry counts.
class StringMap {
 public:
  void add(std::string_view entry);
  bool empty() const { return entries_.empty(); }
  const std::vector<MapEntry>& sorted();  // by the bytes of the keys

 private:
  std::vector<MapEntry> entries_;
  std::list<std::string> kept_;
};

}  // namespace gedit
