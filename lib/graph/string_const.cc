#include "graph/string_const.h"

#include <algorithm>

#include "graph/node.h"
#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// A hostile shape must not become memory: strings that are there, and those that repeat the last one.
constexpr size_t kMostStrings = 50'000'000, kMostRepeated = 100'000;

}  // namespace

std::optional<std::vector<std::string>> string_const(std::string_view node_def, size_t most) {
  if (!is_const_op(node_op(node_def))) return std::nullopt;
  const auto value = find_attr(node_def, "value");
  if (!value) return std::nullopt;
  const std::string_view tensor = last_bytes(*value, attr_field::kTensor);
  if (static_cast<DType>(last_varint(tensor, 1)) != DType::kString) return std::nullopt;
  const Shape shape = parse_shape_proto(last_bytes(tensor, 2));
  if (!shape) return std::nullopt;
  size_t count = 1;
  for (const int64_t size : *shape) {
    if (size < 0 || static_cast<size_t>(size) > kMostStrings ||
        (count *= static_cast<size_t>(size)) > kMostStrings)
      return std::nullopt;
  }
  count = std::min(count, most);
  std::vector<std::string> strings;
  for (Fields fields(tensor); strings.size() < count && fields.next();) {
    if (fields->bytes(8)) strings.emplace_back(fields->value);
  }
  if (count - strings.size() > kMostRepeated) return std::nullopt;
  const std::string last =
      strings.empty() ? "" : strings.back();  // fewer values than elements: the last one repeats
  strings.resize(count, last);
  return strings;
}

std::string strings_value(const std::vector<std::string>& strings, bool scalar) {
  std::string tensor;
  append_varint_field(tensor, 1, static_cast<uint64_t>(DType::kString));
  append_bytes_field(tensor, 2,
                     scalar ? "" : shape_proto(std::vector<int64_t>{static_cast<int64_t>(strings.size())}));
  for (const std::string& text : strings) append_bytes_field(tensor, 8, text);
  return tensor_value(tensor);
}

std::string with_strings(std::string_view node_def, const std::vector<std::string>& strings) {
  // A scalar stays one: Restore and RestoreSlice take one name, not a list of one.
  const std::string_view before = last_bytes(find_attr(node_def, "value").value_or(""), attr_field::kTensor);
  const Shape shape = parse_shape_proto(last_bytes(before, 2));
  const bool scalar = strings.size() == 1 && shape && shape->empty();
  std::string result = with_attr(node_def, "value", strings_value(strings, scalar));
  if (string_const(node_def).value_or(strings).size() != strings.size() &&
      find_attr(node_def, "_output_shapes"))
    result = with_attr(result, "_output_shapes", std::nullopt);
  return result;
}

}  // namespace gedit
