#include "graph/colocation.h"

#include <cstddef>

#include "base/parallel.h"
#include "graph/node.h"

namespace gedit {

bool may_have_class(std::string_view node_def) {
  constexpr std::string_view kClass = "\x0a\x06_class";
  const char* at = node_def.data();
  const char* const end = at + node_def.size();
  const auto byte = [&](ptrdiff_t i) { return size_t{static_cast<unsigned char>(at[i])}; };
  while (end - at >= 3) {
    const size_t tag = byte(0), length = byte(1) < 0x80 ? byte(1) : (byte(1) & 0x7f) | byte(2) << 7;
    if ((tag & 0x87) != 2 || (byte(1) >= 0x80 && byte(2) >= 0x80)) break;
    at += byte(1) < 0x80 ? 2 : 3;
    if (length > static_cast<size_t>(end - at)) break;
    if (tag == (node_field::kAttr << 3 | 2)) {
      // A short key, and a value that ends the entry.
      if (length < 4 || byte(0) != 0x0a || byte(1) + 4 > length) break;
      const auto value = static_cast<ptrdiff_t>(2 + byte(1));
      const size_t size = byte(value + 1);
      const bool is_short = size < 0x80 && static_cast<size_t>(value) + 2 + size == length;
      const bool is_long = size >= 0x80 && static_cast<size_t>(value) + 3 <= length &&
                           byte(value + 2) < 0x80 &&
                           static_cast<size_t>(value) + 3 + ((size & 0x7f) | byte(value + 2) << 7) == length;
      if (byte(value) != 0x12 || !(is_short || is_long)) break;
      if (std::string_view(at, length).starts_with(kClass)) break;
    }
    at += length;
  }
  return at != end;
}

std::optional<std::string> without_colocations(std::string_view node_def,
                                               const std::function<bool(std::string_view)>& goes) {
  if (!may_have_class(node_def)) return std::nullopt;
  const auto value = find_attr(node_def, "_class");
  if (!value) return std::nullopt;
  std::vector<std::string> left;
  bool any_goes = false;
  for (Fields list(last_bytes(*value, attr_field::kList)); list.next();) {
    if (!list->bytes(attr_field::kString)) continue;
    const auto node = colocated_with(list->value);
    if (node && goes(*node)) {
      any_goes = true;
    } else {
      left.emplace_back(list->value);
    }
  }
  if (!any_goes) return std::nullopt;
  std::optional<std::string> list;
  if (!left.empty()) list = string_list_value(left);
  return with_attr(node_def, "_class", list);
}

std::vector<std::pair<uint32_t, std::string>> shrunk_colocations(
    uint32_t count, const std::function<std::string_view(uint32_t)>& node_def,
    const std::function<bool(std::string_view)>& goes) {
  return found_in_pieces(count, [&](PieceRange nodes) {
    std::vector<std::pair<uint32_t, std::string>> shrunk;
    for (uint32_t n = nodes.begin; n < nodes.end; ++n) {
      if (auto left = without_colocations(node_def(n), goes)) shrunk.emplace_back(n, std::move(*left));
    }
    return shrunk;
  });
}

}  // namespace gedit
