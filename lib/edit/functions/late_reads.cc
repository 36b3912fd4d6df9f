#include "edit/functions/late_reads.h"

#include <map>
#include <unordered_set>
#include <utility>

#include "edit/basis/addresses.h"
#include "graph/edges.h"
#include "graph/wiring.h"
#include "select/tensors.h"

namespace gedit {
namespace {

constexpr size_t kMostWaitedFor = 4096;  // nodes that are looked at for one reader

}  // namespace

std::vector<LateRead> late_reads(const Graph& graph, const Names& names, const HandleFlow& flow,
                                 std::string_view function, const std::function<bool(NodeId)>& reads,
                                 const std::function<std::set<std::string>(NodeId)>& written) {
  std::set<uint32_t> readers = flow.value_readers();
  for (const auto& [index, use] : flow.users()) {
    if (use != Use::kWrite) readers.insert(index);
  }
  std::map<NodeId, std::set<std::string>> writers;
  std::map<std::string, NodeId> last;  // by variable: a node that writes it
  for (const auto& [index, use] : flow.users()) {
    std::set<std::string> variables = written(NodeId{index});
    for (const std::string& variable : variables) last[variable] = NodeId{index};
    if (!variables.empty()) writers.emplace(NodeId{index}, std::move(variables));
  }
  std::vector<LateRead> found;
  if (writers.empty()) return found;
  const Edges sources = producers(graph, names), read_by = reversed(sources);
  NodeSet behind(graph.size());  // some writer
  for (const auto& [writer, variables] : writers) {
    for (const NodeId reader : read_by.of(writer)) behind.add(reader);
  }
  behind = reach(behind, read_by, kAnyDistance);
  for (const uint32_t index : readers) {
    const NodeId reader{index};
    if (!reads(reader) || !behind.has(reader)) continue;
    std::map<std::string, NodeId> own;  // variables that it reads and that are written
    const auto variables = flow.carried_inputs(reader);
    for (const auto& [slot, carried] : variables) {
      if (const auto writer = last.find(carried->variable); writer != last.end()) own.insert(*writer);
    }
    std::vector<NodeId> open;
    std::unordered_set<uint32_t> seen{index};
    const auto go = [&](NodeId source) {
      const bool counts = source != kNoNode && (behind.has(source) || writers.contains(source));
      if (counts && seen.insert(index_of(source)).second) open.push_back(source);
    };
    // What it gets of the variable itself, a writer's result perhaps, is another matter.
    uint32_t slot = 0;
    each_input(graph.bytes(reader), [&](std::string_view text) {
      const Input input = parse_input_of(graph, text);
      if (input.control || !variables.contains(slot++)) go(names.find(input.node));
    });
    while (!own.empty() && !open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      const auto writer = writers.find(at);
      // Where that would be too much to look at, what is written anywhere may have been written before.
      const bool all = seen.size() > kMostWaitedFor;
      std::erase_if(own, [&](const auto& variable) {
        const bool here = writer != writers.end() && writer->second.contains(variable.first);
        if (here || all)
          found.push_back({address(function, graph.name(reader)), variable.first,
                           address(function, graph.name(here ? at : variable.second))});
        return here || all;
      });
      for (const NodeId source : sources.of(at)) go(source);
    }
  }
  return found;
}

}  // namespace gedit
