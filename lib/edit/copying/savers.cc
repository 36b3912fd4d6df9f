#include "edit/copying/savers.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "edit/savers/entries.h"
#include "graph/wiring.h"
#include "model/saver_def.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr size_t kMostBehind = 1000;  // nodes that compute what a saver saves; TensorFlow makes a handful

class SaverExtension final : public GraphSaverNodes {
 public:
  SaverExtension(const Facts& facts, CopyMapping& mapping, bool values, CopyChanges& result)
      : GraphSaverNodes(facts.model.graph(), facts.names(), facts.consumers(), SharedConsts::kStay),
        facts_(facts),
        mapping_(mapping),
        values_(values),
        result_(result),
        restores_one_each_(facts.savers()) {
    if (!facts.model.meta().has(meta_field::kSaver)) return;
    const SaverDefNodes def = saver_def_nodes(facts.model.meta().part(meta_field::kSaver), facts.names());
    const NodeSet main =
        main_saver_nodes(facts.graph(), facts.producers(), facts.savers(), {def.save, def.restore});
    for (const SaverNode& save : facts.savers().saves) {
      if (main.has(save.node)) main_.insert(save.node);
    }
    find_inlined_restores(def.restore);
  }

  void run() {
    for (const SaverNode& save : facts_.savers().saves) save_copies(save);
    for (SaverNode restore : facts_.savers().restores) {
      if (values_) read_v2(*this, restore);  // the checkpoint that is written is one
      restore_copies(restore);
    }
    std::unordered_set<uint32_t> ends;
    for (const SaverNode& restore : facts_.savers().restores) {
      for (const FilledState& filled : restore.filled) {
        if (restore.names != kNoNode && copied(filled.state) && ends.insert(index_of(filled.end)).second)
          fill(filled);
      }
    }
    run_groups();
  }

 private:
  // A copy of a saver may read the original's Const.
  bool read_elsewhere(NodeId id) const override {
    if (mapping_.copied(id)) return false;
    const auto readers = facts_.consumers().of(id);
    return std::any_of(readers.begin(), readers.end(),
                       [&](NodeId reader) { return mapping_.copied(reader); });
  }

  bool copied(NodeId variable) const { return variable != kNoNode && mapping_.copied(variable); }

  std::string key_of_copy(const std::string& key) const { return mapping_.scope().of(key); }

  void change(NodeId id, std::string node_def) override {
    result_.changed.emplace_back(graph_.name(id), "extended");
    GraphSaverNodes::change(id, std::move(node_def));
  }

  std::string free_name(std::string_view wanted) override { return mapping_.free_name(wanted); }

  // The node as a copy's own: colocated with the copy, on its device.
  std::string for_copy(NodeId id) const { return mapped_node(graph_.bytes(id), mapping_); }

  void no_const(NodeId node) {
    result_.warnings.push_back("saver '" + printable(dir_name(graph_.name(node))) +
                               "': tensor_names is not a Const; the copies are not saved");
  }

  bool reads_copied(NodeId node) const {
    const auto sources = facts_.producers().of(node);
    return std::any_of(sources.begin(), sources.end(), [&](NodeId source) { return copied(source); });
  }

  void save_copies(const SaverNode& save) {
    if (!save.readable()) {
      if (reads_copied(save.node)) no_const(save.node);
      return;
    }
    std::unordered_set<std::string> known;
    for (const SavedTensor& tensor : save.tensors) known.insert(tensor.key);
    const std::vector<std::string> inputs = inputs_of(save.node);
    const std::vector<DType> types = saver_types(graph_.bytes(save.node));
    std::vector<SaverEntry> entries;
    for (const SavedTensor& tensor : save.tensors) {
      const std::string& input = inputs[save.first_tensor + tensor.slot];
      const bool computed = tensor.variable == kNoNode && computed_from_copies(save, tensor, input);
      if (!computed && !copied(tensor.variable)) continue;
      const std::string key = key_of_copy(tensor.key);
      if (known.contains(key)) {
        throw Error(Cause::kRefused, "key '" + printable(key) + "' is in use")
            .of(quoted("saver", graph_.name(save.node)))
            .hint("choose another --scope");
      }
      result_.keys[tensor.key] = key;
      if (computed && (main_.empty() || main_.contains(save.node))) result_.values[tensor.key] = key;
      const DType type = tensor.slot < types.size() ? base_type(types[tensor.slot]) : DType::kInvalid;
      entries.push_back({key, tensor.slice, type, computed ? once_more(input) : saved_copy(tensor, input)});
    }
    if (!entries.empty()) extend_save(*this, save, entries);
  }

