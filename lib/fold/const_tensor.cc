#include "fold/const_tensor.h"

#include <algorithm>
#include <utility>

#include "base/packed.h"
#include "graph/node.h"
#include "graph/tensor_layout.h"
#include "graph/types.h"

namespace gedit::folding {
namespace {

constexpr uint32_t kDtypeOfProto = 1, kShapeOfProto = 2, kContentOfProto = 4;  // TensorProto
constexpr uint64_t kMostElementsOfShape = uint64_t{1} << 62;

// What a TensorProto says, taken apart.
struct ProtoParts {
  DType dtype = DType::kInvalid;
  std::string_view content;
  std::vector<int64_t> shape;
  bool sound = true;
};

ProtoParts parts_of(std::string_view proto) {
  ProtoParts parts;
  std::string_view shape;
  int shapes = 0;
  for (Fields fields(proto); fields.next();) {
    if (fields->number == kDtypeOfProto && fields->wire == Wire::kVarint)
      parts.dtype = static_cast<DType>(static_cast<int32_t>(fields->varint));
    if (fields->bytes(kContentOfProto)) parts.content = fields->value;
    if (!fields->bytes(kShapeOfProto)) continue;
    shape = fields->value;
    ++shapes;
  }
  Shape sizes = parse_shape_proto(shape);
  parts.sound = shapes <= 1 && sizes && holds_values_of(parts.dtype);
  if (sizes) parts.shape = std::move(*sizes);
  return parts;
}

std::optional<ConstTensor> parse_strings(std::string_view proto, ProtoParts parts, uint64_t count,
                                         std::shared_ptr<const void> owner) {
  if (!parts.content.empty()) return std::nullopt;
  auto strings = std::make_shared<ConstTensor::Strings>();
  for (Fields fields(proto); fields.next();) {
    if (fields->bytes(TensorLayout::kStringField) && strings->size() < count)
      strings->push_back(fields->value);
  }
  if (strings->empty() && count > 0) strings->emplace_back();
  return ConstTensor(std::move(parts.shape), std::move(strings), std::move(owner));
}

// The numbers of the dtype's list as elements; a view of them where they lie as elements do.
std::optional<ConstTensor> parse_list(std::string_view proto, ProtoParts parts, uint64_t count,
                                      std::shared_ptr<const void> owner) {
  const TensorLayout layout = tensor_layout(parts.dtype);
  const size_t width = dtype_width(parts.dtype);
  const Wire wire = tensor_wire(layout.field);
  std::string_view only;
  size_t runs = 0;
  for (Fields fields(proto); fields.next();) {
    if (fields->number != layout.field) continue;
    ++runs;
    only = fields->value;
    if (fields->wire != Wire::kBytes && fields->wire != wire) return std::nullopt;
  }
  std::string held;
  if (runs == 1 && wire != Wire::kVarint) {
    only = only.substr(0, std::min<uint64_t>(only.size() / width, count) * width);
    if (!only.empty()) return ConstTensor(parts.dtype, std::move(parts.shape), only, std::move(owner));
  }
  const auto add = [&](uint64_t number) {
    append_little_endian(held, parts.dtype == DType::kBool ? (number != 0 ? 1 : 0) : number, layout.width);
  };
  for (Fields fields(proto); fields.next();) {
    if (fields->number != layout.field) continue;
    if (fields->wire == Wire::kVarint) {
      add(fields->varint);
    } else if (fields->wire != Wire::kBytes) {
      held += fields->value;
    } else {
      for (Packed numbers(fields->value, wire); numbers.next();) add(numbers.value());
    }
  }
  held.resize(std::min<uint64_t>(held.size() / width, count) * width);
  if (held.empty()) held.assign(width, '\0');
  return ConstTensor::owning(parts.dtype, std::move(parts.shape), std::move(held));
}

// The elements that are held, in the list of the dtype.
std::string list_of(const ConstTensor& value) {
  const TensorLayout layout = tensor_layout(value.dtype());
  if (tensor_wire(layout.field) != Wire::kVarint) return std::string(value.bytes());
  std::string packed;
  for (Packed numbers(value.bytes(), value.width()); numbers.next();) {
    uint64_t number = numbers.value();
    const size_t bits = value.width() * 8;
    if (layout.element == Element::kInt && bits < 64 && (number >> (bits - 1) & 1) != 0)
      number |= ~uint64_t{0} << bits;
    append_varint(packed, number);
  }
  return packed;
}

uint64_t list_size(const ConstTensor& value) {
  return tensor_wire(tensor_layout(value.dtype()).field) != Wire::kVarint ? value.bytes().size()
                                                                          : list_of(value).size();
}

// Whether the list is the shorter form of a value without repetitions at its end. The size of a list of
// varints is at least the number of elements.
bool goes_to_list(const ConstTensor& value) {
  if (value.is_splat()) return true;
  const uint64_t content = value.count() * value.width();
  return value.held() * 2 < content && value.held() < value.count() && list_size(value) * 2 < content;
}

std::string proto_head(const ConstTensor& value) {
  std::string head;
  append_varint_field(head, kDtypeOfProto, static_cast<uint64_t>(static_cast<int32_t>(value.dtype())));
  append_bytes_field(head, kShapeOfProto, shape_proto(value.shape()));
  return head;
}

}  // namespace

bool holds_values_of(DType dtype) {
  const auto number = static_cast<int32_t>(dtype);
  return number >= 1 && number <= 23 && dtype != DType::kResource && dtype != DType::kVariant;
}

std::optional<uint64_t> elements_of(const std::vector<int64_t>& shape) {
  uint64_t count = 1, of_others = 1;  // a zero must not hide that the others overflow
  for (const int64_t size : shape) {
    if (size < 0) return std::nullopt;
    count *= static_cast<uint64_t>(size);
    if (size == 0) continue;
    if (__builtin_mul_overflow(of_others, static_cast<uint64_t>(size), &of_others) ||
        of_others >= kMostElementsOfShape) {
      return std::nullopt;
    }
  }
  return count;
}

ConstTensor::ConstTensor(DType dtype, std::vector<int64_t> shape, std::string_view held,
                         std::shared_ptr<const void> owner)
    : dtype_(dtype),
      shape_(std::move(shape)),
      count_(elements_of(shape_).value_or(0)),
      width_(dtype_width(dtype)),
      bytes_(held),
      owner_(std::move(owner)) {
  held_ = bytes_.size() / width_;
}

ConstTensor::ConstTensor(std::vector<int64_t> shape, std::shared_ptr<const Strings> held,
                         std::shared_ptr<const void> owner)
    : dtype_(DType::kString),
      shape_(std::move(shape)),
      count_(elements_of(shape_).value_or(0)),
      held_(held->size()),
      strings_(std::move(held)),
      owner_(std::move(owner)) {}

ConstTensor ConstTensor::owning(DType dtype, std::vector<int64_t> shape, std::string held) {
  auto owner = std::make_shared<const std::string>(std::move(held));
  const std::string_view bytes = *owner;
  return ConstTensor(dtype, std::move(shape), bytes, std::move(owner));
}

ConstTensor ConstTensor::reshaped(std::vector<int64_t> shape) const {
  ConstTensor other = *this;
  other.shape_ = std::move(shape);
  other.count_ = elements_of(other.shape_).value_or(0);
  return other;
}

ConstTensor ConstTensor::shortened() const {
  ConstTensor other = *this;
  while (other.held_ >= 2 && other.element(other.held_ - 1) == other.element(other.held_ - 2)) --other.held_;
  if (other.held_ == held_) return other;
  if (strings_ == nullptr) {
    other.bytes_ = bytes_.substr(0, other.held_ * width_);
  } else {
    other.strings_ = std::make_shared<const Strings>(strings_->begin(),
                                                     strings_->begin() + static_cast<ptrdiff_t>(other.held_));
  }
  return other;
}

std::optional<ConstTensor> parse_tensor(std::string_view tensor_proto, std::shared_ptr<const void> owner) {
  ProtoParts parts = parts_of(tensor_proto);
  const std::optional<uint64_t> count = parts.sound ? elements_of(parts.shape) : std::nullopt;
  if (!count) return std::nullopt;
  if (parts.dtype == DType::kString)
    return parse_strings(tensor_proto, std::move(parts), *count, std::move(owner));
  const size_t width = dtype_width(parts.dtype);
  if (*count == 0) return ConstTensor(parts.dtype, std::move(parts.shape), {}, nullptr);
  if (parts.content.empty()) return parse_list(tensor_proto, std::move(parts), *count, std::move(owner));
  uint64_t size = 0;
  if (__builtin_mul_overflow(*count, width, &size) || size != parts.content.size()) return std::nullopt;
  if (parts.dtype == DType::kBool &&
      std::any_of(parts.content.begin(), parts.content.end(), [](char c) { return c != 0 && c != 1; })) {
    return std::nullopt;
  }
  return ConstTensor(parts.dtype, std::move(parts.shape), parts.content, std::move(owner));
}

std::optional<ConstTensor> const_value(std::string_view node_def, std::shared_ptr<const void> owner) {
  if (node_op(node_def) != "Const") return std::nullopt;
  const auto attr = find_attr(node_def, "value");
  if (!attr || !has_field(*attr, attr_field::kTensor)) return std::nullopt;
  std::optional<ConstTensor> value = parse_tensor(last_bytes(*attr, attr_field::kTensor), std::move(owner));
  if (value && type_attr(node_def, "dtype") != value->dtype()) return std::nullopt;
  return value;
}

std::string tensor_proto_of(const ConstTensor& whole) {
  const ConstTensor value = whole.shortened();
  std::string proto = proto_head(value);
  if (value.count() == 0) return proto;
  if (value.dtype() == DType::kString) {
    for (const std::string_view text : *value.strings())
      append_bytes_field(proto, TensorLayout::kStringField, text);
  } else if (goes_to_list(value)) {
    append_bytes_field(proto, tensor_layout(value.dtype()).field, list_of(value));
  } else {
    const uint64_t size = value.count() * value.width();
    append_tag(proto, kContentOfProto, Wire::kBytes);
    append_varint(proto, size);
    proto.reserve(proto.size() + size);
    proto += value.bytes();
    for (uint64_t i = value.held(); i < value.count(); ++i) proto += value.element(i);
  }
  return proto;
}

uint64_t tensor_proto_size(const ConstTensor& whole) {
  const ConstTensor value = whole.shortened();
  const auto field_size = [](uint64_t bytes) { return 1 + varint_size(bytes) + bytes; };
  uint64_t size = proto_head(value).size();
  if (value.count() == 0) return size;
  if (value.dtype() == DType::kString) {
    for (const std::string_view text : *value.strings()) size += field_size(text.size());
    return size;
  }
  if (!goes_to_list(value)) return size + field_size(value.count() * value.width());
  const uint64_t list = list_size(value);
  const uint64_t tag = varint_size(uint64_t{tensor_layout(value.dtype()).field} << 3);
  return size + tag + varint_size(list) + list;
}

std::string const_node(std::string_view node_def, const ConstTensor& value) {
  NodeBuilder node(node_name(node_def), "Const");
  each_input(node_def, [&](std::string_view input) {
    if (input.starts_with('^')) node.input(input);
  });
  node.device(node_device(node_def));
  if (const auto colocation = find_attr(node_def, "_class")) node.attr("_class", *colocation);
  node.type("dtype", value.dtype());
  node.attr("value", tensor_value(tensor_proto_of(value)));
  return node.take();
}

}  // namespace gedit::folding
