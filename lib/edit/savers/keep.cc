#include "edit/savers/keep.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "checkpoint/bundle.h"
#include "edit/savers/entries.h"
#include "graph/wiring.h"
#include "model/saver_def.h"
#include "ops/kinds.h"

namespace gedit {

SaverShrinking::SaverShrinking(Facts& facts, Closure& closure)
    : facts_(facts),
      graph_(facts.model.graph()),
      closure_(closure),
      dead_(graph_.size()),
      own_(graph_.size()) {
  for (const SaverNode& save : facts.savers().saves) saves_.emplace(index_of(save.node), &save);
  for (const SaverNode& restore : facts.savers().restores)
    restores_.emplace(index_of(restore.node), &restore);
}

// Whether a variable or table stays whose value the tensor is, or of which it is computed. `source`: the node
// that gives it.
bool SaverShrinking::owner_stays(const SavedTensor& tensor, NodeId source,
                                 const std::function<bool(NodeId)>& stays) const {
  if (tensor.variable != kNoNode) return stays(tensor.variable);
  if (source != kNoNode && stays(source_of(source, 0))) return true;  // an iterator, as it stands
  constexpr size_t kMost = 1000;  // nodes that compute it; TensorFlow makes a handful
  std::unordered_set<uint32_t> seen;
  std::vector<NodeId> open{source};
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    if (at == kNoNode || !seen.insert(index_of(at)).second) continue;
    if (seen.size() > kMost) return true;
    if (facts_.state().contains(index_of(at))) {
      if (stays(at)) return true;
      continue;
    }
    each_input(graph_.bytes(at), [&](std::string_view text) {
      const std::optional<TensorRef> input = tensor_if_there(facts_.names(), text);
      if (input && !input->control) open.push_back(input->node);
    });
  }
  return false;
}

NodeId SaverShrinking::source_of(NodeId id, size_t slot) const {
  size_t at = 0;
  NodeId source = kNoNode;
  each_input(graph_.bytes(id), [&](std::string_view text) {
    if (at++ != slot) return;
    if (const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), text)) source = tensor->node;
  });
  return source;
}

void SaverShrinking::decide(const std::function<bool(NodeId)>& stays) {
  dead_ = NodeSet(graph_.size());
  lost_.clear();
  kept_slots_.clear();
  kept_outputs_.clear();
  std::vector<NodeId> stack;
  const auto kill = [&](NodeId id) {
    if (dead_.add(id)) stack.push_back(id);
  };
  std::unordered_set<uint32_t> live_files;
  for (const SaverNode& save : facts_.savers().saves) {
    std::vector<uint32_t> slots;
    bool any = false;
    std::vector<NodeId> sources;
    each_input(graph_.bytes(save.node), [&](std::string_view text) {
      const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), text);
      sources.push_back(tensor ? tensor->node : kNoNode);
    });
    for (const SavedTensor& tensor : save.tensors) {
      const size_t at = save.first_tensor + tensor.slot;
      const bool own = owner_stays(tensor, at < sources.size() ? sources[at] : kNoNode, stays);
      any = any || own;
      if (own || tensor.key == kObjectGraphKey) slots.push_back(tensor.slot);
    }
    if (!any) {
      kill(save.node);
    } else {
      kept_slots_[index_of(save.node)] = std::move(slots);
      live_files.insert(index_of(source_of(save.node, 0)));
    }
  }
  // The file of a shard that is not written any more.
  for (const SaverNode& save : facts_.savers().saves) {
    const NodeId file = source_of(save.node, 0);
    if (!dead_.has(save.node) || file == kNoNode || live_files.contains(index_of(file))) continue;
    lost_.insert(index_of(file));
    for (const NodeId reader : facts_.consumers().of(save.node)) {
      if (source_of(reader, 0) == file && is_identity_op(node_op(graph_.bytes(reader)))) kill(reader);
    }
  }
  for (const SaverNode& restore : facts_.savers().restores) {
    std::set<uint32_t> outputs;
    const std::array ends{&restore.tensors, &restore.more_ends};
    for (const auto* tensors : ends) {
      for (const SavedTensor& tensor : *tensors) {
        if (tensor.variable != kNoNode && stays(tensor.variable)) outputs.insert(tensor.slot);
      }
    }
    // Replicas that are restored from one tensor stay together; others may read what is on the way.
    for (const auto* tensors : ends) {
      for (const SavedTensor& tensor : *tensors) {
        if (!outputs.contains(tensor.slot) && !tensor.between.empty()) kill(tensor.between.back());
      }
    }
    for (const FilledState& filled : restore.filled) {
      if (stays(filled.state)) {
        outputs.insert(filled.slots.begin(), filled.slots.end());
      } else {
        kill(filled.end);
      }
    }
    for (const NodeId reader : facts_.consumers().of(restore.node)) {
      if (dead_.has(reader)) continue;
      bool kept = true;
      each_input(graph_.bytes(reader), [&](std::string_view text) {
        const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), text);
        if (tensor && tensor->node == restore.node && !tensor->control)
          kept = kept && outputs.contains(tensor->index);
      });
      if (!kept) kill(reader);
    }
    // What somebody else reads of it has its number.
    if (closure_.wants_all_of(restore.node)) {
      for (uint32_t output = 0; output < count_tensors(graph_.bytes(restore.node)); ++output)
        outputs.insert(output);
    }
    if (outputs.empty()) {
      kill(restore.node);
    } else {
      kept_outputs_[index_of(restore.node)].assign(outputs.begin(), outputs.end());
    }
  }
  // Whoever reads a tensor of what goes, goes; a control input is only dropped, and a group goes with its
  // last.
  std::unordered_map<uint32_t, size_t> left;  // inputs of groups
  while (!stack.empty()) {
    const NodeId at = stack.back();
    stack.pop_back();
    for (const NodeId reader : facts_.consumers().of(at)) {
      if (is_no_op(node_op(graph_.bytes(reader)))) {
        const auto count = left.emplace(index_of(reader), facts_.producers().of(reader).size()).first;
        if (--count->second == 0) kill(reader);
        continue;
      }
      each_input(graph_.bytes(reader), [&](std::string_view text) {
        const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), text);
        if (tensor && tensor->node == at && !tensor->control) kill(reader);
      });
    }
  }
}

