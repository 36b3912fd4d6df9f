#include "graph/library.h"

namespace gedit {
namespace {

std::string map_function(std::string_view function_def, const Mapping& mapping) {
  std::string out;
  for (Fields fields(function_def); fields.next();) {
    if (fields->bytes(function_field::kSignature)) {
      std::string signature;
      for (Fields parts(fields->value); parts.next();) {
        if (!parts->bytes(1)) {
          signature += parts->raw;
          continue;
        }
        std::string name;
        mapping.function(parts->value, name);
        append_bytes_field(signature, 1, name);
      }
      append_bytes_field(out, function_field::kSignature, signature);
    } else if (fields->bytes(function_field::kNode)) {
      append_bytes_field(out, function_field::kNode, mapped_node(fields->value, mapping));
    } else if (fields->bytes(function_field::kAttr)) {
      const MapEntry entry = map_entry(fields->value);
      std::string value;
      if (entry.key == "forward_function_name" || entry.key == "backward_function_name") {
        std::string name;
        mapping.function(last_bytes(entry.value, attr_field::kString), name);
        value = string_value(name);
      } else {
        value = map_functions(entry.value, mapping);
      }
      std::string mapped;
      append_bytes_field(mapped, 1, entry.key);
      append_bytes_field(mapped, 2, value);
      append_bytes_field(out, function_field::kAttr, mapped);
    } else {
      out += fields->raw;
    }
  }
  return out;
}

}  // namespace

Library Library::decode(std::string_view library, const std::shared_ptr<Arena>& arena) {
  Library found;
  for (Fields fields(library); fields.next();) {
    found.items.push_back({fields->number, fields->raw, found.functions.size()});
    if (!fields->bytes(1)) continue;
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
  std::string field;
  append_bytes_field(field, 1, function_def);
  const std::string_view raw = arena->keep(std::move(field));
  items.push_back({1, raw, functions.size()});
  const std::string_view kept = record_at(raw.data()).node_def;
  return functions.emplace_back(Function{function_name(kept), Graph(kept, function_field::kNode, arena)});
}

std::string Library::encode() const {
  std::string out;
  for (const Item& item : items) {
    if (item.field == 1 && functions[item.function].body.edited()) {
      StringSink sink;
      functions[item.function].body.write(sink);
      append_bytes_field(out, 1, sink.text);
    } else {
      out += item.raw;
    }
  }
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
