#include "graph/library.h"

namespace gedit {
namespace {

constexpr size_t kFieldHead = 16;  // room for the tag and the length that a library gets as a field

}  // namespace

Library Library::decode(std::string_view library, const std::shared_ptr<Arena>& arena) {
  Library found;
  size_t items = 0, functions = 0;
  for (Fields fields(library); fields.next(); ++items)
    functions += fields->bytes(library_field::kFunction) ? 1 : 0;
  found.items.reserve(items);
  found.functions.reserve(functions);
  for (Fields fields(library); fields.next();) {
    const Part part = part_of(fields.field());
    found.items.push_back({part.field, part.raw, found.functions.size()});
    if (part.field != library_field::kFunction) continue;
    found.functions.push_back(
        {function_name(fields->value), Graph(fields->value, function_field::kNode, arena)});
  }
  return found;
}

Function* Library::find(std::string_view name) {
  for (; looked_at_ < functions.size(); ++looked_at_) places_.emplace(functions[looked_at_].name, looked_at_);
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &functions[place->second];
}

FunctionDefs function_defs(std::string_view library) {
  FunctionDefs defs;
  for (Fields fields(library); fields.next();) {
    if (fields->bytes(library_field::kFunction)) defs.emplace(function_name(fields->value), fields->value);
  }
  return defs;
}

Function& Library::add(const std::string& function_def, const std::shared_ptr<Arena>& arena) {
  const std::string_view raw = arena->keep(bytes_field(library_field::kFunction, function_def));
  items.push_back({library_field::kFunction, raw, functions.size()});
  const std::string_view kept = record_at(raw.data()).node_def;
  return functions.emplace_back(Function{function_name(kept), Graph(kept, function_field::kNode, arena)});
}

std::string_view Library::field(const Item& item, Arena& made) const {
  if (item.field != library_field::kFunction || !functions[item.function].body.edited()) return item.raw;
  StringSink sink;
  functions[item.function].body.write(sink);
  return made.keep(bytes_field(library_field::kFunction, std::move(sink.text)));
}

std::string Library::encode() const {
  Arena made;
  std::vector<std::string_view> fields;
  size_t size = kFieldHead;
  for (const Item& item : items) {
    fields.push_back(field(item, made));
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

}  // namespace gedit