// The saver's own nodes from these on, backwards, without what goes and without what belongs to the model.
void SaverShrinking::collect(const std::vector<NodeId>& roots, const std::function<bool(NodeId)>& apart) {
  std::unordered_set<uint32_t> seen;
  std::vector<NodeId> own, stack, model;
  bool works = false;
  for (const NodeId root : roots) {
    if (root == kNoNode || dead_.has(root) || own_.has(root) || apart(root)) continue;
    if (seen.insert(index_of(root)).second) stack.push_back(root);
  }
  while (!stack.empty()) {
    const NodeId at = stack.back();
    stack.pop_back();
    own.push_back(at);
    const auto slots = kept_slots_.find(index_of(at));
    works = works || slots != kept_slots_.end() || kept_outputs_.contains(index_of(at));
    const auto save = saves_.find(index_of(at));
    const bool pack = node_op(graph_.bytes(at)) == "Pack";
    const bool assign = is_assign_op(node_op(graph_.bytes(at)));
    uint32_t slot = 0;
    each_input(graph_.bytes(at), [&](std::string_view text) {
      const uint32_t here = slot++;
      const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), text);
      if (!tensor || dead_.has(tensor->node) || apart(tensor->node)) return;
      if (pack && lost_.contains(index_of(tensor->node))) return;
      if (save != saves_.end() && here >= save->second->first_tensor && !tensor->control) {
        const uint32_t number = here - save->second->first_tensor;
        if (std::binary_search(slots->second.begin(), slots->second.end(), number))
          model.push_back(tensor->node);
        return;
      }
      if (facts_.state().contains(index_of(tensor->node)) || (assign && here == 0)) {
        model.push_back(tensor->node);
      } else if (seen.insert(index_of(tensor->node)).second) {
        stack.push_back(tensor->node);
      }
    });
  }
  if (!works) return;
  for (const NodeId id : own) {
    own_.add(id);
    closure_.want_alone(id);
  }
  for (const NodeId id : model) closure_.want(id);
}

void SaverShrinking::complete(const std::function<bool(NodeId)>& stays,
                              const std::function<bool(NodeId)>& apart) {
  if (facts_.savers().empty()) return;
  decide(stays);
  own_ = NodeSet(graph_.size());  // what they read may be more by now
  for (const std::string_view def : saver_defs(facts_.model.meta())) {
    const SaverDefNodes nodes = saver_def_nodes(def, facts_.names());
    collect({nodes.filename, nodes.save, nodes.restore}, apart);
  }
  // Savers that no SaverDef names: what follows their nodes.
  const auto from = [&](NodeId start) {
    if (own_.has(start) || dead_.has(start)) return;
    std::unordered_set<uint32_t> seen{index_of(start)};
    std::vector<NodeId> roots{start};
    for (size_t at = 0; at < roots.size(); ++at) {
      for (const NodeId reader : facts_.consumers().of(roots[at])) {
        if (is(node_op(graph_.bytes(reader)), OpKind::kBehindSave) && seen.insert(index_of(reader)).second)
          roots.push_back(reader);
      }
    }
    collect(roots, apart);
  };
  for (const SaverNode& save : facts_.savers().saves) from(save.node);
  for (const SaverNode& restore : facts_.savers().restores) {
    for (const SavedTensor& tensor : restore.tensors) {
      if (!tensor.between.empty()) from(tensor.between.back());
    }
    for (const FilledState& filled : restore.filled) from(filled.end);
  }
}

