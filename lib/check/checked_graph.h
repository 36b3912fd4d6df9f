// A graph under check, the main one or a function's body, with what is known of its ops and edges.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "check/rules.h"
#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "graph/types.h"
#include "ops/registry.h"

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
  bool repeats_outputs = false;  // an attribute says how many there are
};

// Facts of each op, found once.
class OpTable {
 public:
  explicit OpTable(Registry& ops) : ops_(ops) {}
  const OpFacts& of(std::string_view op);

 private:
  Registry& ops_;
  std::unordered_map<std::string_view, std::unique_ptr<OpFacts>> facts_;
};

// A tensor that a node reads: where it comes from and what it is, as far as that is known.
struct Source {
  NodeId node = kNoNode;       // kNoNode: an argument of the function, or nothing
  bool found = false;          // there is such a tensor
  std::vector<DType> types{};  // one; of a whole list of a function's node several; kInvalid: not known
  bool counted = false;        // `types` has as many as there are
};

class CheckedGraph {
 public:
  // `function` is empty for the main graph. The graph is decoded, and outlives this.
  CheckedGraph(std::string_view function, const Graph& graph, OpTable& ops);

  std::string subject(NodeId id) const { return prefix_ + std::string(graph.name(id)); }
  std::string subject(std::string_view name) const { return prefix_ + std::string(name); }

  // What the data input `text` reads; `producer` is its node where that was looked up already.
  Source source(std::string_view text, NodeId producer) const;
  NodeId find(std::string_view input) const;  // the node that an input names

  // Types of a node's outputs in a main graph; nothing where they are not known.
  bool outputs_known(NodeId id) const { return known_[index_of(id)]; }
  std::span<const DType> outputs(NodeId id) const {
    return {types_.data() + begins_[index_of(id)], types_.data() + begins_[index_of(id) + 1]};
  }

  const Graph& graph;
  OpTable& ops;
  Names names;
  Edges producers;
  Edges consumers;
  bool body;

  // Arguments of a function, by name, with their types.
  std::unordered_map<std::string_view, DType> arguments;

 private:
  void type_outputs();
  Source body_source(std::string_view text, NodeId producer) const;

  std::string prefix_;
  std::vector<uint32_t> begins_;
  std::vector<DType> types_;
  std::vector<bool> known_;
};

// `no output`, `1 output`, `3 outputs`.
std::string outputs_text(size_t count);

}  // namespace gedit
