// The numbers of a packed repeated field, or of any run of numbers of one width.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/wire.h"

namespace gedit {

// The number that the bytes (at most 8) are, the lowest first.
constexpr uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The lowest `width` bytes, the lowest first.
inline void append_little_endian(std::string& out, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i));
}

// How many varints a run holds, of each of which the last byte alone is below 128. Eight bytes at a time,
// since all outputs of a node may be asked for one by one.
inline size_t varint_count(std::string_view run) {
  constexpr uint64_t kGoesOn = 0x8080808080808080;
  size_t count = 0;
  for (; run.size() >= sizeof(uint64_t); run.remove_prefix(sizeof(uint64_t))) {
    uint64_t eight;
    std::memcpy(&eight, run.data(), sizeof(eight));
    count += static_cast<size_t>(std::popcount(~eight & kGoesOn));
  }
  for (const char c : run) count += (c & 0x80) == 0 ? 1 : 0;
  return count;
}

// for (Packed numbers(run, Wire::kVarint); numbers.next();) use(numbers.value());
// Throws Malformed where the last number is cut off.
class Packed {
 public:
  Packed(std::string_view run, Wire wire)
      : rest_(run),
        width_(wire == Wire::kFixed32   ? 4
               : wire == Wire::kFixed64 ? 8
                                        : 0) {}
  Packed(std::string_view run, size_t width) : rest_(run), width_(width) {}  // 1 to 8 bytes each

  bool next() {
    if (rest_.empty()) return false;
    if (width_ == 0) {
      take_varint();
    } else {
      if (rest_.size() < width_) throw Malformed(rest_.data(), "the last number is cut off");
      value_ = little_endian(rest_.substr(0, width_));
      rest_.remove_prefix(width_);
    }
    return true;
  }
  uint64_t value() const { return value_; }

 private:
  void take_varint() {
    value_ = 0;
    for (size_t i = 0; i < std::min<size_t>(rest_.size(), 10); ++i) {
      const auto byte = static_cast<unsigned char>(rest_[i]);
      value_ |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) return rest_.remove_prefix(i + 1);
    }
    throw Malformed(rest_.data(), "not a protobuf message (a number is cut off or too long)");
  }

  std::string_view rest_;
  size_t width_;
  uint64_t value_ = 0;
};

}  // namespace gedit
