// A graph under check, the main one or a function's body, with what is known of its ops and edges.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/parallel.h"
#include "check/rules.h"
#include "graph/index.h"
#include "graph/types.h"
#include "ops/registry.h"
#include "shape/like_nodes.h"

namespace gedit {

// An attribute of an op, prepared for being compared with many nodes'.
struct AttrRule {
  AttrDef def;
  uint32_t field = 0;    // of AttrValue: where a value of this type stands; 0: a type that is not known
  uint32_t element = 0;  // of a list: of AttrValue.ListValue; 0: no list
  std::vector<DType> allowed_types{};
  std::vector<std::string_view> allowed_strings{};
};

struct OpFacts {
  bool known = false;
  OpDef def;
  std::vector<AttrRule> attrs;
  size_t required = 0;           // attributes without a default
  bool repeats_outputs = false;  // an attribute says how many there are

  const AttrRule* find(std::string_view key) const;
  std::unordered_map<std::string_view, size_t> index{};  // of attrs, where they are many
};

// Facts of each op, found once, for whoever asks from whatever thread.
class OpTable {
 public:
  explicit OpTable(Registry& ops) : ops_(ops) {}
  const OpFacts& of(std::string_view op);

 private:
  std::mutex asking_;
  Registry& ops_;
  std::unordered_map<std::string_view, std::unique_ptr<OpFacts>> facts_;
};

// The attributes of a node, in their order.
using Attrs = std::vector<std::pair<std::string_view, std::string_view>>;

// A tensor that a node reads: where it comes from and what it is, as far as that is known.
struct Source {
  NodeId node = kNoNode;  // kNoNode: an argument of the function, or nothing
  bool found = false;     // there is such a tensor
  std::span<const DType> types =
      {};                // one; of a whole list of a function's node several; kInvalid: not known
  bool counted = false;  // `types` has as many as there are
};

class CheckedGraph {
 public:
  // `function` is empty for the main graph. The graph is decoded, and outlives this.
  CheckedGraph(std::string_view function, const Graph& graph, OpTable& ops);
  CheckedGraph(const CheckedGraph&) = delete;
  CheckedGraph& operator=(const CheckedGraph&) = delete;

  std::string subject(NodeId id) const { return prefix_ + std::string(graph.name(id)); }
  std::string subject(std::string_view name) const { return prefix_ + std::string(name); }

  // What the data input `text` reads; `producer` is its node where that was looked up already.
  Source source(std::string_view text, NodeId producer) const;
  NodeId find(std::string_view input) const;  // the node that an input names

  // Types of a node's outputs; none where they are not known.
  bool outputs_known(NodeId id) const { return list_of_[index_of(id)] != kUnknownList; }
  std::span<const DType> outputs(NodeId id) const {
    const uint32_t list = list_of_[index_of(id)];
    return {types_.data() + list_ends_[list], types_.data() + list_ends_[list + 1]};
  }

  const Edges& consumers() const { return index.readers(); }  // for one thread

  const Graph& graph;
  OpTable& ops;
  GraphIndex index;
  const Names& names;
  const Edges& producers;
  LikeNodes like;
  OpsOf<OpTable> facts;  // of a node's op
  bool body;

  // Arguments of a function, by name, with their types.
  std::unordered_map<std::string_view, DType> arguments;

 private:
  void type_outputs();
  void name_outputs();
  Source argument_source(const Input& input) const;
  Source body_source(const Input& input, NodeId producer) const;

  std::string prefix_;
  // Lists of types, of which nodes that are alike share one; where each begins is where the one before ends.
  static constexpr uint32_t kUnknownList = 0;
  std::vector<uint32_t> list_of_;
  std::vector<uint32_t> list_ends_;
  std::vector<DType> types_;
  // In a function outputs are found by name: for each node where the tensors of each output of its op begin.
  std::vector<uint32_t> output_begins_, tensor_begins_;
};

// Calls look(id, report, later) for every node, or for those of `only`, on all cores: what they report to
// each of the two comes in the order of the nodes. Each piece of nodes has a copy of `look`, which may keep
// what it wants to use again.
template <typename Look>
void look_at_nodes(const CheckedGraph& in, const NodeSet* only, Report& report, Report& later, Look look) {
  auto reports = made_in_pieces(in.graph.size(), [&](PieceRange nodes) {
    std::pair<Report, Report> reports;
    Look own = look;
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      if (only == nullptr || only->has(NodeId{i})) own(NodeId{i}, reports.first, reports.second);
    }
    return reports;
  });
  for (auto& [found, found_later] : reports) {
    report.append(std::move(found));
    later.append(std::move(found_later));
  }
}

}  // namespace gedit
