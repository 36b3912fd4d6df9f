// The parts of a summary, each a look at the same graph: what summarize() is made of.
#pragma once

#include <string>
#include <vector>

#include "model/savers.h"
#include "model/summary.h"

namespace gedit {

// What is known of the graph before it is looked at.
struct SummarizedGraph {
  const MetaGraph& meta;
  const Graph& graph;
  Registry& ops;
  const Names& names;
  const Edges &producers, &consumers;
  Savers savers;
  std::vector<NodeId> placeholders;
  std::vector<NodeId> named_gradients;  // `gradients` is in their names
  NodeSet weights;                      // Consts that may be trained: tables of numbers
  uint64_t constants;                   // elements of all Consts that may be weights
};

// 0 where a size is not known.
uint64_t shape_elements(const Shape& shape);

// What a Const holds.
struct ConstantSize {
  uint64_t elements = 0;  // of one that may be a weight: 0 for a scalar, and for text
  bool weight = false;    // whether it may be trained: a table of numbers
};
ConstantSize constant_size(std::string_view node_def);

// Fills variables, parameters and parameter_bytes, or else constants.
void summarize_variables(const SummarizedGraph& of, GraphSummary& summary);

// Fills savers.
void summarize_savers(const SummarizedGraph& of, GraphSummary& summary);

// Fills inputs and outputs; signatures and savers are known by now.
void summarize_ends(const SummarizedGraph& of, GraphSummary& summary);

// Of which that is made: outputs, with the node of each, then inputs, which are ranked by them.
class Machinery;
TensorSummary summarize_tensor(const SummarizedGraph& of, NodeId id, uint32_t output, std::string reason);
std::vector<NodeId> summarize_outputs(const SummarizedGraph& of, const Machinery& machinery,
                                      GraphSummary& summary);
void summarize_inputs(const SummarizedGraph& of, const Machinery& machinery,
                      const std::vector<NodeId>& outputs, GraphSummary& summary);

}  // namespace gedit
