// How large graphs become where calls give way to what they call, found without doing it: of functions that
// call each other twice, thirty unfold to a thousand million nodes.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "edit/functions/inline.h"
#include "graph/graph.h"

namespace gedit {

// Nodes that one graph may come to have. What would be more is refused before it is begun.
constexpr uint64_t kMostUnfolded = 4'000'000;

class UnfoldedSizes {
 public:
  // Of a FunctionDefLibrary, under what the request wants. Costs the nodes of the library, which outlives it.
  UnfoldedSizes(std::string_view library, Arena& arena, const InlineRequest& request);

  // At most how many nodes, its own included; UINT64_MAX where there are more than can be counted. In a
  // circle of calls, of which one stays a call, some may not be counted.
  uint64_t of(const Graph& graph) const;

  // Throws Error (kRefused) for the function of the graph's first call that makes it larger than
  // kMostUnfolded.
  void refuse_endless(const Graph& graph) const;

 private:
  // Calls use(position) for the functions that take the node's place.
  template <typename Use>
  void each_unfolded(std::string_view node_def, Use use) const;
  void add_up();

  struct Function {
    std::string_view name;
    uint64_t nodes = 0;              // with what unfolds in it, once it was added up
    std::vector<uint32_t> unfolded;  // functions, as often as they are called
  };
  const InlineRequest& request_;
  std::vector<Function> functions_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
};

}  // namespace gedit