namespace {

// Tells of the Consts that are added.
class KeptSaverNodes final : public GraphSaverNodes {
 public:
  KeptSaverNodes(Facts& facts, Changes& changes)
      : GraphSaverNodes(facts.model.graph(), facts.names(), facts.consumers(), SharedConsts::kGoToTheLast),
        changes_(changes) {}

  void add(std::string node_def) override {
    changes_.added.emplace_back(node_name(node_def), node_op(node_def));
    GraphSaverNodes::add(std::move(node_def));
  }

 private:
  Changes& changes_;
};

}  // namespace

void SaverShrinking::apply(Changes& changes, std::set<std::string, std::less<>>& dropped,
                           std::set<NodeId>& object_graphs) {
  KeptSaverNodes nodes(facts_, changes);
  for (const SaverNode& save : facts_.savers().saves) {
    const auto slots = kept_slots_.find(index_of(save.node));
    if (!own_.has(save.node) || slots == kept_slots_.end()) continue;
    for (const SavedTensor& tensor : save.tensors) {
      if (!std::binary_search(slots->second.begin(), slots->second.end(), tensor.slot)) {
        dropped.insert(tensor.key);
      } else if (tensor.key == kObjectGraphKey) {
        object_graphs.insert(source_of(save.node, save.first_tensor + tensor.slot));
      }
    }
  }
  for (const NodeId id : own_.nodes()) {
    const auto save = saves_.find(index_of(id));
    const auto restore = restores_.find(index_of(id));
    const std::vector<uint32_t>* slots = save == saves_.end() ? nullptr : &kept_slots_.at(index_of(id));
    const bool pack = node_op(graph_.bytes(id)) == "Pack";
    std::vector<std::string> inputs;
    uint32_t slot = 0, count = 0;
    bool changed = false;
    each_input(graph_.bytes(id), [&](std::string_view text) {
      const uint32_t here = slot++;
      const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), text);
      bool keeps = !tensor || closure_.nodes().has(tensor->node) || !(tensor->control || pack);
      if (slots != nullptr && here >= save->second->first_tensor && !text.starts_with('^'))
        keeps = std::binary_search(slots->begin(), slots->end(), here - save->second->first_tensor);
      if (!keeps) {
        changed = true;
        return;
      }
      count += text.starts_with('^') ? 0 : 1;
      inputs.emplace_back(text);
      // A restored tensor has another number now.
      const auto outputs =
          tensor && !tensor->control ? kept_outputs_.find(index_of(tensor->node)) : kept_outputs_.end();
      if (outputs == kept_outputs_.end()) return;
      const auto at = std::lower_bound(outputs->second.begin(), outputs->second.end(), tensor->index);
      const auto now = static_cast<uint32_t>(at - outputs->second.begin());
      if (now == tensor->index) return;
      inputs.back() = tensor_text(graph_.name(tensor->node), now);
      changed = true;
    });
    std::string node_def;
    const auto shrink = [&](const SaverNode& saver, const std::vector<uint32_t>& kept) {
      if (inputs.size() < 3 || (count_tensors(graph_.bytes(id)) == kept.size() && !changed)) return;
      changed = true;
      node_def = keep_tensors(nodes, saver, kept, inputs);
    };
    if (slots != nullptr) {
      shrink(*save->second, *slots);
    } else if (restore != restores_.end() && is_restore_v2_op(node_op(graph_.bytes(id)))) {
      shrink(*restore->second, kept_outputs_.at(index_of(id)));
    }
    if (!changed) continue;
    if (node_def.empty()) node_def = with_inputs(graph_.bytes(id), inputs);
    if (pack) node_def = with_attr(node_def, "N", int_value(count));
    if (pack) node_def = without_attr(node_def, "_output_shapes");
    changes.changed.emplace_back(graph_.name(id), "without what is gone");
    graph_.replace(id, node_def);
  }
}

bool SaverShrinking::lives(std::string_view saver_def) const {
  const SaverDefNodes nodes = saver_def_nodes(saver_def, facts_.names());
  const auto stays = [&](NodeId id) { return id != kNoNode && closure_.nodes().has(id); };
  return stays(nodes.filename) && stays(nodes.save) && stays(nodes.restore);
}

}  // namespace gedit
