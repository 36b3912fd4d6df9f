#include "edit/objects/keep.h"

#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "edit/objects/remaining.h"
#include "graph/function_names.h"
#include "model/object_nodes.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint32_t kFunctionNames = 1;  // SavedFunction, SavedBareConcreteFunction
constexpr uint32_t kOperation = 1;      // SavedConstant
constexpr uint32_t kCapturedBy = 2;     // CapturedTensor

bool is_function(ObjectKind kind) {
  return kind == ObjectKind::kFunction || kind == ObjectKind::kBareFunction;
}

}  // namespace

ObjectReduction::ObjectReduction(const Facts& facts)
    : facts_(facts),
      meta_(facts.model.meta()),
      objects_(read_saved_objects(meta_.part(meta_field::kObjectGraph))) {
  check_saved_objects(objects_);
  for (size_t i = 0; i < objects_.functions.size(); ++i) by_name_.emplace(objects_.functions[i].name, i);
  for (const auto& [node, object] : object_nodes(meta_, facts.names(), objects_))
    nodes_.emplace(object, NodeId{node});
  const Graph& graph = facts.graph();
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i})) continue;
    const auto found = by_name_.find(called_function(graph.bytes(NodeId{i})));
    if (found != by_name_.end()) calls_.emplace(found->first, NodeId{i});
  }
  assets_ = meta_.parts_of(meta_field::kAsset);
  map_ = signature_map(objects_);
  paths_ = object_paths(objects_.objects);
}

