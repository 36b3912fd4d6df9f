// The object graph of a TensorFlow 2 SavedModel: ids and names in it (python/saved_model/load.py).
#include <unordered_set>

#include "base/error.h"
#include "check/surroundings.h"
#include "model/saved_objects.h"

namespace gedit {
namespace {

class ObjectGraphCheck {
 public:
  ObjectGraphCheck(const CheckedGraph& in, const MetaGraph& meta, const Functions& functions, Report& report)
      : in_(in),
        functions_(functions),
        report_(report),
        objects_(read_saved_objects(meta.part(meta_field::kObjectGraph))),
        assets_(meta.parts_of(meta_field::kAsset).size()) {}

  void run() {
    if (objects_.objects.empty()) return;
    for (const SavedObjects::Function& function : objects_.functions) concrete_.insert(function.name);
    for (size_t id = 0; id < objects_.objects.size(); ++id) {
      subject_ = "object " + std::to_string(id);
      references(objects_.objects[id]);
    }
    for (const SavedObjects::Function& function : objects_.functions) concrete_function(function);
  }

 private:
  void wrong(const std::string& what) { report_.add(Rule::kObjectGraph, subject_, what); }

  void reference(uint32_t id, const std::string& what) {
    if (id >= objects_.objects.size())
      wrong(what + " is object " + std::to_string(static_cast<int32_t>(id)) + " of " +
            std::to_string(objects_.objects.size()));
  }

  void concrete_name(std::string_view name) {
    if (!concrete_.contains(name))
      wrong("names " + quoted("concrete function", name) + ", which is not there");
  }

  void references(const SavedObjects::Object& object) {
    for (const Trackable::Reference& child : object.children)
      reference(child.id, quoted("child", child.name));
    for (const Trackable::Slot& slot : object.slots) {
      reference(slot.variable, "the variable of " + quoted("slot", slot.name));
      reference(slot.slot, quoted("slot", slot.name));
    }
    what_it_stands_for(object);
    for (const Trackable::Saveable& saveable : object.saveables) {
      reference(saveable.save, "the save function of " + quoted("saveable", saveable.name));
      reference(saveable.restore, "the restore function of " + quoted("saveable", saveable.name));
    }
    for (const Trackable::Reference& dependency : object.dependencies)
      reference(dependency.id, quoted("child", dependency.name));
  }

  void what_it_stands_for(const SavedObjects::Object& object) {
    switch (object.kind) {
      case ObjectKind::kAsset:
        if (const uint64_t index = asset_index(object.content); index >= assets_)
          wrong("is asset " + std::to_string(static_cast<int64_t>(index)) + " of " + std::to_string(assets_));
        break;
      case ObjectKind::kFunction:
        for (const std::string_view name : concrete_functions(object)) concrete_name(name);
        break;
      case ObjectKind::kBareFunction:
        concrete_name(last_bytes(object.content, 1));
        break;
      case ObjectKind::kConstant:
        if (const std::string_view name = last_bytes(object.content, 1); in_.names.find(name) == kNoNode)
          wrong("names " + quoted("node", name) + ", which is not there");
        break;
      case ObjectKind::kCapturedTensor:
        if (const std::string_view name = last_bytes(object.content, 2); !functions_.contains(name))
          wrong("names " + quoted("function", name) + ", which is not there");
        break;
      default:
        break;
    }
  }

  void concrete_function(const SavedObjects::Function& concrete) {
    subject_ = concrete.name;
    const auto function = functions_.find(concrete.name);
    if (function == functions_.end()) return wrong("no such function in the library");
    const size_t bound = concrete.bound_inputs.size();
    for (size_t k = 0; k < bound; ++k)
      reference(concrete.bound_inputs[k], "bound input " + std::to_string(k));
    if (function->second.counted && bound > function->second.inputs.size()) {
      wrong(std::to_string(bound) + " bound inputs, the function takes " +
            std::to_string(function->second.inputs.size()));
    }
  }

  const CheckedGraph& in_;
  const Functions& functions_;
  Report& report_;
  const SavedObjects objects_;
  const size_t assets_;
  std::unordered_set<std::string_view> concrete_;
  std::string subject_;
};

}  // namespace

void check_object_graph(const CheckedGraph& in, const MetaGraph& meta, const Functions& functions,
                        Report& report) {
  ObjectGraphCheck(in, meta, functions, report).run();
}

}  // namespace gedit
