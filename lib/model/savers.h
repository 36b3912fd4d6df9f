// The savers of a graph, found from their nodes: which variable is saved under which key, and how it is
// restored (docs/tensorflow.md#savers). SaverDef only names three of these nodes; a key is never guessed from
// a variable's name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "model/model.h"

namespace gedit {

// The strings of a Const node of DT_STRING: what string_val holds, the last one repeated up to the shape's
// size, and of them the first `most`. Nothing where the node is no such Const.
std::optional<std::vector<std::string>> string_const(std::string_view node_def, size_t most = SIZE_MAX);
// The AttrValue `value` of a Const of these strings: a vector, or the scalar of the only one.
std::string strings_value(const std::vector<std::string>& strings, bool scalar = false);
// A Const like `node_def` that holds these strings: as a vector, one string in place of a scalar as a scalar.
std::string with_strings(std::string_view node_def, const std::vector<std::string>& strings);

// A tensor that a Save, SaveSlices or SaveV2 node writes.
struct SavedTensor {
  uint32_t slot;           // among the tensors, from 0
  std::string key, slice;  // entries of tensor_names, shape_and_slices ("": whole)
  NodeId variable;         // whose value it is; kNoNode for what is no variable (a table's values)
  std::vector<NodeId>
      between;  // reads on the way from the variable to the Save node, nearest to the variable first
};

struct SaveNode {
  NodeId node;
  NodeId names = kNoNode, slices = kNoNode;  // the Consts; kNoNode where the op has none or it is no Const
  uint32_t first_tensor = 2;                 // input slot of the first saved tensor
  std::vector<SavedTensor> tensors;          // empty where the names are no Const
  bool readable() const { return names != kNoNode; }
};

// A tensor that a Restore, RestoreSlice or RestoreV2 node reads, and the assignment that it ends in.
struct RestoredTensor {
  uint32_t output;
  std::string key, slice;
  NodeId variable;              // kNoNode: assigned to no variable
  std::vector<NodeId> between;  // from the reader of the output to the Assign, which is the last
};

struct RestoreNode {
  NodeId node;
  NodeId names = kNoNode, slices = kNoNode;
  std::vector<RestoredTensor> tensors;
};

struct Savers {
  std::vector<SaveNode> saves;
  std::vector<RestoreNode> restores;

  bool empty() const { return saves.empty() && restores.empty(); }
};

// By variable, the key under which it is saved, else restored. Views into `savers`.
std::unordered_map<uint32_t, std::string_view> variable_keys(const Savers& savers);

Savers find_savers(const Graph& graph, const Names& names, const Edges& consumers);
// Nodes that the MetaGraph's VariableDefs name as initializers.
std::unordered_set<uint32_t> variable_initializers(const MetaGraph& meta, const Names& names);
// The savers without restores that end in one of these: they give variables their initial values from other
// checkpoints (tf.train.init_from_checkpoint).
Savers find_savers(const Graph& graph, const Names& names, const Edges& consumers,
                   const std::unordered_set<uint32_t>& initializers);
// The same where somebody found the nodes that save or restore already.
Savers find_savers(const Graph& graph, const Names& names, const Edges& consumers,
                   const std::unordered_set<uint32_t>& initializers, const std::vector<NodeId>& nodes);

// The variable node that `input` reads the value of: through Identity, ReadVariableOp and casts of reference;
// kNoNode where it comes from something else. `between` gains the nodes on the way, nearest to the variable
// first.
NodeId variable_behind(const Graph& graph, const Names& names, std::string_view input,
                       std::vector<NodeId>* between = nullptr);
// The same for a variable or a table; of a table what is passed, or its contents by a LookupTableExport.
NodeId state_behind(const Graph& graph, const Names& names, std::string_view input,
                    std::vector<NodeId>* between = nullptr);

}  // namespace gedit
