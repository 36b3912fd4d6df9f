// Savers, found from their nodes in a graph or in the body of a function: which variable is saved under which
// key, and how it is restored (docs/tensorflow.md#savers). A SaverDef only names three nodes of a graph; a
// key is never guessed from a variable's name.
#pragma once

#include <memory>
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

// A tensor that a node of a saver writes under a key, or reads.
struct SavedTensor {
  uint32_t slot = 0;          // among the tensors of a Save node, or the outputs of a Restore node
  std::string key, slice;     // entries of tensor_names, shape_and_slices ("": whole)
  NodeId variable = kNoNode;  // whose value it is; kNoNode for what is no variable (a table's values)
  // In a body, where variables, tables and sometimes values are passed: the argument that it is of, or "".
  std::string argument;
  // Nodes on the way: from the variable or argument to the Save node, or from the Restore node to the
  // assignment or table's import, which is the last.
  std::vector<NodeId> between;
  uint32_t taken_at = 1;  // then: the input of the last one that takes it
};

// What gives a variable something else than what is stored, or a table its contents: an assignment or a
// table's import of what is computed from restored tensors.
struct FilledState {
  NodeId end = kNoNode, state = kNoNode;
  // Nodes that compute it from them, producers first, those from other Restore nodes' tensors included.
  std::shared_ptr<const std::vector<NodeId>> way;
  std::vector<uint32_t> slots;  // of this node's tensors, in their order
};

// A Save, SaveSlices or SaveV2 node, or a Restore, RestoreSlice or RestoreV2 node.
struct SaverNode {
  NodeId node = kNoNode;
  bool saves = false;
  NodeId names = kNoNode, slices = kNoNode;  // the Consts; kNoNode where the op has none or it is no Const
  uint32_t first_tensor = 2;                 // of a Save node: the input of the first tensor
  std::vector<SavedTensor> tensors;          // empty where the names are no Const
  // Of a Restore node of a graph: what else its tensors end in, but for the ends that `tensors` tells (a
  // mirrored variable is restored into each of its replicas).
  std::vector<SavedTensor> more_ends;
  std::vector<FilledState> filled;  // the same, of ends that no tensor is handed to as it is
  bool readable() const { return names != kNoNode; }
};

// By position, both.
struct Savers {
  std::vector<SaverNode> saves, restores;

  bool empty() const { return saves.empty() && restores.empty(); }
};

// Of all savers those above these operations, which saver_def names; all of them where it does not tell.
Savers main_savers(const Graph& graph, const Edges& producers, Savers all,
                   const std::vector<NodeId>& operations);
// Their nodes alone, for whoever has all of them: a saver of thousands of tensors is long to copy.
NodeSet main_saver_nodes(const Graph& graph, const Edges& producers, const Savers& all,
                         const std::vector<NodeId>& operations);

// Nodes that give state what was restored: assignments, and imports of tables.
std::unordered_set<uint32_t> restore_ends(const Savers& savers);

// By variable, the key under which it is saved, else restored, by any saver, or by the nodes `of`. Views into
// `savers`.
std::unordered_map<uint32_t, std::string_view> variable_keys(const Savers& savers,
                                                             const NodeSet* of = nullptr);

// Of a graph, or of a function's body, which is decoded.
Savers find_savers(const Graph& graph, const Names& names, const Edges& consumers);
Savers find_savers(const Graph& graph, const Names& names);
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
