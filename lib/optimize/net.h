// One graph, the main one or a function's body, while it is optimized: who reads what as numbers, so that a
// tensor can take another's place in all its readers without a look at their bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/blank.h"
#include "base/hash_index.h"
#include "base/parallel.h"
#include "edit/basis/names.h"
#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/index.h"
#include "graph/names.h"
#include "optimize/constant.h"
#include "optimize/what.h"
#include "prove/labels.h"

namespace gedit::optimizing {

using Number = uint32_t;  // of a node: its NodeId, or behind these the ones that were added

// An input of a node: an output of another one, its control output, or an argument of the function.
struct In {
  Number node = 0;
  uint32_t index = 0;
  static constexpr uint32_t kControl = UINT32_MAX;  // as index
  static constexpr Number kArgument = UINT32_MAX;   // as node
  bool control() const { return index == kControl; }
  bool argument() const { return node == kArgument; }
  bool operator==(const In&) const = default;
};
constexpr In control_of(Number node) { return {node, In::kControl}; }

class Net {
 public:
  // The graph is decoded, and changes by store() alone; `known` is its index, or that of an equal graph,
  // where there is one. All outlive this. Throws Error (kRefused) where an input names what is not there.
  Net(Graph& graph, Registry& ops, Labels& labels, const GraphIndex* known = nullptr);

  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  bool there(Number n) const { return nodes_[n].there; }
  // As it is now but for its inputs.
  std::string_view def(Number n) const { return nodes_[n].def; }
  std::string_view name(Number n) const { return node_name(def(n)); }
  const ProofOp& op(Number n) const { return *nodes_[n].op; }
  What what(Number n) const { return nodes_[n].what; }
  Asks asks(Number n) const { return nodes_[n].asks; }
  bool is(Number n, OpKinds any) const { return nodes_[n].op->kinds.has_any(any); }
  // Whether that holds for an op of any node that is there, or was: is_one(op, what).
  template <typename IsOne>
  bool has_op(IsOne is_one) const {
    return std::ranges::any_of(ops_there_.known,
                               [&](const auto& known) { return is_one(*known.first, known.second.what); });
  }
  // Empty where it has none.
  std::string_view device(Number n) const {
    return nodes_[n].has_device ? node_device(def(n)) : std::string_view();
  }
  // Of a Const.
  ConstFacts constant(Number n) const { return nodes_[n].constant; }
  // Of a Const: the first that has the same attributes, as far as was seen.
  std::optional<Number> same_const(Number n) const;
  LabelId label(Number n);  // of any other node
  Labels& labels() { return labels_; }
  Registry& ops() { return ops_; }
  bool in_body() const { return graph_.is_body(); }

  // Data inputs, then control inputs.
  std::span<const In> inputs(Number n) const { return {ins_.data() + nodes_[n].begin, nodes_[n].count}; }
  std::span<const In> data(Number n) const { return {ins_.data() + nodes_[n].begin, nodes_[n].data}; }
  std::span<const In> controls(Number n) const { return inputs(n).subspan(nodes_[n].data); }

  void set_inputs(Number n, std::span<const In> inputs);
  // Another node under the same name; inputs in `node_def` do not count.
  void become(Number n, std::string node_def, const std::vector<In>& inputs);
  // `base` made free is its name.
  Number append(std::string_view base, std::string_view op,
                const std::vector<std::pair<std::string, std::string>>& attrs, std::string_view device,
                const std::vector<In>& inputs);
  void remove(Number n);
  template <typename Needed>
  void keep(Needed needed);  // removes all others

  uint32_t outputs(Number n);  // 0 where their number is not known
  // kInvalid where it is not known; of an argument, too.
  DType type(In in);
  // An input as it is written here; what a function returns as well.
  std::string text(In in) const;
  // Nothing where there is no such tensor.
  std::optional<In> find(std::string_view text) const;
  Number find_node(std::string_view name) const;  // In::kArgument: none
  NodeSet all() const;                            // that are there, at once where all are
  // Everything that these need, themselves included; of inputs those of which `counts(reader, input)` is
  // true.
  template <typename Counts>
  NodeSet needed_by(std::span<const Number> asked, Counts counts) const;
  NodeSet needed_by(std::span<const Number> asked) const {
    return needed_by(asked, [](Number, const In&) { return true; });
  }

