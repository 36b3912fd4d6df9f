// The collections of a MetaGraphDef (tensorflow/core/protobuf/meta_graph.proto, CollectionDef), and the table
// of those that TensorFlow knows: what they hold, and how they are treated.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/model.h"
#include "model/references.h"

namespace gedit {

namespace collection_kind {
constexpr uint32_t kNodeList = 1, kBytesList = 2, kInt64List = 3, kFloatList = 4, kAnyList = 5;
}

// Keys that mean something to gedit by themselves.
namespace collection_key {
constexpr std::string_view kVariables = "variables", kTrainableVariables = "trainable_variables",
                           kLocalVariables = "local_variables", kGlobalStep = "global_step",
                           kSavers = "savers", kSaveableObjects = "saveable_objects",
                           kMainOp = "saved_model_main_op", kLegacyInitOp = "legacy_init_op",
                           kInitOp = "init_op", kLocalInitOp = "local_init_op",
                           kTableInitializer = "table_initializer", kTrainOp = "train_op",
                           kAssets = "saved_model_assets", kAssetFilepaths = "asset_filepaths";
}

// How a collection is treated; several may be true.
namespace collection_trait {
constexpr uint8_t kOneItem = 1,  // a second would be refused or picked (docs/rules.md#one-item-collections)
    kRun = 2,                    // its operation is run: of several graphs' a new one runs all
    kLoaderRuns = 4;             // by who loads a SavedModel; the first such row that is there
}

// A row of the table.
struct CollectionRow {
  std::string_view key;
  const Schema* schema = nullptr;  // of the messages in its bytes_list, as TensorFlow registers them
                                   // (register_proto_function, docs/tensorflow.md#collections)
  uint8_t traits = 0;

  bool is(uint8_t trait) const { return (traits & trait) != 0; }
};

std::span<const CollectionRow> collection_table();
// Of a key that is not in the table a row that says nothing.
CollectionRow collection_row(std::string_view key);
inline bool holds_variables(std::string_view key) { return collection_row(key).schema == &kVariableDef; }

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

// What the items of these collections are. A VariableDef is known in a collection of the user's, too, by
// standing in a registered one.
class ItemSchemas {
 public:
  explicit ItemSchemas(const std::vector<Collection>& all);
  // Null for names, which are of kNodeList, and for what names nothing.
  const Schema* of(const Collection& collection, std::string_view item) const;

 private:
  std::unordered_set<std::string_view> variable_defs_;
};

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
