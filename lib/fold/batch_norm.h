// Batch normalization folded into the weights before it (docs/rules.md#folding-batch-norms). Changes numbers:
// weights are computed in double and rounded once.
//
//   for (const FoldedNorm& norm : find_batch_norms(subject)) apply: replace, append
//
// What nobody reads then goes.
//
// Found are Conv2D, Conv3D, DepthwiseConv2dNative, MatMul, Conv2DBackpropInput, behind it in any order
// BatchToSpaceND and BiasAdd (Add of a vector), and one or more of: FusedBatchNorm, V2, V3 (is_training
// false, no output but 0 read), BatchNormWithGlobalNormalization, Mul, Sub and Add by what is the same for
// all of a channel, computed from constants by Add, Sub, Mul, Neg, Square, RealDiv, Sqrt, Rsqrt, Reciprocal,
// Reshape, ExpandDims, Squeeze, Identity. At least one of them must scale. Float and double.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/names.h"

namespace gedit::folding {

struct NormSubject {
  const Graph& graph;
  const Names& names;
  const Edges& consumers;  // reversed(producers()), of the graph as it is
  // Whether somebody but the graph's nodes asks for a value of the node: an output, a signature's tensor, a
  // name to keep. Nothing before the end of a pattern may be, nor a FusedBatchNorm.
  std::function<bool(NodeId)> kept;
  // A name like this one that no node has, another one each time.
  std::function<std::string(std::string_view)> free_name;
};

struct FoldedNorm {
  // Nodes of the graph with their new content, under their old names: the weights, or the convolution that
  // reads new ones; BatchToSpaceND; and the last node of the pattern, a BiasAdd now (an Identity where
  // nothing is added).
  std::vector<std::pair<NodeId, std::string>> replaced;
  std::vector<std::string> added;  // NodeDefs: weights and bias
  std::vector<NodeId> passed;      // nodes of the pattern that nobody reads any more
};

// In the order of the graph. No two of them touch the same node, so all can be applied. Weights that others
// read, too, are added once more; those that nobody reads then are left to whoever removes dead nodes.
std::vector<FoldedNorm> find_batch_norms(const NormSubject& subject);

}  // namespace gedit::folding
