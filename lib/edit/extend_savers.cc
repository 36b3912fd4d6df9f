#include "edit/extend_savers.h"

#include <algorithm>

#include "base/error.h"

namespace gedit {
namespace {

class SaverExtension {
 public:
  SaverExtension(const CopyFacts& facts, CopyMapping& mapping, CopyResult& result)
      : facts_(facts), graph_(facts.model.graph()), mapping_(mapping), result_(result) {}

  void run() {
    for (const SaveNode& save : facts_.savers.saves) extend(save);
    for (const RestoreNode& restore : facts_.savers.restores) extend(restore);
    for (const auto& [group, inputs] : groups_) {
      std::vector<std::string> all;
      each_input(graph_.bytes(NodeId{group}), [&](std::string_view input) { all.emplace_back(input); });
      all.insert(all.end(), inputs.begin(), inputs.end());
      change(NodeId{group}, with_inputs(graph_.bytes(NodeId{group}), all));
    }
  }

 private:
  bool copied(NodeId variable) const { return variable != kNoNode && mapping_.copied(variable); }

  std::string key_of_copy(const std::string& key) const { return mapping_.scope().of(key); }

  void change(NodeId id, std::string node_def) {
    result_.changed.emplace_back(graph_.name(id));
    graph_.replace(id, std::move(node_def));
  }

  void add(std::string node_def) {
    result_.added.emplace_back(node_name(node_def));
    graph_.append(std::move(node_def));
  }

  // A node like `id` under the original's name with the next free number; inputs are given, the rest goes
  // through the mapping (colocation with the copy, its device).
  std::string duplicate(NodeId id, const std::vector<std::string>& inputs, std::string node_def = {}) {
    if (node_def.empty()) node_def = mapped_node(graph_.bytes(id), mapping_);
    const std::string name = mapping_.free_name(graph_.name(id));
    std::string renamed;
    append_bytes_field(renamed, node_field::kName, name);
    const std::string rewired = with_inputs(node_def, inputs);
    for (Fields fields(rewired); fields.next();) {
      if (!fields->bytes(node_field::kName)) renamed += fields->raw;
    }
    add(std::move(renamed));
    return name;
  }

  std::vector<std::string> inputs_of(NodeId id) const {
    std::vector<std::string> inputs;
    each_input(graph_.bytes(id), [&](std::string_view input) { inputs.emplace_back(input); });
    return inputs;
  }

  // The strings in the Const `id` become these, for the node `reader` alone: where others read the Const,
  // too, the reader gets one of its own. Gives what the reader's input is to be.
  std::string set_strings(NodeId id, NodeId reader, const std::string& input,
                          const std::vector<std::string>& strings) {
    const auto readers = facts_.consumers.of(id);
    const bool alone = std::all_of(readers.begin(), readers.end(), [&](NodeId one) { return one == reader; });
    if (alone) {
      change(id, with_strings(graph_.bytes(id), strings));
      return input;
    }
    return duplicate(id, inputs_of(id), with_strings(graph_.bytes(id), strings));
  }

  void no_const(NodeId node) {
    result_.warnings.push_back("saver '" + printable(dir_name(graph_.name(node))) +
                               "': tensor_names is not a Const; the copies are not saved");
  }

  bool reads_copied(NodeId node) const {
    const auto sources = facts_.producers.of(node);
    return std::any_of(sources.begin(), sources.end(), [&](NodeId source) { return copied(source); });
  }

  void extend(const SaveNode& save) {
    if (!save.readable()) {
      if (reads_copied(save.node)) no_const(save.node);
      return;
    }
    std::vector<std::string> keys, slices;
    std::unordered_set<std::string> known;
    for (const SavedTensor& tensor : save.tensors) {
      keys.push_back(tensor.key);
      slices.push_back(tensor.slice);
      known.insert(tensor.key);
    }
    std::vector<std::string> inputs = inputs_of(save.node);
    // Control inputs come last.
    const auto first_control = std::find_if(inputs.begin(), inputs.end(),
                                            [](const std::string& input) { return input.starts_with('^'); });
    std::vector<std::string> controls(first_control, inputs.end());
    inputs.erase(first_control, inputs.end());
    std::vector<DType> types;
    const size_t before = keys.size();
    for (const SavedTensor& tensor : save.tensors) {
      if (!copied(tensor.variable)) continue;
      const std::string key = key_of_copy(tensor.key);
      if (known.contains(key)) {
        throw Error(Cause::kRefused, "key '" + printable(key) + "' is in use")
            .of(quoted("saver", graph_.name(save.node)))
            .hint("choose another --scope");
      }
      keys.push_back(key);
      slices.push_back(tensor.slice);
      result_.keys[tensor.key] = key;
      const std::string& input = inputs[save.first_tensor + tensor.slot];
      types.push_back(saved_type(save, tensor));
      inputs.push_back(saved_copy(tensor, input));
    }
    if (keys.size() == before) return;
    inputs[1] = set_strings(save.names, save.node, inputs[1], keys);
    if (save.slices != kNoNode) inputs[2] = set_strings(save.slices, save.node, inputs[2], slices);
    inputs.insert(inputs.end(), controls.begin(), controls.end());
    const std::string_view node_def = graph_.bytes(save.node);
    const std::string typed = with_types(node_def, node_op(node_def) == "SaveV2" ? "dtypes" : "T", types);
    change(save.node, with_inputs(typed, inputs));
  }

