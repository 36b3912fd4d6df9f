#include "model/calls.h"

namespace gedit {

std::vector<bool> called_functions(const MetaGraph& meta, const Library& library, const NodeSet* roots) {
  FunctionReach reach(library);
  if (roots == nullptr) {
    meta.graph.each_record([&](std::string_view node_def) { reach.calls_of(node_def); });
    // What the object graph names is callable from Python.
    for (Fields objects(meta.part(meta_field::kObjectGraph)); objects.next();) {
      if (objects->bytes(2)) reach.call(map_entry(objects->value).key);
    }
  } else {
    for (const NodeId id : roots->nodes()) reach.calls_of(meta.graph.bytes(id));
  }
  reach.follow();
  std::vector<bool> reached(library.functions.size());
  for (size_t i = 0; i < reached.size(); ++i) reached[i] = reach.reached(i);
  return reached;
}

bool has_alias(const MetaGraph& meta, std::string_view function) {
  for (Fields info(meta.part(meta_field::kInfo)); info.next();) {
    if (info->bytes(8) && map_entry(info->value).key == function) return true;  // function_aliases
  }
  return false;
}

}  // namespace gedit
