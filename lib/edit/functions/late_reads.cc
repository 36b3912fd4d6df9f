#include "edit/functions/late_reads.h"

#include <unordered_set>

#include "edit/basis/addresses.h"
#include "graph/wiring.h"
#include "select/tensors.h"

namespace gedit {
namespace {

// What one reader waits for: as a rule a writer, or one group of them.
constexpr size_t kMostWaitedFor = 256;

// Calls use(id) for the nodes that `reader` waits for until it says true.
template <typename Use>
void each_waited_for(const Graph& graph, const Names& names, NodeId reader, Use use) {
  std::vector<NodeId> stack{reader};
  std::unordered_set<uint32_t> seen{index_of(reader)};
  while (!stack.empty() && seen.size() < kMostWaitedFor) {
    const NodeId at = stack.back();
    stack.pop_back();
    if (at != reader && use(at)) return;
    each_input(graph.bytes(at), [&](std::string_view text) {
      const Input input = parse_input_of(graph, text);
      const NodeId source = input.control ? names.find(input.node) : kNoNode;
      if (source != kNoNode && seen.insert(index_of(source)).second) stack.push_back(source);
    });
  }
}

}  // namespace

std::vector<LateRead> late_reads(const Graph& graph, const Names& names, const HandleFlow& flow,
                                 std::string_view function, const std::function<bool(NodeId)>& reads,
                                 const std::function<std::set<std::string>(NodeId)>& written) {
  std::set<uint32_t> readers = flow.value_readers();
  for (const auto& [index, use] : flow.users()) {
    if (use != Use::kWrite) readers.insert(index);
  }
  std::vector<LateRead> found;
  for (const uint32_t index : readers) {
    const NodeId reader{index};
    if (!reads(reader)) continue;
    std::set<std::string> variables;
    for (const auto& [slot, carried] : flow.carried_inputs(reader)) variables.insert(carried->variable);
    each_waited_for(graph, names, reader, [&](NodeId id) {
      for (const std::string& variable : written(id)) {
        if (!variables.contains(variable)) continue;
        found.push_back({address(function, graph.name(reader)), variable, address(function, graph.name(id))});
        return true;
      }
      return false;
    });
  }
  return found;
}

}  // namespace gedit
