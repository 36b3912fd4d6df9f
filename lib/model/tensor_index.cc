#include "model/tensor_index.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/wire.h"

namespace gedit {

void TensorIndex::add(Kind kind, std::string_view message) {
  if (kind == Kind::kGraphDef) return add_graph(message);
  const bool meta_graph = kind == Kind::kMetaGraphDef;
  for (Fields fields(message); fields.next();) {
    if (!fields->bytes(2)) continue;  // MetaGraphDef.graph_def, SavedModel.meta_graphs
    if (meta_graph) {
      add_graph(fields->value);
    } else {
      add(Kind::kMetaGraphDef, fields->value);
    }
  }
}

void TensorIndex::add_graph(std::string_view graph) {
  for (Fields fields(graph); fields.next();) {
    if (fields->bytes(1)) add_node(fields->value);
    if (!fields->bytes(2)) continue;
    for (Fields library(fields->value); library.next();) {
      if (!library->bytes(1)) continue;
      add_attrs(library->value, 5, 0);
      for (Fields function(library->value); function.next();) {
        if (function->bytes(3)) add_node(function->value);
      }
    }
  }
}

void TensorIndex::add_node(std::string_view node) { add_attrs(node, 5, 0); }

void TensorIndex::add_attrs(std::string_view message, uint32_t field, int depth) {
  for (Fields fields(message); fields.next();) {
    if (fields->bytes(field)) add_value(map_entry(fields->value).value, depth);
  }
}

void TensorIndex::add_value(std::string_view value, int depth) {
  if (depth > kDeepestValue) return;  // printed as raw bytes, never elided
  for (Fields fields(value); fields.next();) {
    if (fields->bytes(8)) add_tensor(fields->value);
    if (fields->bytes(10)) add_attrs(fields->value, 2, depth + 1);
    if (!fields->bytes(1)) continue;
    for (Fields list(fields->value); list.next();) {
      if (list->bytes(8)) add_tensor(list->value);
      if (list->bytes(9)) add_attrs(list->value, 2, depth + 2);
    }
  }
}

void TensorIndex::add_tensor(std::string_view tensor) {
  if (tensor.size() <= kMostElements) return;
  std::string store;
  std::optional<TensorData> data = tensor_data(tensor, store);
  if (!data || data->bytes.size() <= kMostElements) return;  // an element takes at least one byte
  if (!store.empty()) data->bytes = kept_.emplace_back(std::move(store));
  const auto type = static_cast<DType>(static_cast<int32_t>(last_varint(tensor, 1)));
  const auto known = by_crc32c_.equal_range(crc32c(data->bytes));
  const bool again = std::any_of(known.first, known.second, [&](const auto& entry) {
    const Found& found = entry.second;
    return found.type == type && found.data.field == data->field && found.data.bytes == data->bytes;
  });
  if (!again) by_crc32c_.emplace(crc32c(data->bytes), Found{type, *data});
}

std::optional<TensorData> TensorIndex::find(DType type, uint64_t length, uint32_t crc32c) const {
  const auto [begin, end] = by_crc32c_.equal_range(crc32c);
  for (auto entry = begin; entry != end; ++entry) {
    const Found& found = entry->second;
    if (found.type == type && found.data.bytes.size() == length) return found.data;
  }
  return std::nullopt;
}

}  // namespace gedit
