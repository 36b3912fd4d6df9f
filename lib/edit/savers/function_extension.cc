#include "edit/savers/function_extension.h"

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

FunctionExtension::FunctionExtension(Graph& body)
    : body_(decoded(body)),
      names_(body_),
      consumers_(reversed(producers(body_, names_))),
      nodes_(body_, names_, consumers_, SharedConsts::kGoToTheLast),
      savers_(find_savers(body_, names_, consumers_)),
      def_(body_) {
  for (size_t i = 0; i < def_.argument_count(); ++i) {
    const std::string_view name = last_bytes(def_.argument(i), op_def_field::kArgName);
    numbers_.emplace(name, i);
    nodes_.reserve(name);
  }
}

size_t FunctionExtension::number_of(std::string_view argument) const {
  const auto found = numbers_.find(std::string(argument));
  return found == numbers_.end() ? def_.argument_count() : found->second;
}

DType FunctionExtension::type_of(size_t argument) const {
  return static_cast<DType>(last_varint(def_.argument(argument), op_def_field::kArgType));
}

std::string FunctionExtension::add_argument(size_t like, std::string_view name) {
  const std::string fresh = nodes_.free_name(argument_name(name));
  def_.add_argument_like(like, fresh);
  return fresh;
}

void FunctionExtension::add_entry(const SaverNode& saver, const SavedTensor& tensor, const std::string& key,
                                  const std::string& argument) {
  Gained& gained = gained_[index_of(saver.node)];
  if (gained.saver == nullptr) {
    gained.saver = &saver;
    gained.types = type_list(find_attr(body_.bytes(saver.node), "dtypes").value_or(""));
  }
  const DType dtype = tensor.slot < gained.types.size() ? gained.types[tensor.slot] : DType::kInvalid;
  const size_t slot = saver.tensors.size() + gained.entries.size();
  SaverEntry& entry = gained.entries.emplace_back(SaverEntry{key, tensor.slice, dtype, argument});
  if (saver.saves) {
    for (const NodeId id : tensor.between) entry.source = again(id, {entry.source});
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

void FunctionExtension::apply() {
  for (const auto& [id, gained] : gained_) {
    if (gained.saver->saves) {
      extend_save(nodes_, *gained.saver, gained.entries);
    } else {
      extend_restore(nodes_, *gained.saver, gained.entries, false);
    }
  }
  mirror_controls();
  def_.store();
}

// A node like `id` with other data inputs; its name, or what reads its first output, comes back.
std::string FunctionExtension::again(NodeId id, const std::vector<std::string>& inputs) {
  const std::string_view node_def = body_.bytes(id);
  const std::string_view op = node_op(node_def);
  // A table's import is colocated with a node of the main graph, the original, that this one has nothing to
  // do with.
  const std::string name =
      nodes_.duplicate(id, inputs, is_table_import_op(op) ? without_attr(node_def, "_class") : "");
  if (is(op, OpKind::kTakesRestored)) return name;
  return name + (op == "ReadVariableOp" ? ":value:0" : op == "Cast" ? ":y:0" : ":output:0");
}

// What waits for an assignment waits for its copy as well.
void FunctionExtension::mirror_controls() {
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
  def_.add_control_outputs([&](std::string_view node) {
    const auto found = followers_.find(std::string(node));
    return found == followers_.end() ? std::vector<std::string>() : found->second;
  });
}

}  // namespace gedit
