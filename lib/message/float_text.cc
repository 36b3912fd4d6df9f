#include "message/float_text.h"

#include <fmt/format.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <type_traits>

namespace gedit {
namespace {

// Whether it was not a finite number, which all write alike.
template <typename Number>
bool append_special(std::string& out, Number value) {
  if (std::isnan(value)) {
    out += "nan";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
  } else {
    return false;
  }
  return true;
}

// In the first of the numbers of digits that is this number.
template <typename Number>
void append_fewest_digits(std::string& out, Number value, int least, int most, int step) {
  std::array<char, 32> buffer{};
  for (int digits = least; digits <= most; digits += step) {
    std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, static_cast<double>(value));
    const Number again = std::is_same_v<Number, float>
                             ? std::strtof(buffer.data(), nullptr)
                             : static_cast<Number>(std::strtod(buffer.data(), nullptr));
    if (again == value) break;
  }
  out += buffer.data();
}

template <typename Number>
void append_repr(std::string& out, Number value) {
  const size_t start = out.size();
  fmt::format_to(std::back_inserter(out), "{}", value);  // Python's, but for whole numbers
  if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

}  // namespace

void append_short_float(std::string& out, float value) {
  if (append_special(out, value)) return;
  // Below the normal range protobuf takes the C library's warning for a number that is not the same.
  const bool small = value != 0 && std::fabs(value) < FLT_MIN;
  append_fewest_digits(out, value, small ? FLT_DIG + 3 : FLT_DIG, FLT_DIG + 3, 3);
}

void append_short_double(std::string& out, double value) {
  if (!append_special(out, value)) append_fewest_digits(out, value, DBL_DIG, DBL_DIG + 2, 2);
}

void append_python_float(std::string& out, float value) {
  if (append_special(out, value)) return;
  // Below the normal range fewer digits are enough than Python's six.
  if (value != 0 && std::fabs(value) < FLT_MIN)
    return append_fewest_digits(out, value, FLT_DIG, FLT_DIG + 3, 1);
  append_repr(out, value);
}

void append_python_double(std::string& out, double value) {
  if (!append_special(out, value)) append_repr(out, value);
}

double read_double(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

}  // namespace gedit
