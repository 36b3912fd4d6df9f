#include "model/object_nodes.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/message_edit.h"
#include "graph/function_names.h"
#include "graph/types.h"
#include "model/collections.h"
#include "model/saver_calls.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint32_t kVariableType = 1, kVariableShape = 2, kVariableName = 6;  // SavedVariable

class ObjectFinding {
 public:
  ObjectFinding(const MetaGraph& meta, const Names& names, const SavedObjects& objects)
      : meta_(meta),
        graph_(meta.graph),
        names_(names),
        objects_(objects),
        taken_(objects.objects.size()),
        finder_(objects.objects) {}

  std::unordered_map<uint32_t, uint32_t> run() {
    for (const auto& [id, name] : meta_.called_objects) claim(names_.find(name), id);
    constants();
    calls();
    assets();
    restored();
    variables();
    tables();
    return std::move(found_);
  }

 private:
  void claim(NodeId node, uint32_t id) {
    if (node == kNoNode || id >= taken_.size()) return;
    const bool shared = objects_.objects[id].kind == ObjectKind::kAsset;
    if (found_.contains(index_of(node)) || (taken_[id] && !shared)) return;
    found_.emplace(index_of(node), id);
    taken_[id] = true;
  }

  void constants() {
    for (uint32_t id = 0; id < taken_.size(); ++id) {
      const SavedObjects::Object& object = objects_.objects[id];
      if (object.kind == ObjectKind::kConstant) claim(names_.find(last_bytes(object.content, 1)), id);
    }
  }

