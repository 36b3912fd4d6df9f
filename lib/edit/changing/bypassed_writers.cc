#include "edit/changing/bypassed_writers.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {

BypassedWriters::BypassedWriters(Facts& facts, const FrozenVariables& variables, const HandleFlow& flow,
                                 const HandleFlow& kept, const GraphFreezing& writing)
    : facts_(facts),
      variables_(variables),
      flow_(flow),
      writing_(writing),
      keeps_(facts.graph().size()),
      behind_(facts.graph().size()) {
  for (const auto& [index, use] : kept.users()) {
    if (use == Use::kWrite) keeps_.add(NodeId{index});
    if (use == Use::kWrite || use == Use::kCall) behind_.add(NodeId{index});
  }
  if (!behind_.empty()) behind_ = reach(behind_, facts.consumers(), kAnyDistance);
}

bool BypassedWriters::is_dropped(NodeId id) const {
  if (!writing_.writes(id)) return false;
  if (variables_.all_freeze()) return true;
  for (const auto& [slot, carried] : flow_.carried_inputs(id)) {
    const NodeId variable = facts_.names().find(carried->variable);
    if (variable != kNoNode && variables_.frozen().has(variable)) return true;
  }
  return false;
}

std::optional<TensorRef> BypassedWriters::follow(NodeId reader, TensorRef tensor) {
  if (is_dropped(tensor.node)) {
    const auto drops = [&](NodeId id) {
      const bool dropped = is_dropped(id);
      if (dropped) dropped_.insert(id);
      return dropped;
    };
    if (tensor.control) {
      for (const auto& [text, awaited] : waits_of(tensor.node, drops)) awaited_.push_back(awaited);
    }
    const auto source = behind(tensor_text(facts_.graph(), {tensor.node, tensor.index, false}),
                               tensor.control, reader, drops);
    const auto found = source ? tensor_if_there(facts_.names(), *source) : std::nullopt;
    if (!found) return std::nullopt;
    tensor = {found->node, found->index, tensor.control};
  }
  // Whether it is initialized is known without it, and on which side of a cond it is asked is not.
  if (!tensor.control && facts_.frames().of(reader) == 0 &&
      is(node_op(facts_.graph().bytes(reader)), OpKind::kNeedsNoValue) &&
      flow_.users().contains(index_of(reader)) && !flow_.carried_inputs(reader).begin()->second->switched) {
    asking_.insert(reader);
    return std::nullopt;
  }
  return tensor;
}

std::optional<std::string> BypassedWriters::behind(std::string tensor, bool control, NodeId reader,
                                                   const std::function<bool(NodeId)>& drops) const {
  std::set<NodeId> passed;  // writers that read each other in a ring have nothing behind them
  for (;;) {
    const NodeId source = facts_.names().find(parse_input(tensor).node);
    if (source == kNoNode || !drops(source)) return tensor;
    if (!passed.insert(source).second) return std::nullopt;
    const std::optional<std::string> next =
        control ? writing_.waits_for(reader, source) : writing_.bypass(source);
    if (!next) return std::nullopt;
    tensor = *next;
  }
}

std::vector<std::pair<std::string, NodeId>> BypassedWriters::waits_of(
    NodeId writer, const std::function<bool(NodeId)>& drops) const {
  std::vector<std::pair<std::string, NodeId>> waits;
  if (behind_.empty()) return waits;
  std::set<NodeId> passed{writer};
  for (std::vector<NodeId> open{writer}; !open.empty();) {
    const NodeId at = open.back();
    open.pop_back();
    if (keeps_.has(at))
      throw refused("writes variables that become constants and others that stay")
          .of(quoted("node", facts_.graph().name(at)))
          .hint("--keep all of them, or none");
    each_input(facts_.graph().bytes(at), [&](std::string_view text) {
      const NodeId source = facts_.names().find(parse_input(text).node);
      if (source == kNoNode || !behind_.has(source)) return;
      if (!drops(source)) {
        waits.emplace_back(text, source);
      } else if (passed.insert(source).second) {
        open.push_back(source);
      }
    });
  }
  return waits;
}

std::set<std::string> BypassedWriters::written_by(NodeId id) const {
  return is_dropped(id) ? writing_.written_by(id) : std::set<std::string>();
}

void BypassedWriters::rewire_readers(const NodeSet& stays, Pivots& pivots) {
  std::set<NodeId> readers;
  for (const NodeId writer : dropped_) {
    for (const NodeId reader : facts_.consumers().of(writer)) {
      if (stays.has(reader)) readers.insert(reader);
    }
  }
  const auto drops = [this](NodeId id) { return dropped_.contains(id); };
  for (const NodeId reader : readers) {
    std::vector<std::string> inputs;
    std::set<std::string> controls;
    each_input(facts_.graph().bytes(reader), [&](std::string_view text) {
      const bool control = text.starts_with('^');
      std::string tensor(control ? text.substr(1) : text);
      const NodeId source = facts_.names().find(parse_input(text).node);
      if (control && source != kNoNode && drops(source)) {
        for (const auto& [awaited, node] : waits_of(source, drops)) {
          const std::string wait = awaited.starts_with('^') ? awaited : pivots.control_on(awaited);
          if (controls.insert(wait).second) inputs.push_back(wait);
        }
      }
      std::optional<std::string> now = behind(tensor, control, reader, drops);
      if (!now) return;
      if (control) {
        *now = *now == tensor ? std::string(text) : pivots.control_on(*now);
        if (!controls.insert(*now).second) return;
      } else if (*now != tensor) {
        new_readers_[index_of(facts_.names().find(parse_input(*now).node))].push_back(reader);
      }
      inputs.push_back(std::move(*now));
    });
    facts_.edited().replace(reader, with_inputs(facts_.graph().bytes(reader), inputs));
  }
}

}  // namespace gedit
