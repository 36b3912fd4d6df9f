#include "graph/library.h"

#include <unordered_set>

#include "base/message_edit.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr size_t kFieldHead = 16;  // room for the tag and the length that a library gets as a field

bool names_other_pass(std::string_view key) {
  return key == "forward_function_name" || key == "backward_function_name";
}

std::string map_function(std::string_view function_def, const Mapping& mapping) {
  const auto function = [&](std::string_view name) {
    std::string mapped;
    mapping.function(name, mapped);
    return mapped;
  };
  std::string out;
  for (Fields fields(function_def); fields.next();) {
    if (fields->bytes(function_field::kSignature)) {
      append_bytes_field(out, function_field::kSignature, with_each_field(fields->value, 1, function));
    } else if (fields->bytes(function_field::kNode)) {
      append_bytes_field(out, function_field::kNode, mapped_node(fields->value, mapping));
    } else if (fields->bytes(function_field::kAttr)) {
      const MapEntry entry = map_entry(fields->value);
      append_map_entry(out, function_field::kAttr, entry.key,
                       names_other_pass(entry.key)
                           ? string_value(function(last_bytes(entry.value, attr_field::kString)))
                           : map_functions(entry.value, mapping));
    } else {
      out += fields->raw;
    }
  }
  return out;
}

// The value of one field.
std::string_view content_of(std::string_view field) {
  Fields fields(field);
  return fields.next() ? fields->value : std::string_view();
}

// The function's field, `raw` as it was; what was edited is written into `made`.
std::string_view field_now(const Function& function, std::string_view raw, Arena& made) {
  if (!function.body.edited()) return raw;
  StringSink sink;
  function.body.write(sink);
  return made.keep(bytes_field(1, std::move(sink.text)));
}

// The function without attributes that name a forward or backward function which is not `kept`.
void append_kept(const Function& function, std::string_view raw,
                 const std::unordered_set<std::string_view>& kept, std::string& out) {
  Arena made;
  raw = field_now(function, raw, made);
  const auto stale = [&](const Field& field) {
    if (!field.bytes(function_field::kAttr)) return false;
    const MapEntry entry = map_entry(field.value);
    return names_other_pass(entry.key) && !kept.contains(last_bytes(entry.value, attr_field::kString));
  };
  bool any = false;
  const std::string_view content = content_of(raw);
  for (Fields fields(content); fields.next() && !any;) any = stale(fields.field());
  if (!any) {
    out += raw;
    return;
  }
  append_bytes_field(out, 1, only_fields(content, [&](const Field& field) { return !stale(field); }));
}

}  // namespace

Library Library::decode(std::string_view library, const std::shared_ptr<Arena>& arena) {
  Library found;
  for (Fields fields(library); fields.next();) {
    const Part part = part_of(fields.field());
    found.items.push_back({part.field, part.raw, found.functions.size()});
    if (part.field != 1) continue;
    found.functions.push_back(
        {function_name(fields->value), Graph(fields->value, function_field::kNode, arena)});
  }
  return found;
}

Function* Library::find(std::string_view name) {
  for (Function& function : functions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

Function& Library::add(const std::string& function_def, const std::shared_ptr<Arena>& arena) {
  const std::string_view raw = arena->keep(bytes_field(1, function_def));
  items.push_back({1, raw, functions.size()});
  const std::string_view kept = record_at(raw.data()).node_def;
  return functions.emplace_back(Function{function_name(kept), Graph(kept, function_field::kNode, arena)});
}

std::string Library::encode() const {
  Arena made;
  std::vector<std::string_view> fields;
  size_t size = kFieldHead;
  for (const Item& item : items) {
    fields.push_back(item.field == 1 ? field_now(functions[item.function], item.raw, made) : item.raw);
    size += fields.back().size();
  }
  std::string out;
  out.reserve(size);
  for (const std::string_view field : fields) out += field;
  return out;
}

std::string_view function_signature(const Graph& body) { return body.part(function_field::kSignature); }

std::string_view function_name(std::string_view function_def) {
  return last_bytes(last_bytes(function_def, function_field::kSignature), 1);
}

std::vector<std::string_view> argument_names(std::string_view signature) {
  std::vector<std::string_view> names;
  for (Fields fields(signature); fields.next();) {
    if (fields->bytes(2)) names.push_back(last_bytes(fields->value, 1));
  }
  return names;
}

std::string_view called_function(std::string_view node_def) {
  const std::string_view op = node_op(node_def);
  if (!is(op, OpKind::kLocalCall)) return op;
  const auto f = find_attr(node_def, "f");
  return f ? last_bytes(last_bytes(*f, attr_field::kFunc), 1) : std::string_view();
}

FunctionReach::FunctionReach(const Library& library) : library_(library), reached_(library.functions.size()) {
  for (size_t i = 0; i < library.functions.size(); ++i) by_name_.emplace(library.functions[i].name, i);
  for (const Library::Item& item : library.items) {
    const std::string_view content = content_of(item.raw);
    if (item.field == 2) gradients_.emplace(last_bytes(content, 1), last_bytes(content, 2));
    if (item.field == 3) registered_.emplace(last_bytes(content, 2), last_bytes(content, 1));
  }
}

void FunctionReach::call(std::string_view function) {
  const auto found = by_name_.find(function);
  if (found == by_name_.end() || reached_[found->second]) return;
  reached_[found->second] = true;
  stack_.push_back(found->second);
}

void FunctionReach::calls_of(std::string_view node_def) {
  call(node_op(node_def));
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    each_function(value, [&](std::string_view name) { call(name); });
    // A gradient of Python's registry that the library brings along.
    if (key != "_gradient_op_type" || registered_.empty()) return;
    const auto gradient = registered_.find(last_bytes(value, attr_field::kString));
    if (gradient != registered_.end()) call(gradient->second);
  });
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

std::string reduced_library(const Library& library, const FunctionReach& reach) {
  std::unordered_set<std::string_view> kept;
  for (size_t i = 0; i < library.functions.size(); ++i) {
    if (reach.reached(i)) kept.insert(library.functions[i].name);
  }
  std::string out;
  for (const Library::Item& item : library.items) {
    if (item.field == 1) {
      if (reach.reached(item.function)) append_kept(library.functions[item.function], item.raw, kept, out);
    } else if (item.field == 2 || item.field == 3) {
      const std::string_view content = content_of(item.raw);
      if (kept.contains(last_bytes(content, 1)) && (item.field == 3 || kept.contains(last_bytes(content, 2))))
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
    if (fields->bytes(1)) {
      append_bytes_field(out, 1, map_function(fields->value, mapping));
    } else if (fields->wire == Wire::kBytes && (fields->number == 2 || fields->number == 3)) {
      // GradientDef names two functions; RegisteredGradient a function and an op type of the Python registry.
      std::string gradient;
      for (Fields parts(fields->value); parts.next();) {
        if (!parts->bytes(1) && !(fields->number == 2 && parts->bytes(2))) {
          gradient += parts->raw;
          continue;
        }
        std::string name;
        mapping.function(parts->value, name);
        append_bytes_field(gradient, parts->number, name);
      }
      append_bytes_field(out, fields->number, gradient);
    } else {
      out += fields->raw;
    }
  }
  return out;
}

}  // namespace gedit
