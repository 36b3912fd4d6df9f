#include "edit/copying/objects.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/map_entry.h"
#include "base/message_edit.h"
#include "checkpoint/bundle.h"
#include "checkpoint/object_edits.h"
#include "checkpoint/objects.h"
#include "edit/functions/call_attributes.h"
#include "edit/functions/function_def.h"
#include "edit/objects/copy.h"
#include "edit/savers/function_extension.h"
#include "graph/function_names.h"
#include "graph/string_const.h"
#include "model/object_nodes.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

class ObjectExtension {
 public:
  ObjectExtension(Facts& facts, CopyMapping& mapping, CopyChanges& result)
      : facts_(facts),
        graph_(facts.model.graph()),
        mapping_(mapping),
        result_(result),
        library_(Library::decode(graph_.part(graph_field::kLibrary), facts.model.arena)),
        objects_(read_saved_objects(facts.model.meta().part(meta_field::kObjectGraph))) {
    check_saved_objects(objects_);
  }

  void run() {
    find_copied();
    if (copied_.empty() || objects_.objects.empty()) return;
    objects_of_ = object_nodes(facts_.model.meta(), facts_.names(), objects_);
    extend_savers();
    find_restored_tables();
    key_by_objects();
    for (const auto& [index, key] : keys_) {
      const std::string copy = key_of_copy(key);
      result_.keys[key] = result_.values[key] = copy;
      result_.objects.push_back({key, copy, copy_name(NodeId{index})});
    }
    for (const auto& [index, keys] : table_keys_) {
      for (const std::string& key : keys) result_.keys[key] = result_.values[key] = key_of_copy(key);
      const std::string key = table_key(*keys.begin());
      result_.objects.push_back({key, key_of_copy(key), ""});
    }
    extend_saved_graph();
    ObjectCopies copies(objects_, library_, facts_.ops, facts_.model.arena);
    add_variables(copies);
    add_tables(copies);
    graph_.set_part(graph_field::kLibrary, library_.encode());
    facts_.model.meta().set_part(meta_field::kObjectGraph, saved_objects_bytes(objects_));
    result_.changed.emplace_back("object graph", "extended");
  }

 private:
  // What the object has as its key; the tensors' are this and `-keys`, `-values`
  // (tensorflow/python/ops/lookup_ops.py).
  static std::string table_key(std::string_view tensor) {
    return std::string(tensor.substr(0, tensor.rfind('-')));
  }

  // A slot's copy is no slot: no optimizer has it. `v/.OPTIMIZER_SLOT/opt/m/..` is `NEW/v_opt_m/..`, since
  // the variable's own copy has `NEW/v`.
  std::string key_of_copy(std::string_view key) const {
    constexpr std::string_view kSlot = "/.OPTIMIZER_SLOT/", kAttributes = "/.ATTRIBUTES/";
    std::string plain(key);
    if (const size_t slot = plain.find(kSlot); slot != std::string::npos) {
      const size_t end = std::min(plain.find(kAttributes, slot + kSlot.size()), plain.size());
      plain.replace(slot, kSlot.size(), "_");
      std::replace(plain.begin() + static_cast<ptrdiff_t>(slot),
                   plain.begin() + static_cast<ptrdiff_t>(end - kSlot.size() + 1), '/', '_');
    }
    return mapping_.scope().of(plain);
  }
  std::string copy_name(NodeId id) const { return mapping_.scope().of(graph_.name(id)); }

  void find_copied() {
    for (const auto& [index, variable] : facts_.state()) {
      if (mapping_.copied(variable.node)) copied_.push_back(variable.node);
    }
    std::sort(copied_.begin(), copied_.end());
  }

  // ------------------------------------------------------------------------------------------ savers

  void extend_savers() {
    std::unordered_map<std::string_view, size_t> by_name;
    for (size_t i = 0; i < library_.functions.size(); ++i) by_name.emplace(library_.functions[i].name, i);
    const uint32_t count = graph_.decoded_count();  // calls of the file, not copies of them
    for (uint32_t i = 0; i < count; ++i) {
      if (graph_.removed(NodeId{i})) continue;
      const auto function = by_name.find(called_function(graph_.bytes(NodeId{i})));
      if (function == by_name.end()) continue;
      bool saver = false;
      library_.functions[function->second].body.each_record([&](std::string_view node_def) {
        saver = saver || is_save_op(node_op(node_def)) || is_restore_op(node_op(node_def));
      });
      if (saver) extend_saver(NodeId{i}, function->second);
    }
  }

