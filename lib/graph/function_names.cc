#include "graph/function_names.h"

#include "base/message_edit.h"
#include "graph/name_attr_list.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

std::string mapped_name(std::string_view name, const Mapping& mapping) {
  std::string mapped;
  mapping.function(name, mapped);
  return mapped;
}

std::string map_function(std::string_view function_def, const Mapping& mapping) {
  Arena made;
  const auto name = [&](std::string_view function) { return mapped_name(function, mapping); };
  std::string out;
  for (Fields fields(function_def); fields.next();) {
    if (fields->bytes(function_field::kSignature)) {
      append_bytes_field(out, function_field::kSignature, with_each_field(fields->value, 1, name));
    } else if (fields->bytes(function_field::kNode)) {
      append_bytes_field(out, function_field::kNode, mapped_node(once_each(fields->value, made), mapping));
    } else if (fields->bytes(function_field::kAttr)) {
      const MapEntry entry = map_entry(fields->value);
      append_map_entry(out, function_field::kAttr, entry.key,
                       names_other_pass(entry.key)
                           ? string_value(name(last_bytes(entry.value, attr_field::kString)))
                           : map_functions(entry.value, mapping));
    } else {
      out += fields->raw;
    }
  }
  return out;
}

// Its forward or backward function is not `kept`.
bool names_what_is_gone(const Field& field, const std::unordered_set<std::string_view>& kept) {
  if (!field.bytes(function_field::kAttr)) return false;
  const MapEntry entry = map_entry(field.value);
  return names_other_pass(entry.key) && !kept.contains(last_bytes(entry.value, attr_field::kString));
}

// The field of a library without attributes that name a forward or backward function which is not `kept`.
void append_kept(std::string_view raw, const std::unordered_set<std::string_view>& kept, std::string& out) {
  const std::string_view function_def = record_at(raw.data()).node_def;
  bool any = false;
  for (Fields fields(function_def); fields.next() && !any;) any = names_what_is_gone(fields.field(), kept);
  if (!any) {
    out += raw;
    return;
  }
  append_bytes_field(out, library_field::kFunction, only_fields(function_def, [&](const Field& field) {
                       return !names_what_is_gone(field, kept);
                     }));
}

}  // namespace

std::string_view called_function(std::string_view node_def) {
  const std::string_view op = node_op(node_def);
  if (!is(op, OpKind::kLocalCall)) return op;
  const auto f = find_attr(node_def, "f");
  return f ? function_in(*f) : std::string_view();
}

FunctionReach::FunctionReach(const Library& library) : library_(library), reached_(library.functions.size()) {
  by_name_.reserve(library.functions.size());
  for (size_t i = 0; i < library.functions.size(); ++i) by_name_.emplace(library.functions[i].name, i);
  for (const Library::Item& item : library.items) {
    if (item.field == library_field::kGradient)
      gradients_.emplace(last_bytes(item.content(), 1), last_bytes(item.content(), 2));
    if (item.field == library_field::kRegisteredGradient)
      registered_.emplace(last_bytes(item.content(), 2), last_bytes(item.content(), 1));
  }
}

void FunctionReach::call(std::string_view function) {
  const auto found = by_name_.find(function);
  if (found == by_name_.end() || reached_[found->second]) return;
  reached_[found->second] = true;
  stack_.push_back(found->second);
}

void FunctionReach::calls_of(std::string_view node_def) {
  if (by_name_.empty()) return;
  each_function_named(node_def, [&](std::string_view name) { call(name); });
  if (registered_.empty()) return;
  // A gradient of Python's registry that the library brings along.
  const auto op_type = string_attr(node_def, "_gradient_op_type");
  const auto gradient = op_type ? registered_.find(*op_type) : registered_.end();
  if (gradient != registered_.end()) call(gradient->second);
}

void FunctionReach::follow() {
  while (!stack_.empty()) {
    const Function& function = library_.functions[stack_.back()];
    stack_.pop_back();
    function.body.each_record([&](std::string_view node_def) { calls_of(node_def); });
    const auto range = gradients_.equal_range(function.name);
    for (auto it = range.first; it != range.second; ++it) call(it->second);
  }
}

