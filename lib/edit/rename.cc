// gedit rename: other names for nodes, scopes and functions, and everything that names them follows.
//
// A pure prefix is a mapping without a look at any name, and where single nodes are renamed what does not
// mention them is copied as it lies. Everything else decides once per node what its name becomes.
#include "edit/edits.h"

#include <algorithm>
#include <map>

#include "edit/savers/checkpoint_keys.h"

#include "base/error.h"
#include "base/map_entry.h"
#include "edit/around/map.h"
#include "edit/basis/addresses.h"
#include "edit/basis/key_value.h"
#include "edit/basis/names.h"
#include "edit/changing/rename_check.h"
#include "edit/changing/rename_mapping.h"
#include "edit/changing/renamed_keys.h"
#include "edit/changing/shared_state.h"
#include "graph/function_names.h"
#include "model/captured_tensors.h"

namespace gedit {
namespace {

// A request taken apart.
struct RenameParts {
  explicit RenameParts(const RenameRequest& request);

  RenameRules rules;                                    // of the main graph
  std::unordered_map<std::string, RenameRules> bodies;  // by function
  std::vector<OldNew> functions;
};

RenameParts::RenameParts(const RenameRequest& request) {
  for (const std::string& written : read_pairs(request.pairs)) {
    const std::string_view text = written;
    const size_t inside = text.find("//");
    if (text.starts_with("fn:")) {
      functions.push_back(parse_old_new(written, text.substr(3)));
    } else if (inside != std::string_view::npos && inside < text.find('=') && inside > 0) {
      bodies[std::string(text.substr(0, inside))].add(parse_old_new(written, text.substr(inside + 2)));
    } else {
      rules.add(parse_old_new(written, text));
    }
  }
  for (const std::string& expression : request.expressions) rules.add(Substitution(expression));
}

void add_changes(const RenamedNodes& renamed, const std::string& place, Changes& changes) {
  for (const auto& [from, to] : renamed) changes.changed.emplace_back(place + from, "renamed " + place + to);
}

// ret and control_ret of a function name its nodes.
void map_returns(Graph& body, const RenameMapping& mapping) {
  for (const uint32_t field : {function_field::kRet, function_field::kControlRet}) {
    std::vector<std::string> entries;
    for (const Part& part : body.parts()) {
      if (part.field != field) continue;
      const MapEntry entry = map_entry(record_at(part.raw.data()).node_def);
      std::string value;
      mapping.input({}, entry.value, value);
      entries.push_back(map_entry_bytes(entry.key, value));
    }
    body.set_parts(field, std::move(entries));
  }
}

void rename_in_functions(Model& model, std::unordered_map<std::string, RenameRules>& bodies,
                         bool want_changes, Changes& changes) {
  Graph& graph = model.graph();
  Library library = Library::decode(graph.part(graph_field::kLibrary), model.arena);
  std::map<std::string_view, std::shared_ptr<const RenameMapping>> mappings;
  for (auto& [name, rules] : bodies) {
    Function& function = find_function(library, name);
    function.body.decode();
    RenamedNodes renamed;
    const std::vector<std::string_view> arguments = argument_names(function_signature(function.body));
    check_renamed(function.body, rules, arguments, want_changes ? &renamed : nullptr);
    add_changes(renamed, name + "//", changes);
    const SharedState state = shared_state(function.body);
    const auto mapping = std::make_shared<const RenameMapping>(
        std::move(rules), std::unordered_map<std::string, std::string>(), true, state.owned,
        std::set<std::string, std::less<>>(arguments.begin(), arguments.end()));
    check_told_apart(function.body, state, *mapping);
    map_returns(function.body, *mapping);
    function.body.map_all(mapping);
    mappings.emplace(name, mapping);
  }
  graph.set_part(graph_field::kLibrary, library.encode());
  const std::string_view objects = model.meta().part(meta_field::kObjectGraph);
  const CapturedTensors captured = captured_tensors(objects);
  const auto is_renamed = [&](const auto& tensors) { return mappings.contains(tensors.first); };
  if (std::ranges::none_of(captured, is_renamed)) return;
  model.meta().set_part(
      meta_field::kObjectGraph,
      with_captured_tensors(objects, [&](std::string_view function, std::string_view tensor) {
        const auto mapping = mappings.find(function);
        if (mapping == mappings.end()) return std::string(tensor);
        std::string now;
        mapping->second->input({}, tensor, now);
        return now;
      }));
}

// Whether what is shared by name may be concerned.
bool check_nodes(Graph& graph, const RenameRules& rules, bool want_changes, Changes& changes) {
  if (const std::optional<std::string> prefix = rules.prefix(); prefix && !want_changes) {
    // One look at the prefix tells for all names: what is valid stays valid behind it, and different names
    // stay different.
    const std::string sample = *prefix + "x";
    if (invalid_name_at(sample) != std::string_view::npos) throw not_a_node_name(sample);
    return true;
  }
  if (rules.empty() || (!want_changes && renames_plainly(graph, rules))) return false;
  graph.decode();
  RenamedNodes renamed;
  check_renamed(graph, rules, {}, want_changes ? &renamed : nullptr);
  add_changes(renamed, "", changes);
  return true;
}

}  // namespace

KeyMap renamed_keys(Model& model, const RenameRequest& request) {
  return renamed_keys(model, RenameParts(request).rules);
}

Changes rename(Model& model, Registry& ops, const RenameRequest& request) {
  RenameParts parts(request);
  Changes changes;
  Graph& graph = model.graph();
  if (!parts.bodies.empty()) rename_in_functions(model, parts.bodies, request.want_changes, changes);
  std::unordered_map<std::string, std::string> functions;
  if (!parts.functions.empty()) {
    check_renamed_functions(graph.part(graph_field::kLibrary), ops, parts.functions);
    for (const OldNew& pair : parts.functions) {
      functions[pair.from] = pair.to;
      if (request.want_changes) changes.changed.emplace_back("fn:" + pair.from, "renamed fn:" + pair.to);
    }
  }
  if (parts.rules.empty() && functions.empty()) return changes;
  const bool shares = check_nodes(graph, parts.rules, request.want_changes, changes);
  if (!functions.empty()) {  // bodies name functions, and no node of the main graph
    const RenameMapping inside({}, functions, false);
    graph.set_part(graph_field::kLibrary, map_library(graph.part(graph_field::kLibrary), inside));
  }
  const SharedState state = shares ? shared_state(graph) : SharedState();
  const auto mapping =
      std::make_shared<const RenameMapping>(std::move(parts.rules), std::move(functions), false, state.owned);
  check_told_apart(graph, state, *mapping);
  map_surroundings(model.meta(), RenamedAround(*mapping));
  graph.map_all(mapping);
  return changes;
}

}  // namespace gedit
