#include "edit/objects/signatures.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/map_entry.h"
#include "base/message_edit.h"
#include "edit/functions/function_def.h"

namespace gedit {
namespace {

namespace bare_field {  // SavedBareConcreteFunction
constexpr uint32_t kName = 1, kKeyword = 2, kPositional = 3, kSpec = 4;
}

// At place k of the renamed keys' order stands the old place.
std::vector<size_t> new_order(const std::vector<std::string>& keys, const NameTable& names) {
  std::vector<std::string> now;
  for (const std::string& key : keys) now.push_back(renamed_key(names, key));
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
    if (fields->bytes(bare_field::kKeyword)) keywords.push_back(renamed_key(names, fields->value));
  }
  if (keywords.size() >= order.size()) {
    const std::vector<std::string> before = keywords;
    for (size_t i = 0; i < order.size(); ++i) keywords[i] = before[order[i]];
  }
  size_t next = 0;
  std::string out =
      with_each_field(bare, bare_field::kKeyword, [&](std::string_view) { return keywords[next++]; });
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
  function.input_signature = tensor_arguments(inputs);
  function.output_signature = tensor_dict(outputs);
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

void remove_signature_objects(SavedObjects& objects, const std::set<std::string, std::less<>>& keys) {
  const auto map = signature_map(objects);
  if (!map) return;
  SavedObjects::Object& object = objects.objects[*map];
  if (std::erase_if(object.children, [&](const auto& child) { return keys.contains(child.name); }) > 0)
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
  object.content =
      with_each_field(object.content, bare_field::kName, [&](std::string_view) { return copy.name; });
  objects.functions.push_back(std::move(copy));
}

}  // namespace gedit
