#include "checkpoint/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/utf8.h"
#include "checkpoint/values.h"

namespace gedit {
namespace {

template <typename Number>
Number number_at(const char* p) {
  Number number;
  std::memcpy(&number, p, sizeof number);
  return number;
}

// A number that reads as a float: with a point, an exponent, or a word.
std::string with_point(std::string text) {
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

template <typename Float>
std::string printed_float(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return with_point(fmt::format("{}", value));
}

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
  const uint32_t exponent = (half >> 10) & 0x1f, fraction = half & 0x3ff;
  float value = 0;
  if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), -24);
  } else if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else {
    value = std::ldexp(static_cast<float>(fraction | 0x400), static_cast<int>(exponent) - 25);
  }
  return sign != 0 ? -value : value;
}

float bfloat16_to_float(uint16_t number) { return std::bit_cast<float>(static_cast<uint32_t>(number) << 16); }

// The shortest decimal that is nearer to `value` than to its neighbours `below` and `above`.
std::string short_text(float value, float below, float above) {
  if (std::isnan(value) || std::isinf(value) || value == 0) return printed_float(value);
  const double low = (static_cast<double>(value) + static_cast<double>(below)) / 2;
  const double high = (static_cast<double>(value) + static_cast<double>(above)) / 2;
  for (int digits = 1; digits < 9; ++digits) {
    const std::string text = fmt::format("{:.{}g}", value, digits);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (back > low && back < high) return with_point(fmt::format("{}", back));
  }
  return printed_float(value);
}

// A 16-bit float; the bit patterns of one sign are in order, so neighbours differ by one.
template <typename ToFloat>
std::string small_float_text(uint16_t bits, ToFloat to_float) {
  const float value = to_float(bits);
  if ((bits & 0x7fff) == 0) return printed_float(value);
  float outer = to_float(static_cast<uint16_t>(bits + 1));
  const float inner = to_float(static_cast<uint16_t>(bits - 1));
  if (std::isinf(outer) || std::isnan(outer)) outer = value + (value - inner);
  return value < 0 ? short_text(value, outer, inner) : short_text(value, inner, outer);
}

template <typename Float>
std::string complex_text(const char* p) {
  const auto imaginary = number_at<Float>(p + sizeof(Float));
  std::string text = printed_float(number_at<Float>(p));
  if (!std::signbit(imaginary) || std::isnan(imaginary)) text += '+';
  return text + printed_float(imaginary) + "j";
}

std::string element_text(DType dtype, const char* p) {
  switch (dtype) {
    case DType::kFloat:
      return printed_float(number_at<float>(p));
    case DType::kDouble:
      return printed_float(number_at<double>(p));
    case DType::kHalf:
      return small_float_text(number_at<uint16_t>(p), half_to_float);
    case DType::kBfloat16:
      return small_float_text(number_at<uint16_t>(p), bfloat16_to_float);
    case DType::kInt64:
      return std::to_string(number_at<int64_t>(p));
    case DType::kUint64:
      return std::to_string(number_at<uint64_t>(p));
    case DType::kInt32:
    case DType::kQint32:
      return std::to_string(number_at<int32_t>(p));
    case DType::kUint32:
      return std::to_string(number_at<uint32_t>(p));
    case DType::kInt16:
    case DType::kQint16:
      return std::to_string(number_at<int16_t>(p));
    case DType::kUint16:
    case DType::kQuint16:
      return std::to_string(number_at<uint16_t>(p));
    case DType::kInt8:
    case DType::kQint8:
      return std::to_string(number_at<int8_t>(p));
    case DType::kUint8:
    case DType::kQuint8:
      return std::to_string(number_at<uint8_t>(p));
    case DType::kBool:
      return *p != 0 ? "true" : "false";
    case DType::kComplex64:
      return complex_text<float>(p);
    case DType::kComplex128:
      return complex_text<double>(p);
    default:
      throw Error(Cause::kRefused, "values of type " + dtype_name(dtype) + " have no text form")
          .hint("-f raw");
  }
}

