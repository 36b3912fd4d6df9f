#include "edit/copying/selection.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/near.h"
#include "edit/basis/addresses.h"
#include "edit/basis/contexts.h"
#include "edit/basis/key_value.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

class CopySelecting {
 public:
  CopySelecting(Facts& facts, const CopyRequest& request)
      : facts_(facts), request_(request), graph_(facts.graph()), contexts_(facts) {
    result_.nodes = NodeSet(graph_.size());
    result_.shared = NodeSet(graph_.size());
    share_assets();
    walked_ = NodeSet(graph_.size());
  }

  CopySelection run() {
    read_inputs();
    read_map();
    if (!request_.share.empty()) share();
    if (!request_.outputs.empty()) {
      for (const std::string& output : request_.outputs) {
        const TensorRef tensor = facts_.tensors().find(output);
        if (tensor.node == kNoNode) {
          throw refused("is an argument, not a node").of(quoted("tensor", facts_.tensors().text(tensor)));
        }
        want(tensor.node);
      }
    } else if (!request_.select.empty()) {
      exact_ = true;
      for (const NodeId id : hit_by(request_.select).nodes()) take(id);
    } else {
      exact_ = true;
      take_scope();
    }
    complete();
    if (result_.nodes.empty())
      throw refused("nothing is left to copy").hint("--share hits everything that is selected");
    check_loops();
    return std::move(result_);
  }

 private:
  // The path of an asset is shared: only the original is fed with it.
  void share_assets() {
    if (facts_.in_body()) return;
    const auto add = [&](std::string_view tensor) {
      if (const NodeId id = facts_.names().find(node_of(tensor)); id != kNoNode) result_.shared.add(id);
    };
    for (const Asset& asset : assets(facts_.model.meta())) add(asset.tensor);
    for (const Collection& collection : facts_.collections()) {
      if (collection.key != collection_key::kAssetFilepaths || collection.kind != collection_kind::kNodeList)
        continue;
      for (const std::string_view item : collection.items) add(item);
    }
  }

  // What the selector hits in the graph that is edited.
  NodeSet hit_by(const std::string& selector) {
    const Selection hit = facts_.selecting().require(selector);
    if (!facts_.in_body()) {
      if (!hit.nodes.empty()) return hit.nodes;
      throw refused("lies inside a function")
          .of(quoted("selector", selector))
          .hint("a selector of the main graph");
    }
    for (const auto& [index, nodes] : hit.in_functions) {
      if (&facts_.selecting().library().functions[index].body == &graph_) return nodes;
    }
    throw refused("hits nothing in function '" + printable(facts_.tensors().function()) + "'")
        .of(quoted("selector", selector))
        .hint("'" + facts_.tensors().function() + "//" + printable(selector) + "'");
  }

  void read_inputs() {
    for (const std::string& text : request_.inputs) {
      TypedTensor typed = parse_typed_tensor(text);
      const TensorRef tensor = facts_.tensors().find(typed.name);
      result_.cuts.insert(tensor);
      if (!typed.dtype && tensor.node != kNoNode && graph_.is(tensor.node, OpKind::kPlaceholder))
        fed_.insert(tensor.node);
      if (typed.dtype) result_.typed.emplace(tensor, typed);
      result_.inputs.push_back(std::move(typed));
    }
  }

  void read_map() {
    std::unordered_set<TensorRef, TensorHash> known;
    for (auto& [key, value] : parse_input_map(request_.input_map)) {
      if (const auto name = signature_tensor(facts_.model, key)) key = *name;
      if (const auto name = signature_tensor(facts_.model, value)) value = *name;
      if (!facts_.in_body() && !tensor_if_there(facts_.names(), key)) {
        Near near(parse_input(key).node);
        for (uint32_t i = 0; i < graph_.size(); ++i) near.offer(graph_.name(NodeId{i}));
        throw refused("nothing copied reads '" + printable(key) + "'")
            .of("input map")
            .hint(near.did_you_mean());
      }
      const TensorRef tensor = facts_.tensors().find(key, true);
      if (!known.insert(tensor).second)
        throw Error(Cause::kUsage, "is mapped twice").of(quoted("tensor", key));
      result_.cuts.insert(tensor);
      result_.input_map.emplace_back(tensor, value);
    }
  }

