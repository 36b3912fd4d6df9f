#include "message/json_value.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/base64.h"
#include "base/number.h"
#include "message/fields.h"
#include "message/float_text.h"
#include "message/json_tokens.h"

namespace gedit {
namespace {

// A whole number, also one with a point or an exponent, as 1e3, unless it stands in quotes.
template <typename Number>
std::optional<uint64_t> whole_number(std::string_view text, bool quoted) {
  const auto on_the_wire = [](Number number) { return static_cast<uint64_t>(int64_t(number)); };
  if (const auto number = read_number<Number>(text)) return on_the_wire(*number);
  if (quoted || !is_json_number(text)) return std::nullopt;
  const double value = read_double(text);
  // What is past the last number is exact, as a power of two; the last one of 64 bits is not.
  const double past = std::ldexp(1.0, std::numeric_limits<Number>::digits);
  const double least = std::numeric_limits<Number>::is_signed ? -past : 0.0;
  if (!(value >= least && value < past) || value != std::trunc(value)) return std::nullopt;
  return on_the_wire(static_cast<Number>(value));
}

std::optional<double> float_number(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (!is_json_number(text)) return std::nullopt;
  const double value = read_double(text);
  if (std::isinf(value)) return std::nullopt;
  return value;
}

std::optional<float> small_float_number(std::string_view text) {
  const std::optional<double> value = float_number(text);
  if (!value || std::isnan(*value) || std::isinf(*value)) return value;
  constexpr double kPastLast = 0x1.ffffffp127;  // what is nearer to the largest float is read as that
  if (std::fabs(*value) >= kPastLast) return std::nullopt;
  return static_cast<float>(*value);
}

template <typename Bits, typename Float>
std::optional<uint64_t> bits_of(const std::optional<Float>& value) {
  if (!value) return std::nullopt;
  return std::bit_cast<Bits>(*value);
}

std::optional<uint64_t> zigzagged(std::optional<uint64_t> number) {
  if (!number) return std::nullopt;
  return zigzag(static_cast<int64_t>(*number));
}

// A number without a name is one of a release that is not known; in quotes it is a name that is none.
std::optional<uint64_t> enum_number(const EnumType& type, std::string_view text, bool quoted) {
  if (const auto named = type.number_of(text)) return static_cast<uint64_t>(int64_t{*named});
  const std::optional<uint64_t> number = whole_number<int32_t>(text, quoted);
  if (number && quoted && type.name_of(static_cast<int32_t>(*number)) == nullptr) return std::nullopt;
  return number;
}

}  // namespace

std::optional<uint64_t> number_from_json(const MessageField& field, std::string_view text, bool quoted) {
  switch (field.type) {
    case FieldType::kDouble:
      return bits_of<uint64_t>(float_number(text));
    case FieldType::kFloat:
      return bits_of<uint32_t>(small_float_number(text));
    case FieldType::kBool:
      if (text == "true") return 1;
      if (text == "false") return 0;
      return std::nullopt;
    case FieldType::kEnum:
      return enum_number(*field.enumeration, text, quoted);
    case FieldType::kInt32:
    case FieldType::kSfixed32:
      return whole_number<int32_t>(text, quoted);
    case FieldType::kUint32:
    case FieldType::kFixed32:
      return whole_number<uint32_t>(text, quoted);
    case FieldType::kUint64:
    case FieldType::kFixed64:
      return whole_number<uint64_t>(text, quoted);
    case FieldType::kSint32:
      return zigzagged(whole_number<int32_t>(text, quoted));
    case FieldType::kSint64:
      return zigzagged(whole_number<int64_t>(text, quoted));
    default:
      return whole_number<int64_t>(text, quoted);
  }
}

std::optional<std::string> bytes_from_json(std::string_view text) {
  std::string plain(text);
  bool of_urls = false, usual = false;  // the two alphabets
  for (char& c : plain) {
    of_urls = of_urls || c == '-' || c == '_';
    usual = usual || c == '+' || c == '/';
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  if (of_urls && usual) return std::nullopt;
  if (plain.find('=') == std::string::npos) plain.append((4 - plain.size() % 4) % 4, '=');
  std::optional<std::string> bytes = decode_base64(plain);
  if (!bytes || bytes->empty()) return bytes;
  std::string last;
  append_base64(last, std::string_view(*bytes).substr((bytes->size() - 1) / 3 * 3));
  if (!plain.ends_with(last)) return std::nullopt;  // bits that are no byte's
  return bytes;
}

std::string_view kind_in_json(const MessageField& field) {
  switch (field.type) {
    case FieldType::kDouble:
      return "a double";
    case FieldType::kFloat:
      return "a float";
    case FieldType::kBool:
      return "true or false";
    case FieldType::kString:
      return "a string";
    case FieldType::kBytes:
      return "bytes in base64";
    case FieldType::kEnum:
      return field.enumeration->full_name;
    case FieldType::kInt32:
    case FieldType::kSint32:
    case FieldType::kSfixed32:
      return "an int32";
    case FieldType::kUint32:
    case FieldType::kFixed32:
      return "a uint32";
    case FieldType::kUint64:
    case FieldType::kFixed64:
      return "a uint64";
    default:
      return "an int64";
  }
}

}  // namespace gedit
