#include "checkpoint/slice_key.h"

#include <bit>
#include <charconv>

namespace gedit {
namespace {

void append_number(std::string& out, uint64_t value) {
  const int bytes = (std::bit_width(value) + 7) / 8;
  out += static_cast<char>(bytes);
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
}

void append_name(std::string& out, std::string_view name) {
  for (const char c : name) {
    out += c;
    if (c == '\0') out += '\xff';
    if (c == '\xff') out += '\0';
  }
  out += '\0';
  out += '\1';
}

// Bytes that a signed number takes: 6 bits of it fit into one, then 7 more for each.
size_t signed_length(int64_t value) {
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  return static_cast<size_t>(std::bit_width(magnitude)) / 7 + 1;
}

// The bits that tell the length, to be XORed onto the first two bytes.
uint16_t length_bits(size_t length) {
  if (length == 1) return 0x8000;
  return static_cast<uint16_t>(0xffff << (16 - length));
}

void append_signed(std::string& out, int64_t value) {
  const size_t length = signed_length(value);
  const uint16_t bits = length_bits(length);
  for (size_t i = 0; i < length; ++i) {
    const size_t shift = 8 * (length - 1 - i);
    auto byte = static_cast<unsigned>((shift >= 64 ? (value < 0 ? -1 : 0) : value >> shift) & 0xff);
    if (i == 0) byte ^= bits >> 8;
    if (i == 1) byte ^= bits & 0xff;
    out += static_cast<char>(byte);
  }
}

bool take_number(std::string_view& in, uint64_t& value) {
  if (in.empty()) return false;
  const auto bytes = static_cast<size_t>(static_cast<unsigned char>(in[0]));
  if (bytes > 8 || in.size() < 1 + bytes) return false;
  value = 0;
  for (size_t i = 1; i <= bytes; ++i) value = value << 8 | static_cast<unsigned char>(in[i]);
  in.remove_prefix(1 + bytes);
  return true;
}

bool take_name(std::string_view& in, std::string& name) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] != '\0' && in[i] != '\xff') {
      name += in[i];
      continue;
    }
    if (i + 1 == in.size()) return false;
    if (in[i] == '\xff') {
      if (in[i + 1] != '\0') return false;
      name += '\xff';
    } else if (in[i + 1] == '\xff') {
      name += '\0';
    } else if (in[i + 1] == '\1') {
      in.remove_prefix(i + 2);
      return true;
    } else {
      return false;
    }
    ++i;
  }
  return false;
}

bool take_signed(std::string_view& in, int64_t& value) {
  if (in.empty()) return false;
  const auto first = static_cast<unsigned char>(in[0]);
  const bool negative = first < 0x80;
  const auto second = in.size() > 1 ? static_cast<unsigned char>(in[1]) : 0U;
  // Leading ones of the (inverted, if negative) first two bytes tell the length.
  const auto head = static_cast<uint16_t>((first << 8 | second) ^ (negative ? 0xffff : 0));
  const auto length = static_cast<size_t>(std::countl_one(head));
  if (length == 0 || length > 10 || length > in.size()) return false;
  const uint16_t bits = length_bits(length);
  uint64_t sum = negative ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < length; ++i) {
    unsigned byte = static_cast<unsigned char>(in[i]);
    if (i == 0) byte ^= bits >> 8;
    if (i == 1) byte ^= bits & 0xff;
    sum = sum << 8 | byte;
  }
  value = static_cast<int64_t>(sum);
  if (signed_length(value) != length) return false;
  in.remove_prefix(length);
  return true;
}

bool take_text_number(std::string_view& text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string slice_key(std::string_view name, const Extents& extents) {
  std::string key;
  append_number(key, 0);
  append_name(key, name);
  append_number(key, extents.size());
  for (const Extent& extent : extents) {
    append_signed(key, extent.start);
    append_signed(key, extent.length);
  }
  return key;
}

std::optional<SliceKey> parse_slice_key(std::string_view key) {
  SliceKey parsed;
  uint64_t zero = 0, rank = 0;
  if (!take_number(key, zero) || zero != 0 || !take_name(key, parsed.name) || !take_number(key, rank) ||
      rank > kMostDimensions) {
    return std::nullopt;
  }
  parsed.extents.resize(rank);
  for (Extent& extent : parsed.extents) {
    if (!take_signed(key, extent.start) || !take_signed(key, extent.length)) return std::nullopt;
  }
  if (!key.empty()) return std::nullopt;
  return parsed;
}

std::string slice_text(const Extents& extents) {
  std::string text;
  for (const Extent& extent : extents) {
    if (!text.empty()) text += ':';
    if (extent.length < 0) {
      text += '-';
    } else {
      text += std::to_string(extent.start) + ',' + std::to_string(extent.length);
    }
  }
  return text;
}

std::optional<SliceSpec> parse_slice_spec(std::string_view text) {
  SliceSpec spec;
  const size_t last = text.rfind(' ');
  if (last == std::string_view::npos) return std::nullopt;
  std::string_view dims = text.substr(0, last), slice = text.substr(last + 1);
  while (!dims.empty()) {
    int64_t size = 0;
    if (!take_text_number(dims, size)) return std::nullopt;
    spec.shape.push_back(size);
    if (dims.empty()) break;
    if (dims[0] != ' ') return std::nullopt;
    dims.remove_prefix(1);
  }
  for (;;) {
    Extent extent;
    if (slice.starts_with('-')) {
      slice.remove_prefix(1);
    } else {
      if (!take_text_number(slice, extent.start) || !slice.starts_with(',')) return std::nullopt;
      slice.remove_prefix(1);
      if (!take_text_number(slice, extent.length)) return std::nullopt;
    }
    spec.extents.push_back(extent);
    if (slice.empty()) break;
    if (slice[0] != ':') return std::nullopt;
    slice.remove_prefix(1);
  }
  if (!settle_extents(spec.extents, spec.shape)) return std::nullopt;
  return spec;
}

std::optional<Extents> settle_extents(const Extents& extents, std::span<const int64_t> shape) {
  if (extents.size() != shape.size()) return std::nullopt;
  Extents settled = extents;
  for (size_t i = 0; i < settled.size(); ++i) {
    Extent& extent = settled[i];
    if (extent.length == -1 && extent.start == 0) extent.length = shape[i];
    if (extent.start < 0 || extent.length < 0 || extent.start > shape[i] ||
        extent.length > shape[i] - extent.start) {
      return std::nullopt;
    }
  }
  return settled;
}

}  // namespace gedit
