#include "model/calls.h"

#include <unordered_map>

#include "graph/references.h"

namespace gedit {

std::vector<bool> called_functions(const MetaGraph& meta, const Library& library, const NodeSet* roots) {
  std::vector<bool> reached(library.functions.size());
  std::unordered_map<std::string_view, size_t> by_name;
  for (size_t i = 0; i < library.functions.size(); ++i) by_name.emplace(library.functions[i].name, i);
  std::vector<size_t> stack;
  const auto call = [&](std::string_view name) {
    const auto found = by_name.find(name);
    if (found == by_name.end() || reached[found->second]) return;
    reached[found->second] = true;
    stack.push_back(found->second);
  };
  const auto calls_of = [&](std::string_view node_def) {
    call(node_op(node_def));
    each_attr(node_def, [&](std::string_view, std::string_view value) {
      if (may_name_function(value)) each_function(value, call);
    });
  };
  if (roots == nullptr) {
    meta.graph.each_record(calls_of);
    // What the object graph names is callable from Python.
    for (Fields objects(meta.part(meta_field::kObjectGraph)); objects.next();) {
      if (objects->bytes(2)) call(map_entry(objects->value).key);
    }
  } else {
    for (const NodeId id : roots->nodes()) calls_of(meta.graph.bytes(id));
  }
  std::unordered_multimap<std::string_view, std::string_view> gradients;
  for (const Library::Item& item : library.items) {
    if (item.field != 2) continue;
    const std::string_view gradient = record_at(item.raw.data()).node_def;
    gradients.emplace(last_bytes(gradient, 1), last_bytes(gradient, 2));
  }
  while (!stack.empty()) {
    const Function& function = library.functions[stack.back()];
    stack.pop_back();
    function.body.each_record(calls_of);
    const auto range = gradients.equal_range(function.name);
    for (auto it = range.first; it != range.second; ++it) call(it->second);
  }
  return reached;
}

}  // namespace gedit