// Writes elements, as `element(i)` says them, in the brackets of the shape: a row to a line.
template <typename Element>
void print_nested(const std::vector<int64_t>& shape, uint64_t elements, Element element, Sink& out) {
  const size_t rank = shape.size();
  std::string line;
  if (elements == 0) {  // the brackets of the dimensions before the first empty one
    const auto empty = std::find(shape.begin(), shape.end(), 0) - shape.begin();
    line =
        std::string(static_cast<size_t>(empty) + 1, '[') + std::string(static_cast<size_t>(empty) + 1, ']');
    out.write(line + "\n");
    return;
  }
  line.assign(rank, '[');
  std::vector<int64_t> at(rank, 0);
  for (uint64_t i = 0; i < elements; ++i) {
    line += element(i);
    size_t closed = 0;
    for (size_t d = rank; d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
      ++closed;
    }
    line.append(closed, ']');
    if (i + 1 < elements) {
      line += closed == 0 ? ", " : ",\n";
      if (closed != 0) line += std::string(rank - closed, ' ') + std::string(closed, '[');
    }
    if (line.size() > 4096) {
      out.write(line);
      line.clear();
    }
  }
  out.write(line + "\n");
}

}  // namespace

std::string string_text(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i++];
    } else if (byte == '\n' || byte == '\t' || byte == '\r') {
      out += byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : "\\r";
      ++i;
    } else if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\{:03o}", byte);
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out + "\"";
}

void print_raw(DType dtype, const std::vector<int64_t>& shape, std::string_view bytes, Sink& out) {
  if (dtype != DType::kString) return out.write(bytes);
  for (const std::string_view text : strings_of(element_count(shape), bytes)) out.write(text);
}

void print_text(DType dtype, const std::vector<int64_t>& shape, std::string_view bytes, Sink& out) {
  const uint64_t elements = element_count(shape);
  if (dtype == DType::kString) {
    const auto strings = strings_of(elements, bytes);
    return print_nested(
        shape, elements, [&](uint64_t i) { return string_text(strings[i]); }, out);
  }
  const size_t width = dtype_width(dtype);
  if (width == 0) {
    throw Error(Cause::kRefused, "values of type " + dtype_name(dtype) + " have no text form").hint("-f raw");
  }
  print_nested(
      shape, elements, [&](uint64_t i) { return element_text(dtype, bytes.data() + i * width); }, out);
}

void print_npy(DType dtype, const std::vector<int64_t>& shape, std::string_view bytes, Sink& out) {
  std::string type;
  size_t longest = 0;
  std::vector<std::string_view> strings;
  const std::string name = dtype_name(dtype);
  switch (dtype) {
    case DType::kString:
      strings = strings_of(element_count(shape), bytes);
      for (const std::string_view text : strings) {
        if (text.ends_with('\0')) {
          throw Error(Cause::kRefused, "a string ends in a zero byte, which numpy drops")
              .hint("-f text or -f raw");
        }
        longest = std::max(longest, text.size());
      }
      type = "|S" + std::to_string(longest);
      break;
    case DType::kBool:
      type = "|b1";
      break;
    case DType::kBfloat16:
      type = "<V2";
      break;
    case DType::kHalf:
    case DType::kFloat:
    case DType::kDouble:
      type = "<f" + std::to_string(dtype_width(dtype));
      break;
    case DType::kComplex64:
    case DType::kComplex128:
      type = "<c" + std::to_string(dtype_width(dtype));
      break;
    default: {
      const size_t width = dtype_width(dtype);
      if (width == 0) throw Error(Cause::kRefused, "numpy has no type for " + name).hint("-f raw");
      const bool is_signed = name.starts_with("int") || name.starts_with("qint");
      const bool is_unsigned = name.starts_with("uint") || name.starts_with("quint");
      type = (width == 1 ? "|" : "<") +
             std::string(is_signed     ? "i"
                         : is_unsigned ? "u"
                                       : "V") +
             std::to_string(width);
    }
  }
  std::string dims;
  for (const int64_t size : shape) dims += std::to_string(size) + ", ";
  if (shape.size() > 1) dims.resize(dims.size() - 2);
  if (shape.size() == 1) dims.pop_back();
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + dims + "), }";
  constexpr size_t kBefore = 10;  // magic, version, length
  header.append(63 - (kBefore + header.size()) % 64, ' ');
  header += '\n';
  std::string head = "\x93NUMPY";
  head += {'\1', '\0', static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  out.write(head + header);
  if (dtype != DType::kString) return out.write(bytes);
  std::string padded;
  for (const std::string_view text : strings) {
    padded = text;
    padded.resize(longest, '\0');
    out.write(padded);
  }
}

}  // namespace gedit
