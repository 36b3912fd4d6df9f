#include "edit/copying/savers.h"

#include <algorithm>

#include "base/error.h"
#include "edit/savers/entries.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

class SaverExtension final : public GraphSaverNodes {
 public:
  SaverExtension(const Facts& facts, CopyMapping& mapping, bool values, CopyResult& result)
      : GraphSaverNodes(facts.model.graph(), facts.names(), facts.consumers(), SharedConsts::kStay),
        facts_(facts),
        mapping_(mapping),
        values_(values),
        result_(result) {}

  void run() {
    for (const SaverNode& save : facts_.savers().saves) save_copies(save);
    for (SaverNode restore : facts_.savers().restores) {
      if (values_) read_v2(*this, restore);  // the checkpoint that is written is one
      restore_copies(restore);
    }
    run_groups();
  }

 private:
  bool copied(NodeId variable) const { return variable != kNoNode && mapping_.copied(variable); }

  std::string key_of_copy(const std::string& key) const { return mapping_.scope().of(key); }

  void change(NodeId id, std::string node_def) override {
    result_.changed.emplace_back(graph_.name(id));
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
    const auto types = input_types(facts_.ops, graph_.bytes(save.node));
    std::vector<SaverEntry> entries;
    for (const SavedTensor& tensor : save.tensors) {
      if (!copied(tensor.variable)) continue;
      const std::string key = key_of_copy(tensor.key);
      if (known.contains(key)) {
        throw Error(Cause::kRefused, "key '" + printable(key) + "' is in use")
            .of(quoted("saver", graph_.name(save.node)))
            .hint("choose another --scope");
      }
      result_.keys[tensor.key] = key;
      const std::string& input = inputs[save.first_tensor + tensor.slot];
      const size_t at = save.first_tensor + tensor.slot;
      const DType type = types && at < types->size() ? base_type((*types)[at]) : DType::kInvalid;
      entries.push_back({key, tensor.slice, type, saved_copy(tensor, input)});
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

  void restore_copies(const SaverNode& restore) {
    if (restore.names == kNoNode) return;  // said for the Save node
    std::vector<const SavedTensor*> wanted;
    for (const SavedTensor& tensor : restore.tensors) {
      if (copied(tensor.variable)) wanted.push_back(&tensor);
    }
    if (wanted.empty()) return;
    for (const SavedTensor* tensor : wanted) {
      result_.keys.emplace(tensor->key, key_of_copy(tensor->key));
    }
    const bool one_each = restores_one_each(facts_.savers(), restore, node_op(graph_.bytes(restore.node)));
    if (one_each) wanted.resize(1);
    const auto known = output_types(facts_.ops, graph_.bytes(restore.node));
    std::vector<SaverEntry> entries;
    for (const SavedTensor* tensor : wanted) {
      const bool typed = known && tensor->slot < known->size();
      entries.push_back(
          {key_of_copy(tensor->key), tensor->slice, typed ? (*known)[tensor->slot] : DType::kInvalid, ""});
    }
    const std::vector<std::string> tensors = extend_restore(*this, restore, entries, one_each);
    for (size_t i = 0; i < wanted.size(); ++i) assign(*wanted[i], tensors[i]);
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
    for (const NodeId group : facts_.consumers().of(tensor.between.back())) {
      if (is_no_op(node_op(graph_.bytes(group)))) run_in(group, source);
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
  CopyResult& result_;
};

}  // namespace

void extend_savers(const Facts& facts, CopyMapping& mapping, bool values, CopyResult& result) {
  SaverExtension(facts, mapping, values, result).run();
}

}  // namespace gedit
