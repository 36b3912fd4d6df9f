// The collections of a MetaGraphDef (tensorflow/core/protobuf/meta_graph.proto, CollectionDef).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "model/references.h"

namespace gedit {

namespace collection_kind {
constexpr uint32_t kNodeList = 1, kBytesList = 2, kInt64List = 3, kFloatList = 4, kAnyList = 5;
}

// One collection. Items are names of nodes or tensors (kNodeList), bytes (kBytesList), serialized Any
// messages (kAnyList); numbers are only counted.
struct Collection {
  std::string_view key;
  uint32_t kind = 0;  // 0: none set
  std::vector<std::string_view> items;
  size_t numbers = 0;
  std::string_view entry;  // the map entry as it stands
};

std::vector<Collection> collections(const MetaGraph& meta);

// The map entry of a collection of names, bytes or Any messages.
std::string collection_entry(std::string_view key, uint32_t kind, const std::vector<std::string>& items);

// A file that the loader hands to a tensor: of asset_file_def, or where there is none of collection
// saved_model_assets, where TensorFlow kept them before 1.12 (docs/tensorflow.md#assets).
struct Asset {
  std::string_view tensor, file;
};
std::vector<Asset> assets(const MetaGraph& meta);

// A VariableDef's names (tensorflow/core/framework/variable.proto), views into it; tensors as stored, with
// `:0`.
struct VariableNames {
  std::string_view variable, initializer, snapshot, initial_value;
};
VariableNames variable_names(std::string_view variable_def);

// The node of a name as it stands in a collection, a saver, a signature: `x:0`, `x`, `^x` are node x.
inline std::string_view node_of(std::string_view name) { return parse_input(name).node; }

}  // namespace gedit