  void extend_saver(NodeId call, size_t function) {
    std::vector<std::string> inputs, controls;
    each_input(graph_.bytes(call), [&](std::string_view input) {
      (input.starts_with('^') ? controls : inputs).emplace_back(input);
    });
    if (shared(function, call)) {
      const auto left = uses_.find(library_.functions[function].name);
      if (left != uses_.end() && left->second > 0) --left->second;  // the call names its own from now on
      function = own_function(call, function);
    }
    FunctionExtension body(library_.functions[function].body);
    std::vector<DType> types;
    const size_t before = inputs.size();
    std::map<size_t, std::string> arguments;  // number of an original's argument -> the copy's name
    const auto extend = [&](const SaverNode& saver) {
      if (!saver.readable() && reads_copied(inputs))
        throw refused("its keys are no constant, so that the copies would be without values")
            .of(quoted("node", address(library_.functions[function].name,
                                       library_.functions[function].body.name(saver.node))))
            .hint("--share keeps the variables");
      std::unordered_set<std::string_view> known;
      for (const SavedTensor& tensor : saver.tensors) known.insert(tensor.key);
      for (const SavedTensor& tensor : saver.tensors) {
        const size_t number = tensor.argument.empty() ? before : body.number_of(tensor.argument);
        if (number >= before) continue;
        if (tensor.key == kObjectGraphKey) {
          saved_graphs_.insert(index_of(facts_.names().find(parse_input(inputs[number]).node)));
          continue;
        }
        std::vector<NodeId> between;
        const NodeId state = state_behind(graph_, facts_.names(), inputs[number], &between);
        if (state == kNoNode || !mapping_.copied(state)) continue;
        const std::string key = key_of_copy(tensor.key);
        if (known.contains(key)) {
          throw Error(Cause::kRefused, "key '" + printable(key) + "' is in use")
              .of(quoted("saver", graph_.name(call)))
              .hint("choose another --scope");
        }
        if (is_table_op(node_op(graph_.bytes(state)))) {
          table_keys_[index_of(state)].insert(tensor.key);
        } else {
          keys_.emplace(index_of(state), tensor.key);
        }
        auto argument = arguments.find(number);
        if (argument == arguments.end()) {
          argument = arguments.emplace(number, body.add_argument(number, copy_name(state))).first;
          inputs.push_back(copied_input(state, between, inputs[number]));
          types.push_back(body.type_of(number));
        }
        body.add_entry(saver, tensor, key, argument->second);
      }
    };
    std::ranges::for_each(body.savers().saves, extend);
    std::ranges::for_each(body.savers().restores, extend);
    if (inputs.size() == before) return;
    body.apply();
    inputs.insert(inputs.end(), controls.begin(), controls.end());
    std::vector<DType> all = type_list(find_attr(graph_.bytes(call), "Tin").value_or(""));
    all.insert(all.end(), types.begin(), types.end());
    graph_.replace(call, with_arguments(graph_.bytes(call), inputs, all));
    result_.changed.emplace_back(graph_.name(call), "extended");
  }

  // By nodes of the main graph, where the savers' functions were inlined.
  void find_restored_tables() {
    for (const SaverNode& restore : facts_.savers().restores) {
      for (const FilledState& filled : restore.filled) {
        if (!graph_.is(filled.state, OpKind::kTable) || !mapping_.copied(filled.state)) continue;
        for (const uint32_t slot : filled.slots)
          table_keys_[index_of(filled.state)].insert(restore.tensors[slot].key);
      }
    }
  }

  bool reads_copied(const std::vector<std::string>& inputs) const {
    return std::ranges::any_of(inputs, [&](const std::string& input) {
      const NodeId state = state_behind(graph_, facts_.names(), input);
      return state != kNoNode && mapping_.copied(state);
    });
  }

  // What the call reads for the copy: its handle, or its value by the same nodes.
  std::string copied_input(NodeId state, const std::vector<NodeId>& between, std::string_view input) {
    std::string source = copy_name(state);
    for (const NodeId id : between) {
      if (mapping_.copied(id)) {
        source = copy_name(id);
        continue;
      }
      std::string& again = again_[index_of(id)];
      if (again.empty()) {
        again = mapping_.free_name(graph_.name(id));
        const std::string node = with_each_field(with_inputs(graph_.bytes(id), {source}), node_field::kName,
                                                 [&](std::string_view) { return again; });
        graph_.append(without_attr(node, "_class"));  // which says where the original is
      }
      source = again;
    }
    const uint32_t output = parse_input(input).index();  // an export has two: keys and values
    return output == 0 ? source : source + ":" + std::to_string(output);
  }

  // Whether anything but the call names the function. All names are counted once: savers have two calls.
  bool shared(size_t function, NodeId call) {
    if (uses_.empty()) {
      for (const Function& one : library_.functions) uses_.emplace(one.name, 0);
      const auto count = [&](std::string_view name) {
        if (const auto found = uses_.find(name); found != uses_.end()) ++found->second;
      };
      for (uint32_t i = 0; i < graph_.size(); ++i) {
        if (!graph_.removed(NodeId{i})) each_function_named(graph_.bytes(NodeId{i}), count);
      }
      for (const Function& one : library_.functions)
        one.body.each_record([&](std::string_view node_def) { each_function_named(node_def, count); });
    }
    const std::string_view name = library_.functions[function].name;
    size_t own = 0;
    each_function_named(graph_.bytes(call), [&](std::string_view one) { own += one == name ? 1 : 0; });
    return uses_.at(name) > own || objects_.find_function(name) != nullptr;
  }

