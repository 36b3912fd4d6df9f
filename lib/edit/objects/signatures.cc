#include "edit/objects/signatures.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/map_entry.h"
#include "edit/functions/function_def.h"

namespace gedit {
namespace {

namespace structured {  // StructuredValue (tensorflow/core/protobuf/struct.proto)
constexpr uint32_t kNone = 1, kString = 13, kTensorSpec = 33, kList = 51, kTuple = 52, kDict = 53,
                   kNamedTuple = 54;

std::string value(uint32_t kind, std::string_view content) {
  std::string bytes;
  append_bytes_field(bytes, kind, content);
  return bytes;
}

std::string none() { return value(kNone, ""); }

std::string sequence(uint32_t kind, const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& one : values) append_bytes_field(list, 1, one);
  return value(kind, list);
}

std::string tensor_specs(const std::vector<SignatureTensor>& tensors) {
  std::string dict;
  for (const SignatureTensor& tensor : tensors) {
    std::string spec;
    append_bytes_field(spec, 1, tensor.key);
    append_bytes_field(spec, 2, shape_proto(tensor.shape));
    append_varint_field(spec, 3, static_cast<uint64_t>(tensor.type));
    append_bytes_field(dict, 1, map_entry_bytes(tensor.key, value(kTensorSpec, spec)));
  }
  return value(kDict, dict);
}

}  // namespace structured

namespace bare_field {  // SavedBareConcreteFunction
constexpr uint32_t kName = 1, kKeyword = 2, kPositional = 3, kSpec = 4;
}

// Whether Python takes it for the name of an argument; FunctionSpec knows no others.
bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// FunctionSpec of a function that takes these keywords.
std::string function_spec(const std::vector<SignatureTensor>& inputs) {
  std::vector<std::string> keywords;
  for (const SignatureTensor& input : inputs)
    keywords.push_back(structured::value(structured::kString, input.key));
  const std::string no_list = structured::sequence(structured::kList, {});
  std::string arguments;
  append_bytes_field(arguments, 1, "FullArgSpec");
  const auto add = [&](std::string_view key, const std::string& value) {
    append_bytes_field(arguments, 2, map_entry_bytes(key, value));
  };
  add("args", no_list);
  add("varargs", structured::none());
  add("varkw", structured::none());
  add("defaults", structured::none());
  add("kwonlyargs", structured::sequence(structured::kList, keywords));
  add("kwonlydefaults", structured::none());
  add("annotations", structured::value(structured::kDict, ""));
  std::string spec;
  append_bytes_field(spec, 1, structured::value(structured::kNamedTuple, arguments));
  append_bytes_field(spec, 5, structured::none());  // input_signature
  return spec;
}

std::string renamed(const NameTable& names, std::string_view name) {
  const auto found = names.find(name);
  return found == names.end() ? std::string(name) : found->second;
}

// The keys of a dict_value, and the names of the tensors that they hold.
std::string rename_dict(std::string_view value, const NameTable& names) {
  return with_each(value, structured::kDict, [&](std::string_view dict) {
    return with_each(dict, 1, [&](std::string_view bytes) {
      const MapEntry entry = map_entry(bytes);
      const auto found = names.find(entry.key);
      if (found == names.end()) return std::string(bytes);
      const std::string content = with_each(entry.value, structured::kTensorSpec, [&](std::string_view spec) {
        return with_each(spec, 1, [&](std::string_view) { return found->second; });
      });
      return map_entry_bytes(found->second, content);
    });
  });
}

// canonicalized_input_signature: ((), {name: spec}).
std::string rename_arguments(std::string_view value, const NameTable& names) {
  return with_each(value, structured::kTuple, [&](std::string_view tuple) {
    return with_each(tuple, 1, [&](std::string_view part) { return rename_dict(part, names); });
  });
}

std::string rename_spec(std::string_view spec, const NameTable& names) {
  const auto in_list = [&](std::string_view value) {
    return with_each(value, structured::kList, [&](std::string_view list) {
      return with_each(list, 1, [&](std::string_view item) {
        return with_each(item, structured::kString,
                         [&](std::string_view name) { return renamed(names, name); });
      });
    });
  };
  return with_each(spec, 1, [&](std::string_view arguments) {
    return with_each(arguments, structured::kNamedTuple, [&](std::string_view tuple) {
      return with_each(tuple, 2, [&](std::string_view pair) {
        const std::string_view key = last_bytes(pair, 1);
        return with_each(pair, 2, [&](std::string_view value) {
          if (key == "args" || key == "kwonlyargs") return in_list(value);
          if (key == "kwonlydefaults" || key == "annotations") return rename_dict(value, names);
          return std::string(value);
        });
      });
    });
  });
}

// The keys of a signature's dict, in the order of the function's arguments or outputs, which is that of the
// keys; nothing where something else than one tensor stands for one of them.
std::optional<std::vector<std::string>> tensor_keys(std::string_view value) {
  std::vector<std::string> keys;
  bool plain = true;
  const auto read = [&](std::string_view dict) {
    for (Fields entries(dict); entries.next();) {
      if (!entries->bytes(1)) continue;
      const MapEntry entry = map_entry(entries->value);
      keys.emplace_back(entry.key);
      plain = plain && has_field(entry.value, structured::kTensorSpec);
    }
  };
  for (Fields fields(value); fields.next();) {
    if (fields->bytes(structured::kDict)) read(fields->value);
    if (!fields->bytes(structured::kTuple)) continue;
    for (Fields tuple(fields->value); tuple.next();) {
      if (tuple->bytes(1)) read(last_bytes(tuple->value, structured::kDict));
    }
  }
  if (!plain) return std::nullopt;
  std::sort(keys.begin(), keys.end());
  return keys;
}

// At place k of the renamed keys' order stands the old place.
std::vector<size_t> new_order(const std::vector<std::string>& keys, const NameTable& names) {
  std::vector<std::string> now;
  for (const std::string& key : keys) now.push_back(renamed(names, key));
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return now[a] < now[b]; });
  return order;
}