  // The copy of a saved tensor: of the read where that was copied, else of the way to it once more.
  std::string saved_copy(const SavedTensor& tensor, const std::string& input) {
    const Input read = parse_input(input);
    const NodeId producer = facts_.names().find(read.node);
    if (mapping_.copied(producer)) return tensor_text(mapping_.scope().of(read.node), read.index());
    std::string source = mapping_.scope().of(graph_.name(tensor.variable));
    for (const NodeId id : tensor.between) {
      if (mapping_.copied(id)) {
        source = mapping_.scope().of(graph_.name(id));
        continue;
      }
      std::vector<std::string> inputs = inputs_of(id);
      inputs[0] = source;
      source = duplicate(id, inputs, for_copy(id));
    }
    return source;
  }

  // What a saved value is computed from, with the nodes that compute it, producers first: of a mirrored
  // variable the mean of its replicas, of a table an export.
  struct Behind {
    std::vector<NodeId> way;
    NodeId copied = kNoNode, other = kNoNode;  // state that has a copy, and state that has none
  };

  Behind behind(NodeId id) const {
    Behind found;
    std::unordered_set<uint32_t> seen;
    std::vector<std::pair<NodeId, bool>> open{{id, false}};
    while (!open.empty()) {
      const auto [at, done] = open.back();
      open.pop_back();
      if (done) {
        found.way.push_back(at);
        continue;
      }
      if (!seen.insert(index_of(at)).second) continue;
      if (seen.size() > kMostBehind) return {};
      if (mapping_.copied(at)) {
        found.copied = at;
      } else if (facts_.state().contains(index_of(at))) {
        found.other = at;
      } else {
        open.emplace_back(at, true);
        for (const NodeId source : facts_.producers().of(at)) open.emplace_back(source, false);
      }
    }
    return found;
  }

  bool computed_from_copies(const SaverNode& save, const SavedTensor& tensor,
                            const std::string& input) const {
    const NodeId producer = facts_.names().find(parse_input(input).node);
    if (producer == kNoNode) return false;
    const Behind found = behind(producer);
    if (found.copied == kNoNode) return false;
    if (found.other != kNoNode) {
      throw refused("computed from '" + printable(graph_.name(found.copied)) + "', which is copied, and '" +
                    printable(graph_.name(found.other)) + "', which is not")
          .of("key '" + printable(tensor.key) + "' of saver '" + printable(graph_.name(save.node)) + "'")
          .hint("add '" + printable(graph_.name(found.other)) + "' to --outputs");
    }
    return true;
  }

  // The value once more, of the copies.
  std::string once_more(const std::string& input) {
    const Input value = parse_input(input);
    const NodeId producer = facts_.names().find(value.node);
    for (const NodeId id : behind(producer).way) {
      if (again_.contains(index_of(id))) continue;
      std::vector<std::string> inputs = inputs_of(id);
      bool changed = false;
      for (std::string& one : inputs) {
        std::string now = again(one);
        changed = changed || now != one;
        one = std::move(now);
      }
      if (changed) again_.emplace(index_of(id), duplicate(id, inputs, for_copy(id)));
    }
    return again(input);
  }

