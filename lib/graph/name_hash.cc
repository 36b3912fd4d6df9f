#include "graph/name_hash.h"

#include <cstring>

namespace gedit {

uint64_t name_hash(std::string_view name) {
  // Multiply and fold, eight bytes a step.
  constexpr uint64_t kFirst = 0x9e3779b97f4a7c15, kSecond = 0xe7037ed1a0b428db;
  const auto fold = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t hash = name.size() * kFirst;
  const char* p = name.data();
  size_t left = name.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = fold(hash ^ word ^ kSecond, kFirst);
  }
  uint64_t tail = 0;
  if (name.size() >= 8 && left > 0) {  // the end of the last eight bytes
    std::memcpy(&tail, p + left - 8, 8);
    tail >>= 64 - 8 * left;
  } else if (left > 0) {
    std::memcpy(&tail, p, left);
  }
  return fold(hash ^ tail ^ kSecond, kFirst ^ left);
}

}  // namespace gedit
