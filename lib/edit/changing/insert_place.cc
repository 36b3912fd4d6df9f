#include "edit/changing/insert_place.h"

#include <set>

#include "base/error.h"
#include "edit/basis/addresses.h"
#include "graph/function_names.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

// `z:0` of `z` and `z:0`; the number alone of an argument's `0`.
std::string whole_port(std::string_view port) {
  if (port.empty()) return "";
  const bool number = port.find_first_not_of("0123456789") == std::string_view::npos;
  if (number) return port == "0" ? "" : std::string(port);
  return port.find(':') == std::string_view::npos ? std::string(port) + ":0" : std::string(port);
}

}  // namespace

InsertPlace::InsertPlace(Model& model, Registry& ops, Graph& graph, std::string_view function,
                         const InsertedOp& op, const FunctionDefs& functions)
    : model_(model), ops_(ops), graph_(graph), function_(function), op_(op), functions_(functions) {
  graph_.decode();
  if (graph_.is_body()) {
    own_names_.emplace(graph_);
    signature_ = parse_op_def(function_signature(graph_));
  } else {
    facts_ = std::make_unique<Facts>(model_, ops_);
    facts_->make_all();
  }
}

Edges InsertPlace::consumers() const {
  return facts_ ? facts_->consumers() : reversed(producers(graph_, *own_names_));
}

void InsertPlace::add_target(const std::string& written, std::string_view text) {
  InsertedBehind target = graph_.is_body() ? find_in_body(text) : find_in_graph(text);
  target.written = written;
  if (find_target(target) != nullptr)
    throw Error(Cause::kUsage, "is given twice").of(quoted("tensor", written));
  add(std::move(target));
}

void InsertPlace::add_read(const TensorRef& tensor, bool past_reads) {
  InsertedBehind target = behind(tensor);
  target.written = target.source;
  target.past_reads = past_reads;
  if (find_target(target) == nullptr) add(std::move(target));
}

const InsertedBehind* InsertPlace::find_target(const InsertedBehind& target) const {
  const auto [begin, end] = by_name_.equal_range(target.name);
  for (auto at = begin; at != end; ++at) {
    const InsertedBehind& other = targets_[at->second];
    if (other.index == target.index && other.port == target.port) return &other;
  }
  return nullptr;
}

void InsertPlace::add(InsertedBehind target) {
  if (target.node != kNoNode && is_next_iteration_op(node_op(graph_.bytes(target.node)))) {
    throw refused("closes a loop, nothing can stand behind it").of(quoted("node", target.name));
  }
  by_name_.emplace(target.name, targets_.size());
  targets_.push_back(std::move(target));
}

std::vector<std::string> InsertPlace::make_nodes() {
  NewNames fresh(names());
  for (const ArgDef& arg : signature_.inputs) fresh.reserve(arg.name);
  reserve_inlined(fresh);
  std::vector<std::string> nodes;
  for (InsertedBehind& target : targets_) nodes.push_back(make(target, fresh));
  return nodes;
}

InsertedBehind InsertPlace::find_in_graph(std::string_view text) const {
  const TensorRef tensor = find_tensor(model_, names(), ops_, text);
  if (tensor.index == 0)  // has it an output at all?
    find_tensor(model_, names(), ops_, tensor_text(graph_, tensor) + ":0");
  return behind(tensor);
}

InsertedBehind InsertPlace::behind(const TensorRef& tensor) const {
  const std::string_view node_def = graph_.bytes(tensor.node);
  InsertedBehind target;
  target.node = tensor.node;
  target.name = graph_.name(tensor.node);
  target.device = node_head(node_def).device;
  target.index = tensor.index;
  target.source = tensor_text(graph_, tensor);
  target.type = output_type(ops_, node_def, tensor.index);
  return target;
}

InsertedBehind InsertPlace::find_in_body(std::string_view text) const {
  const Tensors tensors(model_, graph_, *own_names_, ops_, function_);
  const TensorRef tensor = tensors.find(address(function_, text));
  InsertedBehind target;
  target.source = tensors.input_text(tensor);
  const Input input = parse_body_input(target.source);
  target.name = input.node;
  target.port = input.port;
  target.node = tensor.node;
  if (target.node != kNoNode) {
    target.device = node_head(graph_.bytes(target.node)).device;
    target.index = tensor.index;
  }
  target.type = tensors.type(tensor);
  return target;
}

// A call that TensorFlow inlines becomes nodes CALL/NODE, and it ends the process where one is there
// already (core/common_runtime/inline_function_utils.cc).
void InsertPlace::reserve_inlined(NewNames& fresh) const {
  std::set<std::string_view> calls;
  for (const InsertedBehind& target : targets_) {
    if (target.node == kNoNode || !calls.insert(target.name).second) continue;
    const auto function = functions_.find(called_function(graph_.bytes(target.node)));
    if (function == functions_.end()) continue;
    each_node_in(function->second, *model_.arena, [&](std::string_view node_def) {
      fresh.reserve(target.name + "/" + std::string(node_name(node_def)));
    });
  }
}

// The new node of a target.
std::string InsertPlace::make(InsertedBehind& target, NewNames& fresh) {
  std::string base = target.name + "/" + op_.name();
  if (target.index > 0) base += "_" + std::to_string(target.index);
  target.inserted = fresh.free(base);
  if (invalid_name_at(target.inserted) != std::string_view::npos && graph_.is_body())
    throw not_a_node_name(target.inserted);
  std::string node =
      op_.node(target.inserted, target.source, target.type, target.device, quoted("tensor", target.written));
  const auto types = output_types(ops_, node);
  if (types && types->size() == 1) target.gives = (*types)[0];
  target.replacement = target.inserted;
  if (graph_.is_body()) target.replacement += ":" + op_.output() + ":0";
  return node;
}

const InsertedBehind* InsertPlace::target_of(const Input& input) const {
  const auto [begin, end] = by_name_.equal_range(input.node);
  for (auto at = begin; at != end && !input.control; ++at) {
    const InsertedBehind& target = targets_[at->second];
    if (graph_.is_body() ? whole_port(input.port) == target.port : input.index() == target.index)
      return &target;
  }
  return nullptr;
}

void InsertPlace::check_fits(const InsertedBehind& target, DType wanted, const std::string& reader) const {
  if (fits(target.gives, wanted) || fits(target.gives, base_type(wanted))) return;
  throw refused("op '" + printable(op_.name()) + "' gives " + dtype_name(target.gives) + " where " + reader +
                dtype_name(wanted))
      .of(quoted("tensor", target.written));
}

}  // namespace gedit