std::vector<std::string> ObjectReduction::keys_of(const std::vector<NodeId>& nodes) const {
  const std::unordered_set<NodeId> wanted(nodes.begin(), nodes.end());
  const std::vector<std::string> all = variable_keys(objects_);
  std::vector<std::string> keys;
  for (const auto& [object, node] : nodes_) {
    if (wanted.contains(node) && !all[object].empty()) keys.push_back(all[object]);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<NodeId> ObjectReduction::captured_constants(
    const std::unordered_set<std::string_view>& signatures) const {
  std::vector<NodeId> constants;
  const auto add = [&](const SavedObjects::Function& function) {
    for (const uint32_t id : function.bound_inputs) {
      const SavedObjects::Object& object = objects_.objects[id];
      if (object.kind != ObjectKind::kConstant) continue;
      const NodeId node = facts_.names().find(last_bytes(object.content, kOperation));
      if (node != kNoNode) constants.push_back(node);
    }
  };
  if (!map_) return constants;
  for (const Trackable::Reference& child : objects_.objects[*map_].children) {
    if (!signatures.contains(child.name)) continue;
    for (const std::string_view name : concrete_functions(objects_.objects[child.id])) {
      if (const SavedObjects::Function* function = known(name)) add(*function);
    }
  }
  return constants;
}

const SavedObjects::Function* ObjectReduction::known(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &objects_.functions[found->second];
}

std::string_view ObjectReduction::now(std::string_view function) const {
  const auto found = renamed_.find(std::string(function));
  return found == renamed_.end() ? function : std::string_view(found->second);
}

bool ObjectReduction::captures_stay(const SavedObjects::Function& function) const {
  // A function that was not made anew still wants a variable's handle, not its value.
  const bool anew = now(function.name) != function.name;
  return std::all_of(function.bound_inputs.begin(), function.bound_inputs.end(), [&](uint32_t id) {
    return objects_.objects[id].kind == ObjectKind::kCapturedTensor || (alive_[id] && (anew || !frozen_[id]));
  });
}

// The gradient of a function captures tensors of that, which may be one that only others call: it goes with
// it. A captured tensor is there for who binds it.
void ObjectReduction::settle_captured_tensors(const std::function<bool(std::string_view)>& function) {
  const auto stays = [&](std::string_view name) {
    const auto found = by_name_.find(name);
    return found != by_name_.end() ? function_stays_[found->second] : function(name);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < objects_.functions.size(); ++i) {
      if (!function_stays_[i]) continue;
      for (const uint32_t id : objects_.functions[i].bound_inputs) {
        const SavedObjects::Object& object = objects_.objects[id];
        if (object.kind != ObjectKind::kCapturedTensor) continue;
        if (stays(last_bytes(object.content, kCapturedBy))) continue;
        function_stays_[i] = false;
        changed = true;
      }
    }
  }
  for (size_t i = 0; i < objects_.functions.size(); ++i) {
    for (const uint32_t id : objects_.functions[i].bound_inputs) {
      if (objects_.objects[id].kind == ObjectKind::kCapturedTensor)
        alive_[id] = alive_[id] || function_stays_[i];
    }
  }
}

// The child of a signature that is gone.
bool ObjectReduction::is_cut(uint32_t parent, const Trackable::Reference& child) const {
  return parent == map_ && !signatures_.contains(child.name);
}

void ObjectReduction::decide(const std::function<bool(NodeId)>& node) {
  const size_t count = objects_.objects.size();
  for (const std::string_view bytes : meta_.parts_of(meta_field::kSignature))
    signatures_.emplace(map_entry(bytes).key);

  new_asset_.assign(assets_.size(), -1);
  int64_t assets = 0;
  for (size_t i = 0; i < assets_.size(); ++i) {
    const NodeId path = facts_.names().find(node_of(last_bytes(last_bytes(assets_[i], 1), 1)));
    if (path != kNoNode && node(path)) new_asset_[i] = assets++;
  }

  alive_.assign(count, false);
  frozen_.assign(count, false);
  for (uint32_t id = 0; id < count; ++id) {
    SavedObjects::Object& object = objects_.objects[id];
    const auto found = nodes_.find(id);
    // A node that an input of the extracted part took the place of stands for nothing any more.
    const auto stands = [&](NodeId at) {
      return node(at) && !is_placeholder_op(node_op(facts_.graph().bytes(at)));
    };
    const bool there = found != nodes_.end() && stands(found->second);
    if (object.kind == ObjectKind::kAsset) {
      const uint64_t index = asset_index(object.content);
      alive_[id] = index < new_asset_.size() && new_asset_[index] >= 0;
    } else if (object.kind == ObjectKind::kConstant) {
      const NodeId constant = facts_.names().find(last_bytes(object.content, kOperation));
      alive_[id] = constant != kNoNode && stands(constant);
    } else if (object.kind == ObjectKind::kVariable || object.kind == ObjectKind::kResource) {
      alive_[id] = there;
    }
    if (object.kind != ObjectKind::kVariable || !there) continue;
    const std::string_view node_def = facts_.graph().bytes(found->second);
    if (is_var_handle_op(node_op(node_def))) continue;
    frozen_[id] = true;
    object.kind = ObjectKind::kConstant;
    object.content.clear();
    append_bytes_field(object.content, kOperation, node_name(node_def));
    object.changed = true;
  }

  for (const auto& [name, call] : calls_) {
    if (!node(call)) continue;
    const std::string_view called = called_function(facts_.graph().bytes(call));
    if (called != name) renamed_.emplace(name, called);
  }
  for (uint32_t id = 0; id < count; ++id) {
    const SavedObjects::Object& object = objects_.objects[id];
    if (id == map_) {
      for (const Trackable::Reference& child : object.children) {
        if (is_cut(id, child) || !is_function(objects_.objects[child.id].kind)) continue;
        if (want_functions(child.id)) continue;
        lost_signatures_.push_back(child.name);
        signatures_.erase(child.name);
      }
    }
    if (!alive_[id]) continue;
    for (const Trackable::Saveable& saveable : object.saveables) {
      want_functions(saveable.save);
      want_functions(saveable.restore);
    }
    if (object.kind != ObjectKind::kResource) continue;
    for (const Trackable::Reference& child : object.children) {
      if (is_function(objects_.objects[child.id].kind) && !want_functions(child.id) && broken_.empty())
        broken_ =
            "'" + printable(child.name) + "' of table '" + printable(paths_[id]) + "' captures what is gone";
    }
  }
}

// False where one of them captures what is gone.
bool ObjectReduction::want_functions(uint32_t object) {
  bool all = true;
  for (const std::string_view name : concrete_functions(objects_.objects[object])) {
    const SavedObjects::Function* function = known(name);
    if (function == nullptr) continue;
    if (captures_stay(*function)) {
      wanted_.emplace_back(now(name));
    } else {
      all = false;
    }
  }
  return all;
}

void ObjectReduction::settle_functions(const std::function<bool(std::string_view)>& function) {
  function_stays_.assign(objects_.functions.size(), false);
  for (size_t i = 0; i < objects_.functions.size(); ++i)
    function_stays_[i] = function(now(objects_.functions[i].name)) && captures_stay(objects_.functions[i]);
  settle_captured_tensors(function);
  const auto stays = [&](std::string_view name) {
    const auto found = by_name_.find(name);
    return found != by_name_.end() && function_stays_[found->second];
  };
  for (uint32_t id = 0; id < objects_.objects.size(); ++id) {
    SavedObjects::Object& object = objects_.objects[id];
    if (!is_function(object.kind)) continue;
    const std::vector<std::string_view> names = concrete_functions(object);
    // A function that was never called has no body.
    alive_[id] = names.empty() || std::any_of(names.begin(), names.end(), stays);
    if (!alive_[id]) continue;
    std::string content;
    for (Fields fields(object.content); fields.next();) {
      if (!fields->bytes(kFunctionNames)) {
        content += fields->raw;
      } else if (stays(fields->value)) {
        append_bytes_field(content, kFunctionNames, now(fields->value));
      }
    }
    if (content == object.content) continue;
    object.content = std::move(content);
    object.changed = true;
  }
}

void ObjectReduction::cut_signatures() {
  if (!map_) return;
  SavedObjects::Object& map = objects_.objects[*map_];
  if (std::erase_if(map.children, [&](const auto& child) { return is_cut(*map_, child); }) > 0)
    map.changed = true;
}

void ObjectReduction::tell(Changes& changes) const {
  for (const std::string& key : lost_signatures_) {
    changes.warnings.push_back(quoted("signature", key) +
                               ": its function needs what is gone; tf.saved_model.load does not see it");
  }
  size_t gone = 0;
  std::string first;
  for (uint32_t id = 0; id < objects_.objects.size(); ++id) {
    const std::string& path = paths_[id];
    if (objects_.objects[id].kind != ObjectKind::kFunction || alive_[id] || path.empty()) continue;
    if (path[path.rfind('/') + 1] == '_') continue;  // what Python calls itself
    if (gone++ == 0) first = printable(path);
  }
  if (gone == 0) return;
  changes.notes.push_back("the object graph loses " + counted(gone, "function") +
                          " that no signature calls, first '" + first + "'");
}

bool ObjectReduction::apply(const std::function<bool(std::string_view)>& function, Changes& changes) {
  bool any = false;
  for (uint32_t id = 0; id < alive_.size(); ++id) {
    any = any || (alive_[id] && (objects_.objects[id].kind == ObjectKind::kVariable ||
                                 objects_.objects[id].kind == ObjectKind::kResource));
    for (const Trackable::Reference& child : objects_.objects[id].children)
      any = any || (id == map_ && !is_cut(id, child));
  }
  if (any && broken_.empty()) {
    settle_functions(function);
    cut_signatures();
    stays_ = remaining_objects(objects_, alive_, function_stays_);
    tell(changes);
    write();
    return true;
  }
  if (!broken_.empty()) {
    changes.warnings.push_back("the object graph goes, and tf.saved_model.load sees no variables: " +
                               broken_);
  } else if (!objects_.functions.empty()) {
    changes.notes.push_back("the object graph goes: tf.saved_model.load gives signatures alone");
  }
  return false;
}

void ObjectReduction::write() {
  for (uint32_t id = 0; id < stays_.size(); ++id) {
    SavedObjects::Object& object = objects_.objects[id];
    if (!stays_[id] || object.kind != ObjectKind::kAsset) continue;
    const uint64_t index = asset_index(object.content);
    const auto moved = static_cast<uint64_t>(new_asset_[index]);
    if (moved == index) continue;
    object.content = with_asset_index(object.content, moved);
    object.changed = true;
  }
  for (SavedObjects::Function& function : objects_.functions) {
    const std::string_view name = now(function.name);
    if (name == function.name) continue;
    function.name = name;
    function.changed = true;
  }
  const std::vector<uint32_t> ids = keep_saved_objects(objects_, stays_, function_stays_);
  std::unordered_map<uint32_t, std::string> called;
  for (auto& [id, name] : meta_.called_objects) {
    if (stays_[id]) called.emplace(ids[id], std::move(name));
  }
  meta_.called_objects = std::move(called);
  meta_.set_part(meta_field::kObjectGraph, saved_objects_bytes(objects_));
}

}  // namespace gedit