  void share() {
    const std::vector<NodeId> hit = hit_by(request_.share).nodes();
    for (const NodeId id : hit) result_.shared.add(id);
    for (const NodeId id : hit) {
      const auto variable = facts_.state().find(index_of(id));
      if (variable == facts_.state().end()) continue;
      std::vector<NodeId> stack;
      for (const NodeId satellite : variable->second.satellites) {
        if (result_.shared.add(satellite)) stack.push_back(satellite);
      }
      // The closure of its initializer is the original's business as well.
      while (!stack.empty()) {
        const NodeId at = stack.back();
        stack.pop_back();
        for (const NodeId producer : facts_.producers().of(at)) {
          if (facts_.state().contains(index_of(producer)) && !result_.shared.has(producer)) continue;
          if (result_.shared.add(producer)) stack.push_back(producer);
        }
      }
    }
  }

  // Adds one node; what it brings along is found later.
  void take(NodeId id) {
    if (result_.shared.has(id) || !result_.nodes.add(id)) return;
    fresh_.push_back(id);
  }

  // Adds a node and its closure.
  void want(NodeId id) {
    const Edges& producers = facts_.producers();
    std::vector<NodeId> stack{id};
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      if (result_.shared.has(at) || !walked_.add(at)) continue;
      take(at);
      const auto sources = producers.of(at);
      if (result_.cuts.empty()) {
        stack.insert(stack.end(), sources.begin(), sources.end());
        continue;
      }
      each_input(graph_.bytes(at), [&](std::string_view text) {
        const std::optional<TensorRef> tensor = facts_.tensors().of_input(text);
        if (tensor && tensor->control && fed_.contains(tensor->node)) return;
        if (tensor && tensor->node != kNoNode && !result_.cuts.contains(*tensor))
          stack.push_back(tensor->node);
      });
    }
  }

  // Every node of the scope but savers, init groups, and variables that only their satellites read.
  void take_scope() {
    NodeSet in(graph_.size());
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const NodeId id{i};
      if (!graph_.removed(id) && in_scope(graph_.name(id), request_.from_scope)) in.add(id);
    }
    if (in.empty())
      throw facts_.selecting().nothing(address(facts_.tensors().function(), request_.from_scope) + "/");
    NodeSet left_out(graph_.size());
    leave_savers(left_out);
    leave_init_groups(in, left_out);
    leave_unread(in, left_out);
    for (const NodeId id : in.nodes()) {
      if (!left_out.has(id)) take(id);
    }
  }

  void leave_savers(NodeSet& left_out) const {
    for (const SaverNode& save : facts_.savers().saves) left_out.add(save.node);
    for (const SaverNode& restore : facts_.savers().restores) {
      left_out.add(restore.node);
      for (const auto* tensors : {&restore.tensors, &restore.more_ends}) {
        for (const SavedTensor& tensor : *tensors) {
          for (const NodeId id : tensor.between) left_out.add(id);
        }
      }
      for (const FilledState& filled : restore.filled) {
        left_out.add(filled.end);
        for (const NodeId id : *filled.way) left_out.add(id);
      }
    }
  }

  // Who runs initializers, by way of what only waits, and groups of such groups.
  void leave_init_groups(const NodeSet& in, NodeSet& left_out) const {
    std::vector<NodeId> open;
    NodeSet groups(graph_.size());
    std::unordered_map<uint32_t, size_t> left;  // by reader of groups: what it waits for besides
    const auto leave = [&](NodeId id) {
      if (!groups.add(id)) return;
      left_out.add(id);
      open.push_back(id);
    };
    for (const auto& [initializer, owner] : facts_.initializer_owner()) {
      for (const NodeId reader : facts_.consumers().of(NodeId{initializer})) {
        if (in.has(reader) && facts_.only_waits(reader)) leave(reader);
      }
    }
    const auto is_empty = [&](NodeId id) {
      return graph_.is(id, OpKind::kNoOp) && facts_.producers().of(id).empty();
    };
    while (!open.empty()) {
      const NodeId group = open.back();
      open.pop_back();
      for (const NodeId reader : facts_.consumers().of(group)) {
        if (!in.has(reader) || !facts_.only_waits(reader)) continue;
        // What an inlined call left stands for what it waits for.
        if (!graph_.is(group, OpKind::kNoOp)) {
          leave(reader);
          continue;
        }
        const auto [count, fresh] = left.try_emplace(index_of(reader), 0);
        if (fresh) {
          for (const NodeId other : facts_.producers().of(reader)) count->second += is_empty(other) ? 0 : 1;
        }
        if (--count->second == 0) leave(reader);
      }
    }
  }

  // Slots of an optimizer that is not part of the scope: no node of the scope but their own satellites reads
  // them. What is left out may have been the only reader of another one, so until nothing changes.
  void leave_unread(const NodeSet& in, NodeSet& left_out) const {
    std::vector<uint32_t> order;
    for (const auto& [index, variable] : facts_.state()) {
      if (in.has(variable.node) && is_variable_op(node_op(graph_.bytes(variable.node))))
        order.push_back(index);
    }
    std::sort(order.begin(), order.end());
    for (bool changed = true; changed;) {
      changed = false;
      for (const uint32_t index : order) {
        const StateOf& variable = facts_.state().at(index);
        if (left_out.has(variable.node) || is_read(variable, in, left_out)) continue;
        changed = true;
        left_out.add(variable.node);
        for (const NodeId satellite : variable.satellites) left_out.add(satellite);
        for (const NodeId id : initial_values(variable)) {
          const auto readers = facts_.consumers().of(id);
          if (std::all_of(readers.begin(), readers.end(),
                          [&](NodeId reader) { return left_out.has(reader); })) {
            left_out.add(id);
          }
        }
      }
    }
  }

  bool is_read(const StateOf& variable, const NodeSet& in, const NodeSet& left_out) const {
    const auto own = [&](NodeId id) {
      return id == variable.node || std::find(variable.satellites.begin(), variable.satellites.end(), id) !=
                                        variable.satellites.end();
    };
    const auto read_outside = [&](NodeId id) {
      const auto readers = facts_.consumers().of(id);
      return std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
        return in.has(reader) && !own(reader) && !left_out.has(reader);
      });
    };
    if (read_outside(variable.node)) return true;
    return std::any_of(variable.satellites.begin(), variable.satellites.end(),
                       [&](NodeId id) { return reads(id, variable.node) && read_outside(id); });
  }

  bool reads(NodeId reader, NodeId source) const {
    const auto sources = facts_.producers().of(reader);
    return std::find(sources.begin(), sources.end(), source) != sources.end();
  }

  // The closure of the initial value, readers before what they read.
  std::vector<NodeId> initial_values(const StateOf& variable) const {
    std::vector<NodeId> order;
    if (variable.initializer == kNoNode) return order;
    std::unordered_set<uint32_t> seen{index_of(variable.node)};
    std::vector<NodeId> wave{variable.initializer};
    while (!wave.empty()) {
      std::vector<NodeId> next;
      for (const NodeId id : wave) {
        for (const NodeId source : facts_.producers().of(id)) {
          if (!seen.insert(index_of(source)).second ||
              !in_scope(graph_.name(source), graph_.name(variable.node)))
            continue;
          order.push_back(source);
          next.push_back(source);
        }
      }
      wave.swap(next);
    }
    return order;
  }

  // Exits that nothing reads are in no closure, yet a loop without them is not the loop: an Exit comes along
  // with the Switch that it leaves by. (The counter that gradients added to a forward loop has a Switch of
  // its own.)
  void take_exits() {
    for (const NodeId id : exits_) {
      const NodeId by = switch_of_exit(facts_, id);
      if (by != kNoNode && result_.nodes.has(by)) want(id);
    }
  }

  // What a saver fills a table with it does for the copy, too, under a key of its own.
  bool is_restored(NodeId filler) {
    if (!restored_) restored_ = restore_ends(facts_.savers());
    return restored_->contains(index_of(filler));
  }

  // Satellites of the variables and tables, and whole contexts, until nothing is added.
  void complete() {
    for (uint32_t i = 0; i < graph_.size() && facts_.frames().any() && !exact_; ++i) {
      if (!graph_.removed(NodeId{i}) && is_exit_op(node_op(graph_.bytes(NodeId{i}))))
        exits_.push_back(NodeId{i});
    }
    const auto& state = facts_.state();
    while (!fresh_.empty()) {
      std::vector<NodeId> fresh;
      fresh.swap(fresh_);
      if (state.empty() && contexts_.none()) fresh.clear();  // nothing brings anything along
      for (const NodeId id : fresh) {
        if (const auto variable = state.find(index_of(id)); variable != state.end()) {
          // A cut variable handle keeps its original; one whose initializer is shared has none of its own.
          for (const NodeId satellite : variable->second.satellites) {
            if (!variable->second.table || !is_restored(satellite)) want(satellite);
          }
        }
        contexts_.add(id, [&](NodeId needed) { exact_ ? take(needed) : want(needed); });
      }
      if (fresh_.empty()) take_exits();
    }
  }

  // A loop is copied whole or not at all: a node in a frame whose producer in that frame stays behind would
  // have inputs from two frames.
  void check_loops() const {
    if (!facts_.frames().any()) return;
    for (const NodeId id : result_.nodes.nodes()) {
      const uint32_t frame = facts_.frames().of(id);
      if (frame == 0 || is_enter_op(node_op(graph_.bytes(id)))) continue;
      each_input(graph_.bytes(id), [&](std::string_view text) {
        const std::optional<TensorRef> tensor = facts_.tensors().of_input(text);
        if (!tensor || tensor->node == kNoNode || facts_.frames().of_output(tensor->node) != frame) return;
        const bool cut = result_.cuts.contains(*tensor);
        if (!cut && result_.nodes.has(tensor->node)) return;
        const std::string name(graph_.name(tensor->node));
        const std::string loop(facts_.frames().frame(frame).name);
        if (cut) {
          throw refused("inside loop '" + printable(loop) + "'")
              .of(quoted("tensor", facts_.tensors().text(*tensor)))
              .hint("cut at an Enter's input or at an Exit");
        }
        const std::string scope(dir_name(loop));
        throw refused("its input '" + printable(name) + "' in the same loop is not selected")
            .of(quoted("node", address(facts_.tensors().function(), graph_.name(id))))
            .hint("--outputs, or add '" + printable(scope == "." ? name : scope + "/") + "'");
      });
    }
  }

  Facts& facts_;
  const CopyRequest& request_;
  const Graph& graph_;
  Contexts contexts_;
  CopySelection result_;
  std::vector<NodeId> fresh_;
  std::unordered_set<NodeId> fed_;  // placeholders that stay inputs: to wait for them is no other input
  std::optional<std::unordered_set<uint32_t>> restored_;  // what a saver's Restore nodes end in
  std::vector<NodeId> exits_;
  NodeSet walked_;
  bool exact_ = false;
};

}  // namespace