  // The dtype that stands for the tensor in the Save node's list.
  DType saved_type(const SaveNode& save, const SavedTensor& tensor) const {
    const auto types = input_types(facts_.ops, graph_.bytes(save.node));
    const size_t at = save.first_tensor + tensor.slot;
    return types && at < types->size() ? base_type((*types)[at]) : DType::kInvalid;
  }

  // The copy of a saved tensor: of the read where that was copied, else of the way to it once more.
  std::string saved_copy(const SavedTensor& tensor, const std::string& input) {
    const Input read = parse_input(input);
    const NodeId producer = facts_.names.find(read.node);
    if (mapping_.copied(producer)) return tensor_text(mapping_.scope().of(read.node), read.index());
    std::string source = mapping_.scope().of(graph_.name(tensor.variable));
    for (const NodeId id : tensor.between) {
      if (mapping_.copied(id)) {
        source = mapping_.scope().of(graph_.name(id));
        continue;
      }
      std::vector<std::string> inputs = inputs_of(id);
      inputs[0] = source;
      source = duplicate(id, inputs);
    }
    return source;
  }

  void extend(const RestoreNode& restore) {
    if (restore.names == kNoNode) return;  // said for the Save node
    std::vector<const RestoredTensor*> wanted;
    for (const RestoredTensor& tensor : restore.tensors) {
      if (copied(tensor.variable)) wanted.push_back(&tensor);
    }
    if (wanted.empty()) return;
    for (const RestoredTensor* tensor : wanted) {
      result_.keys.emplace(tensor->key, key_of_copy(tensor->key));
    }
    if (is_one_of_many(restore)) return add_restore(restore, *wanted[0]);
    std::vector<std::string> keys, slices;
    for (const RestoredTensor& tensor : restore.tensors) {
      keys.push_back(tensor.key);
      slices.push_back(tensor.slice);
    }
    const std::string name(graph_.name(restore.node));
    std::vector<DType> types;
    const auto known = output_types(facts_.ops, graph_.bytes(restore.node));
    for (const RestoredTensor* tensor : wanted) {
      const auto output = static_cast<uint32_t>(keys.size());
      keys.push_back(key_of_copy(tensor->key));
      slices.push_back(tensor->slice);
      types.push_back(known && tensor->output < known->size() ? (*known)[tensor->output] : DType::kInvalid);
      assign(*tensor, tensor_text(name, output));
    }
    std::vector<std::string> inputs = inputs_of(restore.node);
    inputs[1] = set_strings(restore.names, restore.node, inputs[1], keys);
    if (restore.slices != kNoNode) inputs[2] = set_strings(restore.slices, restore.node, inputs[2], slices);
    std::string node_def = with_types(graph_.bytes(restore.node), "dtypes", types);
    if (find_attr(node_def, "_output_shapes")) node_def = with_attr(node_def, "_output_shapes", std::nullopt);
    change(restore.node, with_inputs(node_def, inputs));
  }

  // One restore op per variable: the op takes one key, or a Save node has this key among several.
  bool is_one_of_many(const RestoreNode& restore) const {
    if (node_op(graph_.bytes(restore.node)) != "RestoreV2") return true;
    if (restore.tensors.size() != 1) return false;
    return std::any_of(facts_.savers.saves.begin(), facts_.savers.saves.end(), [&](const SaveNode& save) {
      return save.tensors.size() > 1 &&
             std::any_of(save.tensors.begin(), save.tensors.end(), [&](const SavedTensor& tensor) {
               return tensor.key == restore.tensors[0].key && tensor.slice == restore.tensors[0].slice;
             });
    });
  }

  void add_restore(const RestoreNode& restore, const RestoredTensor& tensor) {
    std::vector<std::string> inputs = inputs_of(restore.node);
    inputs[1] = duplicate(restore.names, inputs_of(restore.names),
                          with_strings(graph_.bytes(restore.names), {key_of_copy(tensor.key)}));
    if (restore.slices != kNoNode) {
      inputs[2] =
          duplicate(restore.slices, inputs_of(restore.slices), std::string(graph_.bytes(restore.slices)));
    }
    const std::string name = duplicate(restore.node, inputs, std::string(graph_.bytes(restore.node)));
    assign(tensor, name);
  }

  // The nodes from the restored tensor to the assignment once more, and the new assignment in the groups of
  // the old.
  void assign(const RestoredTensor& tensor, std::string source) {
    for (const NodeId id : tensor.between) {
      std::vector<std::string> inputs = inputs_of(id);
      const bool last = id == tensor.between.back();
      if (last) inputs[0] = copied_input(inputs[0]);
      inputs[last ? 1 : 0] = source;
      for (std::string& input : inputs) {
        if (input.starts_with('^')) input = "^" + copied_input(input.substr(1));
      }
      source = duplicate(id, inputs);
    }
    for (const NodeId group : facts_.consumers.of(tensor.between.back())) {
      if (node_op(graph_.bytes(group)) == "NoOp") groups_[index_of(group)].push_back("^" + source);
    }
  }

  std::string copied_input(const std::string& input) const {
    const std::optional<TensorRef> tensor = tensor_if_there(facts_.names, input);
    return tensor && mapping_.copied(tensor->node)
               ? tensor_text(mapping_.scope().of(graph_.name(tensor->node)), tensor->index)
               : input;
  }

  const CopyFacts& facts_;
  Graph& graph_;
  CopyMapping& mapping_;
  CopyResult& result_;
  std::map<uint32_t, std::vector<std::string>> groups_;  // NoOps and the control inputs that they gain
};

}  // namespace

void extend_savers(const CopyFacts& facts, CopyMapping& mapping, CopyResult& result) {
  SaverExtension(facts, mapping, result).run();
}

}  // namespace gedit
