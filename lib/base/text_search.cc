// Places are told apart by the first and the last byte of the text, sixteen of them with two comparisons;
// where both are right, all of it is compared.
#include "base/text_search.h"

#include <cstdint>
#include <cstring>

namespace gedit {
namespace {

constexpr size_t kAtOnce = 16;
using Bytes16 = uint8_t __attribute__((vector_size(kAtOnce)));

Bytes16 load16(const char* from) {
  Bytes16 bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

bool any(Bytes16 bytes) {
  uint64_t halves[2];
  std::memcpy(halves, &bytes, sizeof bytes);
  return (halves[0] | halves[1]) != 0;
}

bool starts_at_one_of(const char* from, size_t places, std::string_view text) {
  for (size_t i = 0; i < places; ++i) {
    if (from[i] == text.front() && std::memcmp(from + i, text.data(), text.size()) == 0) return true;
  }
  return false;
}

}  // namespace

bool TextSearch::finds_in(std::string_view bytes) const {
  if (bytes.size() < text_.size()) return false;
  const size_t places = bytes.size() - text_.size() + 1, last = text_.size() - 1;
  if (places < kAtOnce) return starts_at_one_of(bytes.data(), places, text_);
  const Bytes16 first_byte = Bytes16{} + static_cast<uint8_t>(text_.front());
  const Bytes16 last_byte = Bytes16{} + static_cast<uint8_t>(text_.back());
  const auto starts_near = [&](size_t at) {
    const char* from = bytes.data() + at;
    const auto right =
        reinterpret_cast<Bytes16>((load16(from) == first_byte) & (load16(from + last) == last_byte));
    return any(right) && starts_at_one_of(from, kAtOnce, text_);
  };
  for (size_t at = 0; at + kAtOnce <= places; at += kAtOnce) {
    if (starts_near(at)) return true;
  }
  return starts_near(places - kAtOnce);
}

}  // namespace gedit