bool in_order(const std::vector<size_t>& order) { return std::is_sorted(order.begin(), order.end()); }

Error unknown_form(std::string_view key, const std::string& what) {
  return Error(Cause::kRefused, "its object " + what).of(quoted("signature", key));
}

// How often the function is that of an object.
size_t uses(const SavedObjects& objects, std::string_view function) {
  size_t count = 0;
  for (const SavedObjects::Object& object : objects.objects) {
    const std::vector<std::string_view> names = concrete_functions(object);
    count += static_cast<size_t>(std::count(names.begin(), names.end(), function));
  }
  return count;
}

// The object of the signature, for it alone.
uint32_t own_object(SavedObjects& objects, uint32_t map, std::string_view key) {
  const uint32_t id = *child_of(objects.objects[map], key);
  size_t references = 0;
  for (const SavedObjects::Object& object : objects.objects) {
    for (const Trackable::Reference& child : object.children) references += child.id == id ? 1 : 0;
  }
  if (references == 1) return id;
  const uint32_t copy = copy_object(objects.objects, id);
  for (Trackable::Reference& child : objects.objects[map].children) {
    if (child.name == key) child.id = copy;
  }
  objects.objects[map].changed = true;
  return copy;
}

std::string with_keywords(std::string_view bare, const NameTable& names, const std::vector<size_t>& order) {
  std::vector<std::string> keywords;
  for (Fields fields(bare); fields.next();) {
    if (fields->bytes(bare_field::kKeyword)) keywords.push_back(renamed(names, fields->value));
  }
  if (keywords.size() >= order.size()) {
    const std::vector<std::string> before = keywords;
    for (size_t i = 0; i < order.size(); ++i) keywords[i] = before[order[i]];
  }
  size_t next = 0;
  std::string out = with_each(bare, bare_field::kKeyword, [&](std::string_view) { return keywords[next++]; });
  const bool plain = std::all_of(keywords.begin(), keywords.end(), is_identifier);
  std::string result;
  for (Fields fields(out); fields.next();) {
    if (!fields->bytes(bare_field::kSpec)) {
      result += fields->raw;
    } else if (plain) {
      append_bytes_field(result, bare_field::kSpec, rename_spec(fields->value, names));
    }
  }
  return result;
}

}  // namespace