std::string function_of(Model& model, Registry& ops, const CopyRequest& request) {
  std::set<std::string> places;
  for (const std::string& output : request.outputs) {
    const bool of_signature = signature_tensor(model, output).has_value();
    places.emplace(of_signature ? std::string_view() : split_address(output).function);
  }
  if (request.has_from_scope && request.outputs.empty() && request.select.empty())
    places.emplace(split_address(request.from_scope).function);
  if (request.select.find("fn:") != std::string::npos || request.select.find("//") != std::string::npos ||
      request.select.starts_with('@')) {
    Selecting selecting(model, ops);
    const Selection hit = selecting.require(request.select);
    if (!hit.nodes.empty()) places.emplace();
    for (const auto& [index, nodes] : hit.in_functions)
      places.emplace(selecting.library().functions[index].name);
  }
  if (places.size() > 1) {
    const std::string& first = *places.begin();
    throw refused("is spread over " + (first.empty() ? "the main graph" : quoted("function", first)) +
                  " and " + quoted("function", *std::next(places.begin())))
        .of("selection")
        .hint("copy in one place at a time");
  }
  return places.empty() ? "" : *places.begin();
}

CopySelection select_for_copy(Facts& facts, const CopyRequest& request) {
  return CopySelecting(facts, request).run();
}

}  // namespace gedit