  // An input as another one has it: what was restored for the copies, what was computed once more, a copy.
  std::string again(const std::string& input) const {
    const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), input);
    if (!tensor) return input;
    const std::string control = tensor->control ? "^" : "";
    const auto restored = restored_.find(index_of(tensor->node));
    if (restored != restored_.end() && !tensor->control && restored->second.contains(tensor->index))
      return restored->second.at(tensor->index);
    const auto found = again_.find(index_of(tensor->node));
    if (found == again_.end()) return control + copied_input(input.substr(control.size()));
    return tensor->control ? control + found->second : tensor_text(found->second, tensor->index);
  }

  void restore_copies(const SaverNode& restore) {
    if (restore.names == kNoNode) return;  // said for the Save node
    std::vector<const SavedTensor*> ends;
    std::map<uint32_t, std::string> restored;  // by slot: what the copies read
    for (const auto* tensors : {&restore.tensors, &restore.more_ends}) {
      for (const SavedTensor& tensor : *tensors) {
        if (!copied(tensor.variable)) continue;
        ends.push_back(&tensor);
        restored[tensor.slot];
      }
    }
    for (const FilledState& filled : restore.filled) {
      if (!copied(filled.state)) continue;
      for (const uint32_t slot : filled.slots) restored[slot];
    }
    if (restored.empty()) return;
    const bool one_each = restores_one_each_(restore, node_op(graph_.bytes(restore.node)));
    const std::vector<DType> types = saver_types(graph_.bytes(restore.node));
    std::vector<SaverEntry> entries;
    for (const auto& [slot, tensor] : restored) {
      const SavedTensor& original = restore.tensors[slot];
      result_.keys.emplace(original.key, key_of_copy(original.key));
      const DType type = slot < types.size() ? types[slot] : DType::kInvalid;
      entries.push_back({key_of_copy(original.key), original.slice, type, ""});
    }
    const std::vector<std::string> tensors = extend_restore(*this, restore, entries, one_each);
    size_t next = 0;
    for (auto& [slot, tensor] : restored) tensor = tensors[next++];
    for (const SavedTensor* end : ends) assign(*end, restored.at(end->slot));
    restored_.emplace(index_of(restore.node), std::move(restored));
  }

  // What computes the contents once more, of what is restored for the copies, and what fills the copy with
  // them.
  void fill(const FilledState& filled) {
    const auto repeat = [&](NodeId id) {
      std::vector<std::string> inputs = inputs_of(id);
      for (std::string& input : inputs) input = again(input);
      return duplicate(id, inputs, for_copy(id));
    };
    for (const NodeId id : *filled.way) {
      if (!again_.contains(index_of(id))) again_.emplace(index_of(id), repeat(id));
    }
    const std::string end = repeat(filled.end);
    run_with(filled.end, end);
  }

  // The nodes from the restored tensor to the assignment once more, and the new assignment in the groups of
  // the old.
  void assign(const SavedTensor& tensor, std::string source) {
    for (const NodeId id : tensor.between) {
      std::vector<std::string> inputs = inputs_of(id);
      const bool last = id == tensor.between.back();
      if (last) inputs[0] = copied_input(inputs[0]);
      inputs[last ? 1 : 0] = source;
      for (std::string& input : inputs) {
        if (input.starts_with('^')) input = "^" + copied_input(input.substr(1));
      }
      source = duplicate(id, inputs, for_copy(id));
    }
    run_with(tensor.between.back(), source);
  }

  // In the groups of the original.
  void run_with(NodeId original, const std::string& copy) {
    for (const NodeId group : facts_.consumers().of(original)) {
      if (is_no_op(node_op(graph_.bytes(group))) || inlined_restores_.contains(group)) run_in(group, copy);
    }
  }

  // What a restore operation is, or groups, that was a call: an Identity waits for all that the call did.
  void find_inlined_restores(NodeId restore) {
    std::vector<NodeId> open{restore};
    std::unordered_set<NodeId> seen;
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      if (at == kNoNode || !seen.insert(at).second) continue;
      const OpKinds op = graph_.kinds(at);
      if (op.has(OpKind::kIdentity)) inlined_restores_.insert(at);
      if (!op.has(OpKind::kNoOp)) continue;
      for (const NodeId member : facts_.producers().of(at)) open.push_back(member);
    }
  }

  std::string copied_input(const std::string& input) const {
    const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), input);
    return tensor && mapping_.copied(tensor->node)
               ? tensor_text(mapping_.scope().of(graph_.name(tensor->node)), tensor->index)
               : input;
  }

  const Facts& facts_;
  CopyMapping& mapping_;
  const bool values_;
  CopyChanges& result_;
  const RestoresOneEach restores_one_each_;
  std::set<NodeId> main_;  // Save nodes of saver_def's saver
  std::unordered_set<NodeId> inlined_restores_;
  // What computes a value that is saved or restored, and its copy.
  std::unordered_map<uint32_t, std::string> again_;
  std::unordered_map<uint32_t, std::map<uint32_t, std::string>> restored_;  // by Restore node and slot
};

}  // namespace

void extend_savers(const Facts& facts, CopyMapping& mapping, bool values, CopyChanges& result) {
  if (!facts.savers().empty()) SaverExtension(facts, mapping, values, result).run();
}

}  // namespace gedit
