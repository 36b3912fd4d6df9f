// What a node is, apart from its name, its place and what it reads: its op and attributes, as a label of both
// graphs. Attributes at their defaults and those that change no value do not count
// (docs/rules.md#prove-same).
#pragma once

#include <array>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/node.h"
#include "ops/kinds.h"
#include "ops/registry.h"
#include "prove/classes.h"
#include "prove/conduct.h"

namespace gedit {

// What is known of an op in one graph.
struct ProofOp {
  std::string_view name;
  bool known = false;
  OpDef def;  // where it is known
  OpKinds kinds;
  Conduct conduct = Conduct::kUnknown;
  bool gives_references = false;
  bool takes_handles = false;  // references or resources
  // Has a state that is nobody else's, and gives what follows from it.
  bool own_state = false;
};

// A node taken apart. The views lie in it.
struct NodeText {
  std::string_view name, op;
  std::string_view tensor;  // of a Const: its TensorProto
};

struct Labelled {
  LabelId label = 0;
  const ProofOp* op = nullptr;
  bool seeded = false;    // of an op that draws at random
  bool commutes = false;  // the two inputs may change places
};

class Labels {
 public:
  // What an attribute says of the function that it names: the same for functions that compute the same. Or
  // why nothing can be said.
  struct FunctionText {
    std::string text;
    std::string_view unknown{};
  };
  using FunctionTexts = std::function<FunctionText(std::string_view name)>;
  Labels(Registry& ops, Classes& classes, FunctionTexts function_texts)
      : ops_(ops), classes_(classes), function_texts_(std::move(function_texts)) {}

  // Takes the node apart and finds its label. The node's bytes outlive this.
  const Labelled& of(std::string_view node_def, NodeText& text);
  // The same for who knows its op, and what like_of() tells of it; of a Const `text` is not filled.
  LabelId label_of(std::string_view node_def, std::string_view op, std::string_view attrs, NodeText& text);
  bool commutes(LabelId label) const { return label < commuting_.size() && commuting_[label]; }
  const ProofOp& op(std::string_view op);

  // `transpose_b: true`, ... by key: what counts of a node, with defaults.
  std::vector<std::pair<std::string, std::string>> attributes(std::string_view node_def);

 private:
  struct Known {
    std::string_view op;
    std::vector<MapEntry> attrs;
    Labelled labelled;
  };
  // Of a node that stands for all with the same op and attributes.
  struct Alike {
    std::string_view op, attrs;
    const Labelled* labelled = nullptr;
    bool is(std::string_view other_op, std::string_view other_attrs) const {
      return !other_attrs.empty() && attrs == other_attrs && op == other_op;
    }
  };
  Alike& place_of(std::string_view op, std::string_view attrs) {
    return alike_[(op.size() * 31 + attrs.size()) % alike_.size()];
  }
  const Labelled& find_anew(std::string_view node_def, std::string_view attrs, NodeText& text);
  // Fills attrs_, with what counts.
  void take_apart(std::string_view node_def, NodeText& text);
  const Labelled& find(const NodeText& text);
  Known make(const NodeText& text);
  std::vector<std::pair<std::string, std::string>> texts(const std::vector<MapEntry>& attrs,
                                                         const ProofOp& op, std::string& unknown);
  std::string value_text(std::string_view attr_value, std::string& unknown);

  Registry& ops_;
  Classes& classes_;
  FunctionTexts function_texts_;
  std::list<ProofOp> ops_known_;
  std::unordered_map<std::string_view, const ProofOp*> ops_by_name_;
  std::unordered_multimap<uint64_t, Known> known_;
  std::vector<bool> commuting_;  // by label
  std::vector<MapEntry> attrs_;  // of the node that was taken apart last
  std::array<Alike, 256> alike_;
};

}  // namespace gedit