  void calls() {
    std::unordered_map<std::string_view, const SavedObjects::Function*> by_name;
    for (const SavedObjects::Function& function : objects_.functions) {
      if (!function.bound_inputs.empty()) by_name.emplace(function.name, &function);
    }
    if (by_name.empty()) return;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (graph_.removed(NodeId{i})) continue;
      const std::string_view node_def = graph_.bytes(NodeId{i});
      auto found = by_name.find(called_function(node_def));
      if (found == by_name.end()) found = by_name.find(node_op(node_def));
      if (found == by_name.end()) continue;
      std::vector<std::string_view> inputs;
      each_input(node_def, [&](std::string_view input) {
        if (!input.starts_with('^')) inputs.push_back(input);
      });
      const std::vector<uint32_t>& bound = found->second->bound_inputs;
      if (bound.size() > inputs.size()) continue;
      for (size_t k = 0; k < bound.size(); ++k)
        claim(names_.find(node_of(inputs[inputs.size() - bound.size() + k])), bound[k]);
    }
  }

  void assets() {
    const std::vector<std::string_view> definitions = meta_.parts_of(meta_field::kAsset);
    for (uint32_t id = 0; id < taken_.size(); ++id) {
      const SavedObjects::Object& object = objects_.objects[id];
      if (object.kind != ObjectKind::kAsset) continue;
      const uint64_t index = last_varint(object.content, 1);
      if (index >= definitions.size()) continue;
      claim(names_.find(node_of(last_bytes(last_bytes(definitions[index], 1), 1))), id);
    }
  }

  void variables() {
    std::unordered_map<std::string_view, std::vector<uint32_t>> by_name;
    for (uint32_t id = 0; id < taken_.size(); ++id) {
      const SavedObjects::Object& object = objects_.objects[id];
      if (object.kind == ObjectKind::kVariable)
        by_name[last_bytes(object.content, kVariableName)].push_back(id);
    }
    for (const auto& [name, ids] : by_name) {
      if (ids.size() > 1) {
        by_shape(name, ids, by_name);
        continue;
      }
      const NodeId node = names_.find(name);
      if (node == kNoNode || !may_be(node, ids[0])) continue;
      // `a/w_1` is also what the node of a second object `a/w` is called.
      const size_t number = name.rfind('_');
      const bool numbered = number != std::string_view::npos && number + 1 < name.size() &&
                            name.find_first_not_of("0123456789", number + 1) == std::string_view::npos;
      if (numbered && !is_another(name.substr(0, number), by_name)) continue;
      claim(node, ids[0]);
    }
  }

  // Whether no object of the name is left over for a numbered node: there is none, or one that has its own.
  template <typename ByName>
  bool is_another(std::string_view name, const ByName& by_name) const {
    const auto found = by_name.find(name);
    if (found == by_name.end()) return true;
    const NodeId node = names_.find(name);
    return found->second.size() == 1 && node != kNoNode && may_be(node, found->second[0]);
  }

  // The nodes of several objects of one name are numbered, in no certain order.
  template <typename ByName>
  void by_shape(std::string_view name, const std::vector<uint32_t>& ids, const ByName& by_name) {
    std::vector<NodeId> nodes;
    for (size_t number = 0; number <= ids.size(); ++number) {
      const std::string one =
          number == 0 ? std::string(name) : std::string(name) + "_" + std::to_string(number);
      const NodeId node = number > 0 && by_name.contains(one) ? kNoNode : names_.find(one);
      if (node != kNoNode && !found_.contains(index_of(node))) nodes.push_back(node);
    }
    struct Alike {
      std::vector<NodeId> nodes;
      std::vector<uint32_t> ids;
    };
    std::map<std::pair<uint64_t, Shape>, Alike> alike;  // by type and shape
    for (const NodeId node : nodes) {
      const auto shape = find_attr(graph_.bytes(node), "shape");
      const Shape known = shape ? parse_shape_proto(last_bytes(*shape, attr_field::kShape)) : Shape();
      if (const auto type = type_of(node)) alike[{*type, known}].nodes.push_back(node);
    }
    for (const uint32_t id : ids) {
      const std::string_view content = objects_.objects[id].content;
      if (taken_[id]) continue;
      alike[{last_varint(content, kVariableType), parse_shape_proto(last_bytes(content, kVariableShape))}]
          .ids.push_back(id);
    }
    for (const auto& [key, one] : alike) {
      if (one.nodes.size() == 1 && one.ids.size() == 1) claim(one.nodes[0], one.ids[0]);
    }
  }

  // By the variable that it holds.
  bool may_be(NodeId node, uint32_t id) const {
    return type_of(node) == last_varint(objects_.objects[id].content, kVariableType);
  }

  std::optional<uint64_t> type_of(NodeId handle) const {
    const std::string_view node_def = graph_.bytes(handle);
    const auto dtype = is_var_handle_op(node_op(node_def)) ? find_attr(node_def, "dtype") : std::nullopt;
    if (!dtype) return std::nullopt;
    return last_varint(*dtype, attr_field::kType);
  }

  // What the functions of the saver restore has the object's key, and so has what its nodes restore where
  // they were inlined.
  void restored() {
    std::vector<uint32_t> left;
    for (uint32_t id = 0; id < taken_.size(); ++id) {
      if (objects_.objects[id].kind == ObjectKind::kVariable && !taken_[id]) left.push_back(id);
    }
    if (left.empty()) return;
    const std::vector<std::string> keys = variable_keys(objects_);
    std::unordered_map<std::string_view, uint32_t> by_key;
    for (const uint32_t id : left) {
      if (!keys[id].empty()) by_key.emplace(keys[id], id);
    }
    const auto claim_all = [&](const auto& keys_of_nodes) {
      for (const auto& [node, key] : keys_of_nodes) {
        const auto found = by_key.find(key);
        if (const auto id = found != by_key.end() ? std::optional(found->second) : variable_at(key))
          claim(NodeId{node}, *id);
      }
    };
    Library library = Library::decode(graph_.part(graph_field::kLibrary), graph_.arena());
    claim_all(keys_in_functions(meta_, names_, library));
    if (std::ranges::all_of(left, [&](uint32_t id) { return taken_[id]; })) return;
    const Savers savers = find_savers(graph_, names_);
    claim_all(variable_keys(savers));
  }

  // Keys are made of the path by which TensorFlow came to the object when it saved the values; in the
  // SavedModel another one may come first (Keras).
  std::optional<uint32_t> variable_at(std::string_view key) {
    const std::string_view path = key.substr(0, key.find("/.ATTRIBUTES/"));
    const auto at = path.size() == key.size() ? std::nullopt : finder_.find(path);
    return at && objects_.objects[*at].kind == ObjectKind::kVariable ? at : std::nullopt;
  }

  // A table is created by a function whose node has the shared_name of the one in the main graph.
  void tables() {
    std::unordered_map<std::string_view, uint32_t> creators;  // function -> resource
    for (uint32_t id = 0; id < taken_.size(); ++id) {
      if (objects_.objects[id].kind != ObjectKind::kResource || taken_[id]) continue;
      const auto creator = child_of(objects_.objects[id], "_create_resource");
      if (!creator || *creator >= taken_.size()) continue;
      const std::string_view name = last_bytes(objects_.objects[*creator].content, 1);
      if (objects_.objects[*creator].kind == ObjectKind::kFunction && !name.empty())
        creators.emplace(name, id);
    }
    if (creators.empty()) return;
    // Those of one identity are one table, whichever is whose.
    std::unordered_map<std::string, std::deque<uint32_t>> by_identity;
    for (Fields fields(graph_.part(graph_field::kLibrary)); fields.next();) {
      if (!fields->bytes(1)) continue;
      const auto creator = creators.find(function_name(fields->value));
      if (creator == creators.end()) continue;
      each_node_in(fields->value, *graph_.arena(), [&](std::string_view node_def) {
        if (const auto identity = identity_of(node_def)) by_identity[*identity].push_back(creator->second);
      });
    }
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (graph_.removed(NodeId{i})) continue;
      const auto identity = identity_of(graph_.bytes(NodeId{i}));
      if (!identity) continue;
      const auto found = by_identity.find(*identity);
      if (found == by_identity.end() || found_.contains(i)) continue;
      while (!found->second.empty() && taken_[found->second.front()]) found->second.pop_front();
      if (!found->second.empty()) claim(NodeId{i}, found->second.front());
    }
  }

  static std::optional<std::string> identity_of(std::string_view node_def) {
    const std::string_view op = node_op(node_def);
    if (!is_table_op(op)) return std::nullopt;
    const auto shared = string_attr(node_def, "shared_name");
    if (!shared || shared->empty()) return std::nullopt;
    return std::string(op) + '\n' + std::string(*shared);
  }

  const MetaGraph& meta_;
  const Graph& graph_;
  const Names& names_;
  const SavedObjects& objects_;
  std::vector<bool> taken_;
  std::unordered_map<uint32_t, uint32_t> found_;
  ObjectFinder finder_;
};

}  // namespace

void name_by_nodes(SavedObjects& objects, const MetaGraph& meta) {
  for (const auto& [id, node] : meta.called_objects) {
    if (id >= objects.objects.size()) continue;
    SavedObjects::Object& object = objects.objects[id];
    if (object.kind != ObjectKind::kVariable || last_bytes(object.content, kVariableName) == node) continue;
    object.content = without_field(object.content, kVariableName);
    append_bytes_field(object.content, kVariableName, node);
    object.changed = true;
  }
}

std::unordered_map<uint32_t, uint32_t> object_nodes(const MetaGraph& meta, const Names& names,
                                                    const SavedObjects& objects) {
  return ObjectFinding(meta, names, objects).run();
}

}  // namespace gedit
