// Which nodes a copy takes: command_reference, copy, rules 1 to 6.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "edit/copy.h"
#include "graph/edges.h"
#include "graph/frames.h"
#include "graph/names.h"
#include "model/collections.h"
#include "model/saved_objects.h"
#include "model/savers.h"
#include "select/selection.h"
#include "select/tensors.h"

namespace gedit {

// A variable's own nodes by its VariableDefs.
struct VariableOf {
  NodeId node;
  std::vector<NodeId> satellites;  // initializer, snapshot, initial value
  NodeId initializer = kNoNode;
};

// What copying needs to know about the graph; built once, before anything changes.
struct CopyFacts {
  CopyFacts(Model& model, Registry& ops);

  Model& model;
  Registry& ops;
  Selecting selecting;
  const Names& names;
  const Edges& producers;
  Edges consumers;
  Frames frames;
  Savers savers;
  std::vector<Collection> all_collections;
  std::unordered_map<uint32_t, VariableOf> variables;      // by node, all variable nodes and tables
  std::unordered_map<uint32_t, NodeId> initializer_owner;  // an initializer -> its variable or table

  std::optional<SavedObjects> objects;                // of a TF2 SavedModel
  std::unordered_map<uint32_t, uint32_t> objects_of;  // node -> object, as object_nodes() gives it
  std::unordered_set<uint32_t> assets;                // nodes that the loader feeds with a file's path

  const Graph& graph() const { return model.graph(); }

 private:
  void find_objects();
  bool calls_initializer(std::string_view node_def);
  std::optional<std::unordered_set<std::string_view>> table_initializers_;  // functions
};

struct CopySelection {
  NodeSet nodes;
  std::unordered_set<TensorRef, TensorHash> cuts;                // of --inputs, and KEYs
  std::vector<TypedTensor> inputs;                               // as asked for
  std::unordered_map<TensorRef, TypedTensor, TensorHash> typed;  // stated types of cut tensors
  std::vector<std::pair<TensorRef, std::string>> input_map;      // KEY, VALUE as written (canonical name)
  NodeSet shared;
};

CopySelection select_for_copy(CopyFacts& facts, const CopyRequest& request);

// Whether `name` is the scope `scope` or lies under it.
bool in_scope(std::string_view name, std::string_view scope);

}  // namespace gedit
