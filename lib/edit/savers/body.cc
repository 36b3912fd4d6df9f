#include "edit/savers/body.h"

#include "base/map_entry.h"
#include "base/message_edit.h"
#include "edit/functions/function_def.h"
#include "graph/string_const.h"
#include "graph/types.h"
#include "model/collections.h"
#include "ops/kinds.h"

namespace gedit {

namespace {

Graph& decoded(Graph& body) {
  body.decode();
  return body;
}

}  // namespace

SaverBody::SaverBody(Graph& body)
    : body_(decoded(body)), names_(body_), fresh_(names_), savers_(find_savers(body_, names_)) {
  for (Fields fields(function_signature(body_)); fields.next();) {
    if (!fields->bytes(op_def_field::kInput)) continue;
    const std::string_view name = last_bytes(fields->value, op_def_field::kArgName);
    numbers_.emplace(name, arguments_.size());
    arguments_.push_back(fields->value);
    fresh_.reserve(name);
  }
}

size_t SaverBody::number_of(std::string_view argument) const {
  const auto found = numbers_.find(argument);
  return found == numbers_.end() ? arguments_.size() : found->second;
}

DType SaverBody::type_of(size_t argument) const {
  return static_cast<DType>(last_varint(arguments_[argument], op_def_field::kArgType));
}

std::string SaverBody::add_argument(size_t like, std::string_view name) {
  const std::string fresh = fresh_.free(argument_name(name));
  new_arguments_.push_back(
      with_each_field(arguments_[like], op_def_field::kArgName, [&](std::string_view) { return fresh; }));
  like_.push_back(like);
  return fresh;
}

void SaverBody::add_entry(const SaverNode& saver, const SavedTensor& tensor, const std::string& key,
                          const std::string& argument) {
  Entries& entries = entries_[index_of(saver.node)];
  if (entries.keys.empty()) {
    entries.saver = &saver;
    entries.known = type_list(find_attr(body_.bytes(saver.node), "dtypes").value_or(""));
    for (const SavedTensor& known : saver.tensors) {
      entries.keys.push_back(known.key);
      entries.slices.push_back(known.slice);
    }
  }
  const auto slot = static_cast<uint32_t>(entries.keys.size());
  entries.keys.push_back(key);
  entries.slices.push_back(tensor.slice);
  entries.types.push_back(tensor.slot < entries.known.size() ? entries.known[tensor.slot] : DType::kInvalid);
  if (saver.saves) {
    std::string source = argument;
    for (const NodeId id : tensor.between) source = again(id, {source});
    entries.sources.push_back(std::move(source));
    return;
  }
  std::string source = std::string(body_.name(saver.node)) + ":tensors:" + std::to_string(slot);
  const NodeId last = tensor.between.back();
  for (const NodeId id : tensor.between) {
    if (id != last) source = again(id, {source});
  }
  std::vector<std::string> inputs{argument, source};
  if (is_table_import_op(node_op(body_.bytes(last)))) {  // reads keys and values, two entries
    std::vector<std::string>& known = imports_[{index_of(last), argument}];
    known.resize(3);
    known[0] = argument;
    known[tensor.taken_at] = source;
    if (known[1].empty() || known[2].empty()) return;
    inputs = known;
  }
  followers_[std::string(body_.name(last))].push_back(again(last, inputs));
}

void SaverBody::apply() {
  for (auto& [id, entries] : entries_) apply(entries);
  mirror_controls();
  extend_signature();
}

// A node like `id` with other data inputs; its name, or what reads its first output, comes back.
std::string SaverBody::again(NodeId id, const std::vector<std::string>& inputs) {
  const std::string_view node_def = body_.bytes(id);
  const std::string_view op = node_op(node_def);
  const std::string name = fresh_.free(body_.name(id));
  std::string node = with_each_field(with_inputs(node_def, inputs), node_field::kName,
                                     [&](std::string_view) { return name; });
  // A node of the main graph, the original, that this one has nothing to do with.
  if (is_table_import_op(op)) node = with_attr(node, "_class", std::nullopt);
  body_.append(std::move(node));
  if (is(op, OpKind::kTakesRestored)) return name;
  return name + (op == "ReadVariableOp" ? ":value:0" : op == "Cast" ? ":y:0" : ":output:0");
}

void SaverBody::apply(const Entries& entries) {
  const SaverNode& saver = *entries.saver;
  std::vector<std::string> inputs, controls;
  each_input(body_.bytes(saver.node), [&](std::string_view input) {
    (input.starts_with('^') ? controls : inputs).emplace_back(input);
  });
  inputs[1] = strings_of(saver.names, saver.node, inputs[1], entries.keys);
  if (saver.slices != kNoNode) inputs[2] = strings_of(saver.slices, saver.node, inputs[2], entries.slices);
  inputs.insert(inputs.end(), entries.sources.begin(), entries.sources.end());
  inputs.insert(inputs.end(), controls.begin(), controls.end());
  std::string node = with_inputs(with_types(body_.bytes(saver.node), "dtypes", entries.types), inputs);
  // tf.saved_model.load refuses one that is stale, in any function.
  if (!saver.saves) node = with_attr(node, "_output_shapes", std::nullopt);
  body_.replace(saver.node, std::move(node));
}

// The strings become these, in a Const of the reader's own where others read it, too.
std::string SaverBody::strings_of(NodeId id, NodeId reader, const std::string& input,
                                  const std::vector<std::string>& strings) {
  const std::string_view name = body_.name(id);
  bool alone = true;
  for (uint32_t i = 0; i < body_.size() && alone; ++i) {
    if (body_.removed(NodeId{i})) continue;
    size_t reads = 0;
    each_input(body_.bytes(NodeId{i}),
               [&](std::string_view text) { reads += parse_body_input(text).node == name ? 1 : 0; });
    alone = reads == (NodeId{i} == reader ? 1U : 0U);
  }
  std::string node = with_strings(body_.bytes(id), strings);
  if (alone) {
    body_.replace(id, std::move(node));
    return input;
  }
  const std::string fresh = fresh_.free(name);
  body_.append(with_each_field(node, node_field::kName, [&](std::string_view) { return fresh; }));
  return fresh + ":output:0";
}

// What waits for an assignment waits for its copy as well.
void SaverBody::mirror_controls() {
  if (followers_.empty()) return;
  for (uint32_t i = 0; i < body_.size(); ++i) {
    if (body_.removed(NodeId{i})) continue;
    std::vector<std::string> inputs, gained;
    each_input(body_.bytes(NodeId{i}), [&](std::string_view text) {
      inputs.emplace_back(text);
      if (!text.starts_with('^')) return;
      const auto found = followers_.find(std::string(text.substr(1)));
      if (found == followers_.end()) return;
      for (const std::string& follower : found->second) gained.push_back("^" + follower);
    });
    if (gained.empty()) continue;
    inputs.insert(inputs.end(), gained.begin(), gained.end());
    body_.replace(NodeId{i}, with_inputs(body_.bytes(NodeId{i}), inputs));
  }
  std::vector<std::string> returns;
  bool changed = false;
  for (const Part& part : body_.parts()) {
    if (part.field != function_field::kControlRet) continue;
    const std::string_view bytes = record_at(part.raw.data()).node_def;
    returns.emplace_back(bytes);
    const auto found = followers_.find(std::string(map_entry(bytes).value));
    if (found == followers_.end()) continue;
    for (const std::string& follower : found->second) {
      returns.push_back(map_entry_bytes(follower, follower));
      control_outputs_.push_back(follower);
      changed = true;
    }
  }
  if (changed) body_.set_parts(function_field::kControlRet, std::move(returns));
}

void SaverBody::extend_signature() {
  std::string before, after;  // the arguments, and what follows them
  for (Fields fields(function_signature(body_)); fields.next();)
    (fields->number <= op_def_field::kInput ? before : after) += fields->raw;
  for (const std::string& argument : new_arguments_)
    append_bytes_field(before, op_def_field::kInput, argument);
  for (const std::string& name : control_outputs_)
    append_bytes_field(after, op_def_field::kControlOutput, name);
  body_.set_part(function_field::kSignature, before + after);
  std::vector<std::string> attrs;
  bool changed = false;
  for (const Part& part : body_.parts()) {
    if (part.field != function_field::kAttr) continue;
    const std::string_view bytes = record_at(part.raw.data()).node_def;
    attrs.emplace_back(bytes);
    if (map_entry(bytes).key != "_input_shapes") continue;
    attrs.back() = with_each_field(bytes, 2, [&](std::string_view value) {
      return with_each_field(value, attr_field::kList,
                             [&](std::string_view list) { return more_shapes(list); });
    });
    changed = true;
  }
  if (changed) body_.set_parts(function_field::kAttr, std::move(attrs));
}

std::string SaverBody::more_shapes(std::string_view list) const {
  std::vector<std::string_view> shapes;
  for (Fields fields(list); fields.next();) {
    if (fields->bytes(attr_field::kShape)) shapes.push_back(fields->raw);
  }
  std::string longer(list);
  for (const size_t like : like_) {
    if (like < shapes.size()) longer += shapes[like];
  }
  return longer;
}

}  // namespace gedit
