// A part of a graph between tensors: what the outputs need, cut at the inputs, which become Placeholders
// (docs/rules.md#extract-closure, docs/rules.md#extract-inputs, docs/rules.md#extract-loops).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "edit/basis/changes.h"
#include "edit/basis/closure.h"
#include "edit/basis/names.h"

namespace gedit {

class InferredShapes;

class Cut {
 public:
  // T,.. and T[:DTYPE[SHAPE]],.. as a user writes them. Throws Error (kRefused) where there is no such
  // tensor, or an output lies in a loop. The facts outlive it.
  Cut(Facts& facts, const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

  // What is to be computed; an output that is an input is none of these.
  const std::vector<TensorRef>& outputs() const { return outputs_; }

  // Whether the walk stops at this tensor. The first time it is said so, the tensor is needed.
  bool stops(const TensorRef& tensor);

  // Puts the Placeholders in place: in place of a node that the closure does not hold, which it does then, or
  // else at the end; whoever in the closure reads the tensors reads them. Throws Error (kRefused) for a
  // tensor in a loop that stays, an unknown or another dtype, a reference. Signatures are fed there, too.
  void apply(Closure& closure, Changes& changes);

 private:
  struct At {
    TypedTensor typed;  // as stated
    bool needed = false;
    DType type = DType::kInvalid;                    // of the Placeholder, once it is needed
    Shape was{}, shape{};                            // of the tensor, of the Placeholder
    std::vector<std::pair<NodeId, size_t>> reads{};  // nodes that stay and read it, with the slot
  };
  using InputTypes = std::unordered_map<uint32_t, std::optional<std::vector<DType>>>;  // by node

  TensorRef before_loop(const TensorRef& tensor) const;
  Error in_loop(const TensorRef& tensor) const;
  DType type_of(const TensorRef& tensor, const At& at) const;
  void find_reads(const NodeSet& kept);
  void check(const TensorRef& tensor, At& at, InputTypes& types, InferredShapes& shapes) const;
  void place(const TensorRef& tensor, const At& at, NewNames& names, Closure& closure, Changes& changes);
  void rewire();

  Facts& facts_;
  Graph& graph_;
  std::vector<TensorRef> outputs_, order_;  // order_: of the inputs, as they were named
  std::unordered_map<TensorRef, At, TensorHash> inputs_;
  std::unordered_map<std::string, std::string> placeholders_;  // by tensor: that stand beside its node
  std::map<uint32_t, std::vector<std::pair<size_t, std::string>>> renamed_;  // by reader: slot and new input
  NodeSet stale_;  // readers of what has, or may have, another shape now
};

}  // namespace gedit
