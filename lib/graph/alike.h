// What follows from the op and the attributes of a node alone, found once for the many nodes of a graph that
// have the same.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "graph/graph.h"
#include "graph/node.h"

namespace gedit {

// What stands in a NodeDef from `first` on, its first attribute; empty where that is long, as weights are.
inline std::string_view attrs_from(const char* first, std::string_view node_def) {
  constexpr size_t kLongest = 512;
  const std::string_view attrs(first, node_def.end());
  return attrs.substr(0, attrs.size() <= kLongest ? attrs.size() : 0);
}

struct NodeLike {
  std::string_view attrs;  // as attrs_from() has them
  size_t data_inputs = 0;
};
inline NodeLike like_of(std::string_view node_def) {
  NodeLike like;
  for (Fields fields(node_def); like.attrs.data() == nullptr && fields.next();) {
    if (fields->bytes(node_field::kInput) && !fields->value.starts_with('^')) ++like.data_inputs;
    if (fields->bytes(node_field::kAttr)) like.attrs = attrs_from(fields->raw.data(), node_def);
  }
  return like;
}

// By op and attributes, of nodes of one graph: of what was kept, what is there yet. For one thread.
template <typename Found>
class AlikeAttrs {
 public:
  explicit AlikeAttrs(const Graph& graph) : graph_(graph) {}

  // What was kept of a node of the same op with these attributes, as attrs_from() has them; null where
  // nothing was.
  Found* find(NodeId id, std::string_view attrs) {
    Known& known = known_[place(id, attrs)];
    const bool alike = !attrs.empty() && known.op == graph_.op_number(id) && known.attrs == attrs;
    return alike ? &known.found : nullptr;
  }
  void keep(NodeId id, std::string_view attrs, Found found) {
    if (!attrs.empty()) known_[place(id, attrs)] = {graph_.op_number(id), attrs, std::move(found)};
  }

 private:
  struct Known {
    OpNumber op = 0;
    std::string_view attrs;  // empty: nothing was kept
    Found found{};
  };
  static constexpr size_t kPlaces = 256;

  size_t place(NodeId id, std::string_view attrs) const {
    return (graph_.op_number(id) * size_t{31} + attrs.size()) % kPlaces;
  }

  const Graph& graph_;
  std::array<Known, kPlaces> known_;
};

}  // namespace gedit