void add_signature_object(SavedObjects& objects, std::string_view key, std::string_view name,
                          std::vector<uint32_t> bound_inputs, const std::vector<SignatureTensor>& inputs,
                          const std::vector<SignatureTensor>& outputs) {
  SavedObjects::Function function;
  function.name = name;
  function.bound_inputs = std::move(bound_inputs);
  function.input_signature = structured::sequence(
      structured::kTuple, {structured::sequence(structured::kTuple, {}), structured::tensor_specs(inputs)});
  function.output_signature = structured::tensor_specs(outputs);
  function.changed = true;
  objects.functions.push_back(std::move(function));

  std::string bare;
  append_bytes_field(bare, bare_field::kName, name);
  for (const SignatureTensor& input : inputs) append_bytes_field(bare, bare_field::kKeyword, input.key);
  if (inputs.size() == 1) append_varint_field(bare, bare_field::kPositional, 1);
  const bool plain = std::all_of(inputs.begin(), inputs.end(),
                                 [](const SignatureTensor& input) { return is_identifier(input.key); });
  if (plain) append_bytes_field(bare, bare_field::kSpec, function_spec(inputs));
  const uint32_t map = make_signature_map(objects);
  const uint32_t id = add_object(objects, ObjectKind::kBareFunction, std::move(bare));
  add_child(objects.objects[map], key, id);
}

void remove_signature_object(SavedObjects& objects, std::string_view key) {
  const auto map = signature_map(objects);
  if (!map) return;
  SavedObjects::Object& object = objects.objects[*map];
  if (std::erase_if(object.children, [&](const auto& child) { return child.name == key; }) > 0)
    object.changed = true;
}

void rename_signature_objects(SavedObjects& objects, const NameTable& keys) {
  const auto map = signature_map(objects);
  if (!map) return;
  SavedObjects::Object& object = objects.objects[*map];
  for (Trackable::Reference& child : object.children) {
    const auto found = keys.find(child.name);
    if (found == keys.end()) continue;
    child.name = found->second;
    object.changed = true;
  }
}

void rename_signature_tensors(SavedObjects& objects, Library& library, Registry& ops,
                              const std::shared_ptr<Arena>& arena, std::string_view key,
                              const NameTable& inputs, const NameTable& outputs) {
  const auto map = signature_map(objects);
  if (!map || !child_of(objects.objects[*map], key)) return;  // the v1 loader alone knows it
  const uint32_t id = own_object(objects, *map, key);
  SavedObjects::Object& object = objects.objects[id];
  if (object.kind != ObjectKind::kBareFunction) throw unknown_form(key, "is no function of one form");
  const std::string name(last_bytes(object.content, bare_field::kName));
  SavedObjects::Function* function = objects.find_function(name);
  if (function == nullptr) throw unknown_form(key, "names no function");
  const auto input_keys = tensor_keys(function->input_signature);
  const auto output_keys = tensor_keys(function->output_signature);
  if (!input_keys || !output_keys) throw unknown_form(key, "holds more than tensors");
  const std::vector<size_t> input_order = new_order(*input_keys, inputs);
  const std::vector<size_t> output_order = new_order(*output_keys, outputs);

  object.content = with_keywords(object.content, inputs, input_order);
  object.changed = true;
  SavedObjects::Function copy = *function;
  copy.input_signature = rename_arguments(copy.input_signature, inputs);
  copy.output_signature = rename_dict(copy.output_signature, outputs);
  copy.changed = true;
  if (in_order(input_order) && in_order(output_order) && uses(objects, name) == 1) {
    *function = std::move(copy);
    return;
  }
  const Function* original = library.find(name);
  if (original == nullptr) throw unknown_form(key, "names a function that is not in the library");
  copy.name = free_function_name(library, ops, name);
  Graph body = original->body;
  FunctionDef def(body);
  def.rename(copy.name);
  def.reorder_arguments(input_order);
  def.reorder_outputs(output_order);
  library.add(def.encode(), arena);
  object.content = with_each(object.content, bare_field::kName, [&](std::string_view) { return copy.name; });
  objects.functions.push_back(std::move(copy));
}

}  // namespace gedit
