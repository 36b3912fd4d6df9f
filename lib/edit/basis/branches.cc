#include "edit/basis/branches.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// The depth of each node's outputs: Switches above it that no Merge closed. A walk of its own each for the
// graph as it was, and as it is with replaced tensors at the depth of what took their place.
class Depths {
 public:
  using Depth = std::function<std::optional<int>(const TensorRef&)>;  // of a replaced tensor
  Depths(const Facts& facts, Depth replaced) : facts_(facts), replaced_(std::move(replaced)) {}

  int of(NodeId node) {
    std::vector<NodeId> open{node};
    while (!open.empty()) {
      const NodeId at = open.back();
      const auto [entry, fresh] = known_.try_emplace(index_of(at), kOpen);
      if (!fresh && entry->second != kOpen) {
        open.pop_back();
        continue;
      }
      if (fresh) {
        each_source(at, [&](const TensorRef& tensor) {
          if (!replaced_(tensor) && !known_.contains(index_of(tensor.node))) open.push_back(tensor.node);
        });
        if (open.back() != at) continue;
      }
      known_[index_of(at)] = depth(at);
      open.pop_back();
    }
    return known_.at(index_of(node));
  }

  int of(const TensorRef& tensor) {
    const std::optional<int> replaced = replaced_(tensor);
    return replaced ? *replaced : of(tensor.node);
  }

 private:
  static constexpr int kOpen = -1;

  // What it reads, but for the way back of a loop.
  template <typename Use>
  void each_source(NodeId id, const Use& use) const {
    const bool merge = is_merge_op(node_op(facts_.graph().bytes(id)));
    each_input(facts_.graph().bytes(id), [&](std::string_view text) {
      const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), text);
      if (!tensor || (merge && is_next_iteration_op(node_op(facts_.graph().bytes(tensor->node))))) return;
      use(*tensor);
    });
  }

  int depth(NodeId id) const {
    int deepest = 0, sources = 0;
    each_source(id, [&](const TensorRef& tensor) {
      if (!tensor.control) ++sources;
      if (const std::optional<int> replaced = replaced_(tensor)) {
        deepest = std::max(deepest, *replaced);
        return;
      }
      const auto found = known_.find(index_of(tensor.node));
      if (found != known_.end()) deepest = std::max(deepest, found->second);
    });
    const std::string_view op = node_op(facts_.graph().bytes(id));
    // A loop's Switch is no branch, and its Merge has one input from outside.
    if (is_switch_op(op)) return deepest + (facts_.frames().of(id) == 0 || !of_loop(id) ? 1 : 0);
    if (is_merge_op(op) && sources > 1) return std::max(0, deepest - 1);
    return deepest;
  }

  // Whether the predicate is the loop's.
  bool of_loop(NodeId id) const {
    const std::vector<std::string_view> inputs = input_views(facts_.graph().bytes(id));
    const auto predicate = inputs.size() < 2 ? std::nullopt : tensor_if_there(facts_.names(), inputs[1]);
    return predicate && is(node_op(facts_.graph().bytes(predicate->node)), OpKind::kLoopCond);
  }

  const Facts& facts_;
  const Depth replaced_;
  std::unordered_map<uint32_t, int> known_;
};

}  // namespace

std::optional<Branched> find_unbranched(const Facts& facts, const NodeSet& nodes,
                                        const Replacements& replacement) {
  const Graph& graph = facts.graph();
  Depths before(facts, [](const TensorRef&) { return std::nullopt; });
  const auto replaced = [&](const TensorRef& tensor) -> std::optional<int> {
    const std::optional<TensorRef> now = replacement(tensor);
    if (!now) return std::nullopt;
    return now->node == kNoNode ? 0 : before.of(now->node);
  };
  Depths after(facts, replaced);
  for (const NodeId id : nodes.nodes()) {
    if (!graph.is(id, OpKind::kMerge)) continue;
    std::vector<TensorRef> inputs;
    bool loop = false;
    each_input(graph.bytes(id), [&](std::string_view text) {
      const std::optional<TensorRef> tensor = tensor_if_there(facts.names(), text);
      if (!tensor || tensor->control) return;
      loop = loop || is_next_iteration_op(node_op(graph.bytes(tensor->node)));
      inputs.push_back(*tensor);
    });
    if (loop) continue;
    for (const TensorRef& input : inputs) {
      if (after.of(input) >= before.of(input)) continue;
      // The replaced tensor, upwards.
      NodeSet seen(graph.size());
      std::vector<TensorRef> open{input};
      while (!open.empty()) {
        const TensorRef at = open.back();
        open.pop_back();
        if (const std::optional<int> depth = replaced(at)) {
          if (before.of(at.node) > *depth) return Branched{at, id};
          continue;
        }
        if (!seen.add(at.node)) continue;
        each_input(graph.bytes(at.node), [&](std::string_view text) {
          if (const auto tensor = tensor_if_there(facts.names(), text)) open.push_back(*tensor);
        });
      }
    }
  }
  return std::nullopt;
}

void check_branches(const Facts& facts, const NodeSet& nodes, const Replacements& replacement,
                    std::string_view verb) {
  const std::optional<Branched> found = find_unbranched(facts, nodes, replacement);
  if (!found) return;
  const std::string merge = printable(facts.graph().name(found->merge));
  throw refused("inside a branch of the cond that ends in '" + merge + "'")
      .of(quoted("tensor", tensor_text(facts.graph(), found->tensor)))
      .hint(std::string(verb) + " '" + merge + "', or " + (verb == "map" ? "" : "at ") +
            "what enters the cond");
}

}  // namespace gedit
