#include "graph/numbers.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/float16.h"
#include "base/number.h"

namespace gedit {
namespace {

constexpr uint32_t kNan32 = 0x7fc00000;
constexpr uint64_t kNan64 = 0x7ff8000000000000;
constexpr uint16_t kNanHalf = 0x7e00;
constexpr uint16_t kNanBfloat16 = 0x7fc0;

constexpr bool nan32(uint64_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }
constexpr bool nan64(uint64_t bits) { return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000; }
constexpr bool nan_half(uint64_t bits) { return (bits & 0x7fff) > 0x7c00; }
constexpr bool nan_bfloat16(uint64_t bits) { return (bits & 0x7fff) > 0x7f80; }

template <typename Integer>
void append_integer(std::string& out, Integer value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

// As std::to_chars does: the fewest digits that are read back as the same number, in the shorter of both
// notations, in the plain one where they are equally long. Its own tables would be 2 % of the program; fmt's
// are there anyway, but fmt chooses the notation in another way.
template <typename Number>
void print_decimal(std::string& out, Number value) {
  if (std::abs(value) < 100000 && value == std::trunc(value)) {  // as most constants are
    if (std::signbit(value)) out += '-';
    return append_integer(out, static_cast<uint64_t>(std::abs(value)));
  }
  if (std::signbit(value)) out += '-';
  std::array<char, 40> buffer;
  const char* const end = fmt::format_to(buffer.data(), FMT_COMPILE("{}"), std::abs(value));
  if (buffer[0] == 'i') {
    out += "inf";
    return;
  }

  // The digits without zeros around them, and the power of ten of the first one.
  std::array<char, 40> significant;
  size_t length = 0;
  int seen = 0, first = -1, point = -1, exponent = 0;  // positions among all digits
  for (const char* p = buffer.data(); p != end; ++p) {
    if (*p == 'e') {
      std::from_chars(p + (p[1] == '+' ? 2 : 1), end, exponent);
      break;
    }
    if (*p == '.') {
      point = seen;
      continue;
    }
    if (first < 0 && *p != '0') first = seen;
    if (first >= 0) significant[length++] = *p;
    ++seen;
  }
  while (significant[length - 1] == '0') --length;
  exponent += (point < 0 ? seen : point) - first - 1;
  const std::string_view digits(significant.data(), length);

  const int count = static_cast<int>(length);
  const int scientific = count + (count > 1 ? 1 : 0) + (std::abs(exponent) < 100 ? 4 : 5);
  const int plain = exponent < 0 ? 1 - exponent + count : std::max(exponent + 1, count + 1);
  if (exponent == count - 1) {
    out += digits;
  } else if (plain > scientific) {
    out += digits[0];
    if (count > 1) out.append(1, '.').append(digits, 1);
    out += exponent < 0 ? "e-" : "e+";
    if (std::abs(exponent) < 10) out += '0';
    out += std::to_string(std::abs(exponent));
  } else if (exponent < 0) {
    out.append("0.", 2).append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  } else if (exponent >= count) {
    fmt::format_to(std::back_inserter(out), "{:.0f}", std::abs(value));  // all its digits, instead of zeros
  } else {
    out.append(digits, 0, static_cast<size_t>(exponent) + 1)
        .append(1, '.')
        .append(digits, static_cast<size_t>(exponent) + 1);
  }
}

template <typename Number>
void print_finite(std::string& out, Number value) {
  const size_t start = out.size();
  print_decimal(out, value);
  const bool shown = std::any_of(out.begin() + static_cast<std::ptrdiff_t>(start), out.end(),
                                 [](char c) { return c == '.' || c == 'e' || c == 'n'; });
  if (!shown) out += ".0";  // `n`: inf
}

void print_nan(std::string& out, uint64_t bits, uint64_t usual, size_t digits) {
  out += "nan";
  if (bits == usual) return;
  out += "(0x";
  for (size_t digit = digits; digit-- > 0;) out += "0123456789abcdef"[(bits >> (4 * digit)) & 15];
  out += ')';
}

// `nan` was read: the bits in parentheses, or the usual ones.
uint64_t scan_nan(Scanner& scanner, size_t start, uint64_t usual, bool (*is_nan)(uint64_t), uint64_t mask) {
  if (!scanner.accept('(')) return usual;
  const std::string_view word = scanner.word("the bits of a nan (0x7fc00123)");
  const std::string_view digits = word.starts_with("0x") ? word.substr(2) : std::string_view();
  const std::optional<uint64_t> bits = read_number<uint64_t>(digits, 16);
  if (!bits || (*bits & ~mask) != 0 || !is_nan(*bits)) {
    scanner.fail_at(start, "these are not the bits of a nan of this type");
  }
  scanner.expect(')');
  return *bits;
}

// A finite number or infinity of type Number, nothing for `nan`.
template <typename Number>
std::optional<Number> scan_number(Scanner& scanner, size_t& start) {
  scanner.peek();
  start = scanner.position();
  std::string_view text = scanner.number("a number");
  if (text == "nan") return std::nullopt;
  if (text == "inf") return std::numeric_limits<Number>::infinity();
  if (text == "-inf") return -std::numeric_limits<Number>::infinity();
  const bool digits = text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) scanner.fail_at(start, "number out of range");
  if (!digits || error != std::errc{} || end != text.data() + text.size()) {
    scanner.fail_at(start, "not a number");
  }
  return value;
}

}  // namespace

void print_int(std::string& out, int64_t value) { append_integer(out, value); }
void print_uint(std::string& out, uint64_t value) { append_integer(out, value); }

bool odd_nan32(uint32_t bits) { return nan32(bits) && bits != kNan32; }
bool odd_nan64(uint64_t bits) { return nan64(bits) && bits != kNan64; }
bool odd_nan_half(uint16_t bits) { return nan_half(bits) && bits != kNanHalf; }
bool odd_nan_bfloat16(uint16_t bits) { return nan_bfloat16(bits) && bits != kNanBfloat16; }

void print_float32(std::string& out, uint32_t bits) {
  if (nan32(bits)) return print_nan(out, bits, kNan32, 8);
  print_finite(out, std::bit_cast<float>(bits));
}

void print_float64(std::string& out, uint64_t bits) {
  if (nan64(bits)) return print_nan(out, bits, kNan64, 16);
  print_finite(out, std::bit_cast<double>(bits));
}

void print_half(std::string& out, uint16_t bits) {
  if (nan_half(bits)) return print_nan(out, bits, kNanHalf, 4);
  print_finite(out, half_value(bits));
}

void print_bfloat16(std::string& out, uint16_t bits) {
  if (nan_bfloat16(bits)) return print_nan(out, bits, kNanBfloat16, 4);
  print_finite(out, bfloat16_value(bits));
}

int64_t scan_int(Scanner& scanner, int64_t least, int64_t most) {
  scanner.peek();
  const size_t start = scanner.position();
  const std::string_view text = scanner.number("an integer");
  const bool digits = text.find_first_not_of("0123456789-") == std::string_view::npos;
  if (!digits) scanner.fail_at(start, "not an integer");
  const std::optional<int64_t> value = read_number<int64_t>(text);
  if (!value || *value < least || *value > most) scanner.fail_at(start, "integer out of range");
  return *value;
}

uint64_t scan_uint(Scanner& scanner, uint64_t most) {
  scanner.peek();
  const size_t start = scanner.position();
  const std::string_view text = scanner.number("an integer");
  const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits) scanner.fail_at(start, "not an integer of 0 or more");
  const std::optional<uint64_t> value = read_number<uint64_t>(text);
  if (!value || *value > most) scanner.fail_at(start, "integer out of range");
  return *value;
}

uint32_t scan_float32(Scanner& scanner) {
  size_t start = 0;
  if (const auto value = scan_number<float>(scanner, start)) return std::bit_cast<uint32_t>(*value);
  return static_cast<uint32_t>(scan_nan(scanner, start, kNan32, nan32, 0xffffffff));
}

uint64_t scan_float64(Scanner& scanner) {
  size_t start = 0;
  if (const auto value = scan_number<double>(scanner, start)) return std::bit_cast<uint64_t>(*value);
  return scan_nan(scanner, start, kNan64, nan64, ~uint64_t{0});
}

uint16_t scan_half(Scanner& scanner) {
  size_t start = 0;
  if (const auto value = scan_number<float>(scanner, start)) return half_bits(*value);
  return static_cast<uint16_t>(scan_nan(scanner, start, kNanHalf, nan_half, 0xffff));
}

uint16_t scan_bfloat16(Scanner& scanner) {
  size_t start = 0;
  if (const auto value = scan_number<float>(scanner, start)) return bfloat16_bits(*value);
  return static_cast<uint16_t>(scan_nan(scanner, start, kNanBfloat16, nan_bfloat16, 0xffff));
}

}  // namespace gedit
