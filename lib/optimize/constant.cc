#include "optimize/constant.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/size.h"
#include "fold/const_tensor.h"
#include "graph/node.h"
#include "graph/tensor_layout.h"
#include "graph/types.h"
#include "optimize/flow.h"

namespace gedit::optimizing {
namespace {

constexpr size_t kMostSplatBytes = 1U << 16;  // longer contents are not looked at
constexpr uint32_t kDtypeField = 1, kShapeField = 2, kContentField = 4;

// Bits of the elements that a TensorProto lists, little-endian; nothing for a type that is not read.
std::optional<std::string> listed(std::string_view proto, const TensorLayout& layout) {
  std::string bytes;
  const auto add = [&](uint64_t bits) { bytes.append(reinterpret_cast<const char*>(&bits), layout.width); };
  for (Fields fields(proto); fields.next();) {
    if (fields->number != layout.field) continue;
    if (fields->value.size() > kMostSplatBytes) return std::nullopt;
    if (tensor_wire(layout.field) == Wire::kVarint) {
      each_varint(fields.field(), add);
    } else {
      bytes.append(fields->value);
    }
  }
  return bytes;
}

double number_of(Element element, uint64_t bits, size_t width) {
  switch (element) {
    case Element::kFloat32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case Element::kFloat64:
      return std::bit_cast<double>(bits);
    case Element::kBfloat16:
      return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    case Element::kHalf: {
      const uint64_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
      const double sign = (bits & 0x8000) != 0 ? -1 : 1;
      if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
      if (exponent == 0) return sign * std::ldexp(static_cast<double>(mantissa), -24);
      return sign * std::ldexp(static_cast<double>(mantissa + 1024), static_cast<int>(exponent) - 25);
    }
    case Element::kInt: {
      const int shift = static_cast<int>(64 - 8 * width);
      return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
    }
    default:
      return static_cast<double>(bits);
  }
}

}  // namespace

std::string fault_of_value(std::string_view proto) {
  const auto type = static_cast<DType>(static_cast<int32_t>(last_varint(proto, kDtypeField)));
  const TensorLayout layout = tensor_layout(type);
  const Shape shape = parse_shape_proto(last_bytes(proto, kShapeField));
  const auto is_unknown = [](int64_t size) { return size < 0; };
  if (!shape || std::ranges::any_of(*shape, is_unknown)) return "its shape is not known in full";
  const std::optional<uint64_t> count = folding::elements_of(*shape);
  const size_t width = std::max<size_t>(dtype_width(type), layout.width);  // two numbers, of a complex one
  uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, std::max<size_t>(width, 1), &bytes) || bytes > INT64_MAX)
    return "no memory holds as many elements";
  const std::string_view content = last_bytes(proto, kContentField);
  if (!content.empty()) {
    if (width == 0) return dtype_name(type) + " has no bytes to give";
    return content.size() == bytes ? std::string()
                                   : "its shape takes " + counted(bytes, "byte") + ", and " +
                                         std::to_string(content.size()) + " are given";
  }
  const size_t bits = 8 * layout.width;
  const bool is_signed = layout.element == Element::kInt;
  uint64_t listed = 0;
  bool fits = true, whole = true;
  for (Fields fields(proto); fields.next();) {
    if (fields->number != layout.field) continue;
    if (layout.element == Element::kString || tensor_wire(layout.field) != Wire::kVarint) {
      listed += width == 0 ? 1 : fields->value.size() / width;
      whole = whole && (width == 0 || fields->value.size() % width == 0);
      continue;
    }
    each_varint(fields.field(), [&](uint64_t number) {
      ++listed;
      const auto value = static_cast<int64_t>(number);
      if (is_signed && bits < 64) fits = fits && value >> (bits - 1) == value >> 63;
      if (layout.element == Element::kUint && bits < 64) fits = fits && number >> bits == 0;
    });
  }
  if (!whole) return "a complex number has two parts";
  if (!fits) return "a number is out of the range of " + dtype_name(type);
  if (listed > *count)
    return "its shape takes " + counted(*count, "element") + ", and " + std::to_string(listed) + " are given";
  return {};
}

std::string_view tensor_of(std::string_view const_def) {
  const auto value = find_attr(const_def, "value");
  return value ? last_bytes(*value, attr_field::kTensor) : std::string_view();
}

std::optional<Splat> splat_of(std::string_view const_def) {
  return find_attr(const_def, "value") ? splat_of_tensor(tensor_of(const_def)) : std::nullopt;
}

std::optional<Splat> splat_of_tensor(std::string_view proto) {
  Splat splat;
  splat.dtype = static_cast<DType>(static_cast<int32_t>(last_varint(proto, kDtypeField)));
  const TensorLayout layout = tensor_layout(splat.dtype);
  const Shape shape = parse_shape_proto(last_bytes(proto, kShapeField));
  const auto type = static_cast<int32_t>(splat.dtype);
  const bool is_number = layout.element != Element::kNone && layout.element != Element::kString &&
                         layout.width > 0 && splat.dtype != DType::kComplex64 &&
                         splat.dtype != DType::kComplex128 && type <= 23;
  if (!shape || !is_number) return std::nullopt;
  uint64_t count = 1;
  for (const int64_t size : *shape) {
    if (size < 1 || __builtin_mul_overflow(count, static_cast<uint64_t>(size), &count)) return std::nullopt;
  }
  splat.shape = *shape;
  std::string_view bytes = last_bytes(proto, kContentField);
  std::string list;
  if (!bytes.empty()) {
    if (bytes.size() > kMostSplatBytes || bytes.size() != count * layout.width) return std::nullopt;
  } else {
    std::optional<std::string> found = listed(proto, layout);
    if (!found || found->size() % layout.width != 0 || found->size() / layout.width > count)
      return std::nullopt;
    list = found->empty() ? std::string(layout.width, '\0') : std::move(*found);
    bytes = list;
  }
  for (size_t at = layout.width; at < bytes.size(); at += layout.width) {
    if (std::memcmp(bytes.data(), bytes.data() + at, layout.width) != 0) return std::nullopt;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), layout.width);
  splat.number = number_of(layout.element, bits, layout.width);
  splat.negative_zero = splat.number == 0 && std::signbit(splat.number);
  return splat;
}

std::optional<int64_t> scalar_of(std::string_view const_def) {
  const std::optional<Splat> splat = splat_of(const_def);
  if (!splat || !splat->shape.empty()) return std::nullopt;
  switch (splat->dtype) {
    case DType::kBool:
    case DType::kInt32:
      return static_cast<int64_t>(splat->number);
    default:
      return std::nullopt;
  }
}

ConstFacts const_facts(std::string_view const_def) {
  ConstFacts facts;
  const auto value = find_attr(const_def, "value");
  if (!value) return facts;
  const std::string_view proto = last_bytes(*value, attr_field::kTensor);
  const std::optional<Splat> splat = splat_of_tensor(proto);
  if (!splat) {
    const Shape shape = parse_shape_proto(last_bytes(proto, kShapeField));
    facts.scalar = shape && shape->empty();
    return facts;
  }
  facts.scalar = splat->shape.empty();
  facts.ones = splat->number == 1;
  facts.zeros = splat->number == 0 && !splat->negative_zero;
  facts.negative_zeros = splat->negative_zero;
  const bool is_truth = splat->dtype == DType::kBool || splat->dtype == DType::kInt32;
  if (!is_truth || !facts.scalar || type_attr(const_def, "dtype") != DType::kBool) return facts;
  facts.truth_known = true;
  facts.truth = static_cast<int64_t>(splat->number) != 0;
  return facts;
}

}  // namespace gedit::optimizing