FunctionUsers::FunctionUsers(const Graph& main, Library& library) : users_(library.functions.size()) {
  by_name_.reserve(library.functions.size());
  for (size_t i = 0; i < library.functions.size(); ++i) by_name_.emplace(library.functions[i].name, i);
  const auto look = [&](const Graph& graph, size_t function) {
    for (uint32_t i = 0; i < graph.size(); ++i) {
      if (graph.removed(NodeId{i})) continue;
      each_named(graph.bytes(NodeId{i}), [&](size_t named) {
        users_[named].push_back({function, NodeId{i}});
      });
    }
  };
  for (size_t i = 0; i < library.functions.size(); ++i) {
    library.functions[i].body.decode();
    look(library.functions[i].body, i);
  }
  look(main, kMainGraph);
}

std::unordered_set<std::string_view> functions_with(const Library& library,
                                                    const std::function<bool(std::string_view)>& wanted) {
  std::unordered_set<std::string_view> found;
  std::vector<std::string_view> stack;
  for (const Function& function : library.functions) {
    bool holds = false;
    function.body.each_record([&](std::string_view node_def) { holds = holds || wanted(node_op(node_def)); });
    if (holds && found.insert(function.name).second) stack.push_back(function.name);
  }
  if (found.empty()) return found;
  std::unordered_set<std::string_view> known;
  for (const Function& function : library.functions) known.insert(function.name);
  std::unordered_multimap<std::string_view, std::string_view> callers;
  for (const Function& function : library.functions) {
    function.body.each_record([&](std::string_view node_def) {
      if (const std::string_view called = called_function(node_def); known.contains(called))
        callers.emplace(called, function.name);
    });
  }
  while (!stack.empty()) {
    const auto range = callers.equal_range(stack.back());
    stack.pop_back();
    for (auto it = range.first; it != range.second; ++it) {
      if (found.insert(it->second).second) stack.push_back(it->second);
    }
  }
  return found;
}

std::string reduced_library(const Library& library, const FunctionReach& reach) {
  std::unordered_set<std::string_view> kept;
  for (size_t i = 0; i < library.functions.size(); ++i) {
    if (reach.reached(i)) kept.insert(library.functions[i].name);
  }
  Arena made;
  std::string out;
  for (const Library::Item& item : library.items) {
    const bool gradient = item.field == library_field::kGradient;
    if (item.field == library_field::kFunction) {
      if (reach.reached(item.function)) append_kept(library.field(item, made), kept, out);
    } else if (gradient || item.field == library_field::kRegisteredGradient) {
      if (kept.contains(last_bytes(item.content(), 1)) &&
          (!gradient || kept.contains(last_bytes(item.content(), 2))))
        out += item.raw;
    } else {
      out += item.raw;
    }
  }
  return out;
}

std::string map_library(std::string_view library, const Mapping& mapping) {
  std::string out;
  for (Fields fields(library); fields.next();) {
    if (fields->bytes(library_field::kFunction)) {
      append_bytes_field(out, fields->number, map_function(fields->value, mapping));
    } else if (fields->bytes(library_field::kGradient) || fields->bytes(library_field::kRegisteredGradient)) {
      std::string gradient;
      for (Fields parts(fields->value); parts.next();) {
        if (parts->wire == Wire::kBytes && gradient_names_function(fields->number, parts->number)) {
          append_bytes_field(gradient, parts->number, mapped_name(parts->value, mapping));
        } else if (fields->number == library_field::kRegisteredGradient && parts->bytes(2)) {
          std::string type;
          mapping.identity(NodeHead(), Role::kGradientType, parts->value, type);
          append_bytes_field(gradient, parts->number, type);
        } else {
          gradient += parts->raw;
        }
      }
      append_bytes_field(out, fields->number, gradient);
    } else {
      out += fields->raw;
    }
  }
  return out;
}

}  // namespace gedit
