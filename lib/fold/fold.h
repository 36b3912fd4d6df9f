// What a node gives, computed from constants bit for bit as TensorFlow computes it, or not at all
// (docs/rules.md#folding).
//
//   NodeFolder folder(ops);
//   if (const FoldOutcome found = folder.fold(node_def, values); found.folded()) use(found.outputs[0]);
//
// Folded are only ops whose result no machine and no release of TensorFlow computes otherwise. Never: what is
// random, stateful or of unknown op; Rsqrt, Sqrt, Reciprocal, Round, Exp, Log, Tanh, Sigmoid, Pow, LinSpace;
// products and sums of floats over many elements (MatMul, Conv, Sum, Mean); a float Range; arithmetic of
// floats where an operand or result is a denormal or a NaN; a division of integers by zero; a conversion to
// integers out of their range; complex arithmetic; strings, but where they only move.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fold/const_tensor.h"
#include "graph/op_defs.h"
#include "graph/types.h"
#include "shape/infer.h"

namespace gedit::folding {

struct FoldOutcome {
  std::vector<ConstTensor> outputs;  // all outputs of the node; empty: not folded
  std::string why;                   // then: in a few words, `an element is a denormal`
  bool folded() const { return !outputs.empty(); }
};

// Whether there is a rule for the op at all: what to look at.
bool is_foldable(std::string_view op);
// Shape, ShapeN, Size, Rank: folded from the shapes of their inputs, by fold_shapes().
bool reads_shapes(std::string_view op);
// All ops of is_foldable() and reads_shapes(), sorted.
std::vector<std::string_view> foldable_ops();

// May be used by one thread. The registry outlives it.
class NodeFolder {
 public:
  // `most_work`: bytes of results that are computed in all; what comes after is not folded. A single result
  // that holds more than its inputs do is at most kMostGrown bytes.
  explicit NodeFolder(Registry& ops, uint64_t most_work = kMostWork) : ops_(ops), work_left_(most_work) {}
  static constexpr uint64_t kMostWork = uint64_t{16} << 30, kMostGrown = uint64_t{1} << 20;

  // `inputs` are the data inputs in their order. Dtypes are compared with those that the node's attributes
  // ask for. Values share bytes with inputs where they can. Throws nothing on account of what the values are;
  // Malformed where `node_def` is no message.
  FoldOutcome fold(std::string_view node_def, std::span<const ConstTensor> inputs);

  // Of a node with reads_shapes(): the shapes of its data inputs, as inference or an own look knows them.
  // Folded where all that the node gives is known.
  FoldOutcome fold_shapes(std::string_view node_def, std::span<const Shape> inputs);

 private:
  FoldOutcome checked(std::string_view node_def, std::vector<ConstTensor> outputs);

  OpDefs ops_;
  uint64_t work_left_;
};

// Whether known_value() may know something of the op: it reads shapes, or picks some of what did.
bool follows_from_shapes(std::string_view op);
// The only output of a node of the graph of which these are the shapes, where they alone tell all of it;
// constants need not be known. Nothing where it is not known.
std::optional<ConstTensor> known_value(const GraphShapes& shapes, NodeId id, std::string_view node_def,
                                       NodeFolder& folder);

// Whether the op gives its first input where that has the shape of what it gives: Reshape, Slice, Pad, ...
bool only_shapes(std::string_view op);
// Whether the first input of `reader` has the shape of what `giver` gives, in every run; dimensions that are
// not known are equal where one symbol stands for both, or where they are the only ones of `as_many`
// elements.
bool has_shape_of(const GraphShapes& shapes, NodeId reader, NodeId giver, bool as_many = false);

// Whether a node, of an op of these kinds, gives of what another one of its op gave what that had read. Of
// floats a Neg would lose the sign of a zero: TensorFlow 1.15 makes +0 of Neg(+0).
bool undoes_itself(OpKinds kinds, std::string_view node_def);

// Whether a Transpose by these axes leaves every one where it is.
bool moves_no_axis(const ConstTensor& axes);
// Whether a Transpose by `second` of one by `first` does.
bool turn_back(const ConstTensor& first, const ConstTensor& second);

// An op that gives more outputs than that is left as it is.
constexpr int64_t kMostPieces = 4096;

// The file may grow by this when nodes are replaced by constants, in bytes: more is not folded. The caller
// adds up: tensor_proto_size() of what comes, and of the constants and nodes that go because nobody else
// reads them.
constexpr uint64_t kMostGrowth = 1024;

}  // namespace gedit::folding
