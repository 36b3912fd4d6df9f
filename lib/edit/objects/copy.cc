#include "edit/objects/copy.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/message_edit.h"
#include "edit/functions/function_def.h"
#include "graph/node.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint32_t kSavedVariableName = 6;  // SavedVariable
constexpr uint32_t kFunctionOfTrace = 1;    // SavedFunction, SavedBareConcreteFunction
constexpr std::string_view kCreator = "_create_resource";

// What hangs below a variable or a function is not restored.
void check_holds_others(const SavedObjects::Object& object, std::string_view path) {
  if (object.kind == ObjectKind::kUserObject || object.kind == ObjectKind::kNone) return;
  throw Error(Cause::kRefused, "an object that holds no others is on its way")
      .of(quoted("object", path))
      .hint("choose another --scope");
}

}  // namespace

ObjectCopies::ObjectCopies(SavedObjects& objects, Library& library, Registry& ops,
                           std::shared_ptr<Arena> arena)
    : objects_(objects),
      library_(library),
      ops_(ops),
      arena_(std::move(arena)),
      paths_(object_paths(objects.objects)),
      places_(paths_) {}

void ObjectCopies::put(uint32_t id, std::string_view path) {
  std::vector<SavedObjects::Object>& objects = objects_.objects;
  const uint32_t parent = places_.at(
      parent_path(path), [&](uint32_t at, std::string_view name) { return child_of(objects[at], name); },
      [&](uint32_t at, std::string_view name) {
        check_holds_others(objects[at], path);
        const uint32_t made = add_object(objects_, ObjectKind::kUserObject, plain_user_object());
        add_child(objects[at], name, made);
        return made;
      });
  check_holds_others(objects[parent], path);
  const std::string name = unescaped_name(last_of_path(path));
  if (!places_.put(path, id) || (parent == 0 && child_of(objects[0], name)))
    throw Error(Cause::kRefused, "is taken").of(quoted("object", path)).hint("choose another --scope");
  add_child(objects[parent], name, id);
}

void ObjectCopies::add_variable(uint32_t original, std::string_view name, std::string_view path) {
  const uint32_t id = copy_object(objects_.objects, original);
  SavedObjects::Object& copy = objects_.objects[id];
  copy.content =
      with_each_field(copy.content, kSavedVariableName, [&](std::string_view) { return std::string(name); });
  copy.children.clear();
  copy.slots.clear();
  copies_[original] = id;
  put(id, path);
}

bool ObjectCopies::makes_table(uint32_t original) const {
  const auto creator = child_of(objects_.objects[original], kCreator);
  if (!creator) return false;
  const std::vector<std::string_view> names = concrete_functions(objects_.objects[*creator]);
  const Function* function = names.size() == 1 ? library_.find(names[0]) : nullptr;
  bool makes = false;
  if (function != nullptr)
    function->body.each_record(
        [&](std::string_view node_def) { makes = makes || is_table_op(node_op(node_def)); });
  return makes;
}

bool ObjectCopies::captures(uint32_t object, uint32_t what) {
  for (const std::string_view name : concrete_functions(objects_.objects[object])) {
    const SavedObjects::Function* function = objects_.find_function(name);
    if (function == nullptr) continue;
    const auto& bound = function->bound_inputs;
    if (std::find(bound.begin(), bound.end(), what) != bound.end()) return true;
  }
  return false;
}

void ObjectCopies::add_table(uint32_t original, const std::string& shared_name, bool saved,
                             std::string_view path) {
  const uint32_t id = copy_object(objects_.objects, original);
  copies_[original] = id;
  if (!saved) objects_.objects[id].saveables.clear();
  const auto creator = child_of(objects_.objects[original], kCreator);
  Trackable copy = objects_.objects[id];
  for (Trackable::Reference& child : copy.children) {
    if (child.id != creator && !captures(child.id, original)) continue;
    const uint32_t before = child.id;
    child.id = own_functions(before, original, shared_name);
    for (Trackable::Reference& dependency : copy.dependencies) {
      if (dependency.id == before) dependency.id = child.id;
    }
  }
  for (Trackable::Saveable& saveable : copy.saveables) {
    saveable.save = own_functions(saveable.save, original, shared_name);
    saveable.restore = own_functions(saveable.restore, original, shared_name);
  }
  static_cast<Trackable&>(objects_.objects[id]) = std::move(copy);
  if (!path.empty()) put(id, path);
}

// A function object once more, and its traces, with functions of their own.
uint32_t ObjectCopies::own_functions(uint32_t object, uint32_t table, const std::string& shared_name) {
  for (const std::string_view name : concrete_functions(objects_.objects[object]))
    copy_function(std::string(name), table, shared_name);
  const uint32_t made = function_object(object, table);
  std::vector<Trackable::Reference> children = objects_.objects[made].children;
  for (Trackable::Reference& child : children) {
    if (objects_.objects[child.id].kind == ObjectKind::kBareFunction)
      child.id = function_object(child.id, table);
  }
  objects_.objects[made].children = std::move(children);
  return made;
}

uint32_t ObjectCopies::function_object(uint32_t object, uint32_t table) {
  const uint32_t id = copy_object(objects_.objects, object);
  std::string& content = objects_.objects[id].content;
  content = with_each_field(content, kFunctionOfTrace, [&](std::string_view name) {
    const auto own = own_names_.find(std::pair(std::string(name), table));
    return own == own_names_.end() ? std::string(name) : own->second;
  });
  return id;
}

void ObjectCopies::copy_function(const std::string& name, uint32_t table, const std::string& shared_name) {
  const auto [own, fresh] = own_names_.emplace(std::pair(name, table), name);
  if (!fresh) return;
  const SavedObjects::Function* known = objects_.find_function(name);
  Function* function = library_.find(name);
  if (known == nullptr || function == nullptr) return;
  own->second = free_function_name(library_, ops_, name);
  SavedObjects::Function entry = *known;
  entry.name = own->second;
  for (uint32_t& id : entry.bound_inputs) {
    if (const auto copy = copies_.find(id); copy != copies_.end()) id = copy->second;
  }
  entry.changed = true;
  StringSink bytes;
  function->body.write(bytes);
  const std::string body = with_each_field(bytes.text, function_field::kNode, [&](std::string_view found) {
    const std::string_view node_def = once_each(found, *arena_);
    if (!is_table_op(node_op(node_def))) return std::string(node_def);
    return with_attr(node_def, "shared_name", string_value(shared_name));
  });
  library_.add(with_function_name(body, own->second), arena_);
  objects_.functions.push_back(std::move(entry));
}

}  // namespace gedit