  size_t own_function(NodeId call, size_t function) {
    StringSink bytes;
    library_.functions[function].body.write(bytes);
    const std::string name = free_function_name(library_, facts_.ops, library_.functions[function].name);
    library_.add(with_function_name(bytes.text, name), facts_.model.arena);
    graph_.replace(call, calling(graph_.bytes(call), name));
    return library_.functions.size() - 1;
  }

  // Variables that no function saves have the key of a saver in the main graph, else that of their object.
  void key_by_objects() {
    const std::vector<std::string> keys = variable_keys(objects_);
    const auto saved = variable_keys(facts_.savers());
    for (const NodeId id : copied_) {
      if (const auto key = saved.find(index_of(id)); key != saved.end())
        keys_.emplace(index_of(id), key->second);
      const auto object = objects_of_.find(index_of(id));
      if (object != objects_of_.end() && !keys[object->second].empty())
        keys_.emplace(index_of(id), keys[object->second]);
    }
  }

  // The checkpoint's object graph also lies in a Const that the saver writes.
  void extend_saved_graph() {
    for (const SaverNode& save : facts_.savers().saves) {
      std::vector<std::string_view> inputs;
      each_input(graph_.bytes(save.node), [&](std::string_view input) { inputs.push_back(input); });
      for (const SavedTensor& tensor : save.tensors) {
        const size_t slot = save.first_tensor + tensor.slot;
        if (tensor.key == kObjectGraphKey && slot < inputs.size())
          saved_graphs_.insert(index_of(facts_.names().find(parse_input(inputs[slot]).node)));
      }
    }
    for (const uint32_t index : saved_graphs_) {
      if (index == index_of(kNoNode)) continue;
      const std::string_view node_def = graph_.bytes(NodeId{index});
      const auto strings = string_const(node_def);
      if (!strings || strings->size() != 1 || (*strings)[0].empty()) continue;
      ObjectGraph saved = parse_object_graph((*strings)[0]);
      copy_values(saved, result_.objects);
      graph_.replace(NodeId{index}, with_strings(node_def, {object_graph_bytes(saved)}));
    }
  }

  // ------------------------------------------------------------------------------------------ objects

  void add_variables(ObjectCopies& copies) {
    for (const NodeId id : copied_) {
      const auto object = objects_of_.find(index_of(id));
      const auto key = keys_.find(index_of(id));
      if (object == objects_of_.end() || key == keys_.end()) continue;
      if (objects_.objects[object->second].kind != ObjectKind::kVariable) continue;
      copies.add_variable(object->second, copy_name(id), object_path(key_of_copy(key->second)));
    }
  }

  // A table is an object with functions that make it and fill it; those of the copy make another one.
  void add_tables(ObjectCopies& copies) {
    for (const NodeId id : copied_) {
      const auto found = objects_of_.find(index_of(id));
      if (found == objects_of_.end() || objects_.objects[found->second].kind != ObjectKind::kResource)
        continue;
      const uint32_t original = found->second;
      const auto warn = [&](const char* what) {
        result_.warnings.push_back("table '" + printable(graph_.name(id)) + "': " + what);
      };
      if (!copies.makes_table(original)) {
        warn("the copy is seen by the v1 loader alone");
        continue;
      }
      const auto keys = table_keys_.find(index_of(id));
      const bool saved = keys != table_keys_.end();
      if (!saved && !objects_.objects[original].saveables.empty()) warn("the copy's values are not saved");
      const std::string node = mapped_node(graph_.bytes(id), mapping_, id);
      // The checkpoint's key is the path by which the value is found.
      const std::string path =
          saved ? std::string(object_path(*keys->second.begin())) : copies.path_of(original);
      copies.add_table(original, std::string(string_attr(node, "shared_name").value_or("")), saved,
                       path.empty() ? path : mapping_.scope().of(path));
    }
  }

  Facts& facts_;
  Graph& graph_;
  CopyMapping& mapping_;
  CopyChanges& result_;
  Library library_;
  SavedObjects objects_;
  std::unordered_map<uint32_t, uint32_t> objects_of_;     // node -> object
  std::vector<NodeId> copied_;                            // variables and tables
  std::map<uint32_t, std::string> keys_;                  // of a copied variable
  std::map<uint32_t, std::set<std::string>> table_keys_;  // of a copied table
  std::unordered_map<uint32_t, std::string> again_;       // nodes before a saver -> those of copies
  std::set<uint32_t> saved_graphs_;                       // Consts that hold the checkpoint's object graph
  std::unordered_map<std::string_view, size_t> uses_;     // of functions, by all that name them
};

}  // namespace

void extend_objects(Facts& facts, CopyMapping& mapping, CopyChanges& result) {
  if (facts.model.meta().has(meta_field::kObjectGraph)) ObjectExtension(facts, mapping, result).run();
}

}  // namespace gedit