  bool changed() const { return changed_; }
  // Puts what changed into the graph: nodes that were there in their places, new ones behind all others.
  void store();

 private:
  struct Node {
    std::string_view def;
    const ProofOp* op = nullptr;
    uint32_t begin = 0, count = 0, data = 0;  // in ins_
    uint32_t attrs = 0;                       // of `def`: how much of its end like_of() tells
    LabelId label = kNoLabel;                 // of a Const: the first that has its attributes
    What what = What::kOther;
    Asks asks;
    ConstFacts constant;
    bool there : 1 = false, rewired : 1 = false, made : 1 = false, has_device : 1 = false,
                 may_have_class : 1 = false;
  };
  static constexpr LabelId kNoLabel = UINT32_MAX;
  // The ops that are there, as OpsOf asks for them.
  struct OpFacts {
    const ProofOp* op;
    What what;
    Asks asks;
  };
  struct OpTable {
    Labels& labels;
    std::unordered_map<const ProofOp*, OpFacts> known{};
    const OpFacts& of(std::string_view op);
  };

  // Consts of one piece of the graph by their attributes: many are written alike, and looked at once.
  class ConstsAlike {
   public:
    void look_at(Number n, Node& node);

   private:
    struct Known {
      std::string_view attrs;
      ConstFacts facts;
      Number first;
    };
    HashIndex index_;
    std::vector<Known> known_;
    uint32_t last_ = 0;  // that was looked at
  };

  void forget_colocations();
  template <typename Read>
  void put_def(Node& node, std::string_view def, const OpFacts& facts, bool later, Read read) const;
  void put_inputs(Node& node, std::span<const In> inputs);
  void read_node(Number n, const OpFacts& facts, const Edges* producers, ConstsAlike& consts);
  void store_some(PieceRange range, std::vector<Graph::Rewritten>& nodes, std::string& records) const;
  // A NodeDef around its inputs.
  struct Around {
    std::string_view before, behind;
  };
  std::optional<Around> around_inputs(const Node& node) const;
  void append_rewired(Number n, const std::optional<Around>& around, std::string& def) const;
  std::optional<uint32_t> port(Number producer, std::string_view port) const;
  std::optional<In> input_from(Number producer, const Input& input) const;

  Graph& graph_;
  Registry& ops_;
  Labels& labels_;
  std::optional<Names> own_names_;  // where none are known
  const Names& names_;
  NewNames new_names_;
  BlankVector<Node> nodes_;
  OpTable ops_there_;
  BlankVector<In> ins_;
  std::unordered_map<std::string_view, uint32_t> arguments_;
  std::vector<std::string_view> argument_names_;
  std::unordered_map<std::string_view, Number> added_;  // by name
  NodeText text_;
  uint32_t there_ = 0;  // nodes
  bool changed_ = false, any_made_ = false, any_gone_ = false, any_class_ = false;
};

// ---------------------------------------------------------------------------------------------------------------------

template <typename Needed>
void Net::keep(Needed needed) {
  std::atomic<uint32_t> gone = 0;
  in_pieces(size(), [&](size_t, PieceRange range) {
    uint32_t count = 0;
    for (Number n = range.begin; n < range.end; ++n) {
      if (!there(n) || needed(n)) continue;
      nodes_[n].there = false;
      ++count;
    }
    gone += count;
  });
  there_ -= gone;
  any_gone_ = any_gone_ || gone > 0;
  changed_ = changed_ || gone > 0;
}

template <typename Counts>
NodeSet Net::needed_by(std::span<const Number> asked, Counts counts) const {
  NodeSet needed(size());
  for (const Number n : asked) needed.add(NodeId{n});
  needed.spread(true, [&](NodeId id, const auto& go) {
    for (const In& in : inputs(index_of(id))) {
      if (!in.argument() && counts(index_of(id), in)) go(NodeId{in.node});
    }
  });
  return needed;
}

}  // namespace gedit::optimizing
