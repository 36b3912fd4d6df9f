#include "model/calls.h"

#include <unordered_map>

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

std::vector<bool> called_or_alternative(const MetaGraph& meta, const Library& library) {
  std::vector<bool> reached = called_functions(meta, library);
  const size_t count = library.functions.size();
  std::unordered_map<std::string_view, size_t> by_name;
  std::unordered_map<std::string_view, std::vector<size_t>> groups;  // by api_implements
  std::vector<std::vector<size_t>> near(count);
  std::vector<std::string_view> group(count);
  by_name.reserve(count);
  for (size_t i = 0; i < count; ++i) by_name.emplace(library.functions[i].name, i);
  for (size_t i = 0; i < count; ++i) {
    const auto named = [&](std::string_view name, bool both) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) return;
      near[i].push_back(found->second);
      if (both) near[found->second].push_back(i);
    };
    library.functions[i].body.each_record([&](std::string_view node_def) {
      each_function_named(node_def, [&](std::string_view name) { named(name, false); });
    });
    for (Fields fields(library.functions[i].body.message()); fields.next();) {
      if (!fields->bytes(function_field::kAttr)) continue;
      const MapEntry entry = map_entry(fields->value);
      const std::string_view text = last_bytes(entry.value, attr_field::kString);
      if (names_other_pass(entry.key)) named(text, true);
      if (entry.key != "api_implements") continue;
      group[i] = text;
      groups[text].push_back(i);
    }
  }
  std::vector<size_t> open;
  for (size_t i = 0; i < count; ++i) {
    if (reached[i]) open.push_back(i);
  }
  const auto add = [&](size_t i) {
    if (!reached[i]) open.push_back(i);
    reached[i] = true;
  };
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    for (const size_t next : near[at]) add(next);
    if (group[at].data() == nullptr) continue;
    for (const size_t next : groups[group[at]]) add(next);
    groups[group[at]].clear();
  }
  return reached;
}

std::unordered_set<std::string_view> aliased_functions(const MetaGraph& meta) {
  std::unordered_set<std::string_view> functions;
  for (Fields info(meta.part(meta_field::kInfo)); info.next();) {
    if (info->bytes(8)) functions.insert(map_entry(info->value).key);  // function_aliases
  }
  return functions;
}

}  // namespace gedit
