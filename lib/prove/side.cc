#include "prove/side.h"

#include <algorithm>

#include "base/map_entry.h"
#include "select/tensors.h"

namespace gedit {
Side::Side(const ProofSide& side, ProofState& state, std::function<std::string(std::string_view)> name_in_a)
    : side_(side),
      state_(state),
      name_in_a_(std::move(name_in_a)),
      library_(Library::decode(side.model.graph().part(graph_field::kLibrary), side.model.arena)),
      labels_(side.ops, state.classes, [this](std::string_view name) { return function_text(name); }),
      folder_(side.ops, ProofState::kMostFolded) {
  side.model.graph().decode();
  if (side.index == nullptr) names_.emplace(side.model.graph());
  for (size_t i = 0; i < library_.functions.size(); ++i) functions_.emplace(library_.functions[i].name, i);
}

const GraphShapes& Side::shapes() {
  if (!inference_) {
    InferRequest infer;
    infer.file_shapes = false;
    inference_.emplace(graph(), side_.ops, infer);
  }
  return inference_->main();
}

const GraphShapes* Side::shapes(std::string_view function) {
  shapes();
  return inference_->function(function);
}

const Frames& Side::frames() {
  if (!frames_) frames_.emplace(graph(), producers());
  return *frames_;
}

const Edges& Side::producers() {
  if (side_.index != nullptr) return side_.index->producers();
  if (!producers_) producers_ = gedit::producers(graph(), *names_);
  return *producers_;
}

std::optional<std::string> Side::contents_of_table(const std::string& state) {
  if (!tables_) tables_.emplace(*this, state_.classes, state_.contents);
  return tables_->of(state);
}

std::string Side::filled_otherwise(NodeId table) {
  const std::string_view node_def = graph().bytes(table);
  const std::optional<std::string> here = contents_of_table(TableContents::state_of(node_def));
  const auto there = here ? other_contents(node_def) : std::nullopt;
  return there && *here != *there ? *here : std::string();
}

const ProofOp& Side::op(NodeId id) {
  if (!ops_of_) ops_of_.emplace(graph(), ops_by_name_);
  return ops_of_->of(id);
}

std::optional<std::string> name_of_state(std::string_view node_def) {
  if (is(node_op(node_def), OpKind::kTemporary)) {
    const std::string_view name = string_attr(node_def, "var_name").value_or("");
    return std::string("\n\n").append(name.empty() ? node_name(node_def) : name);
  }
  std::string_view name = string_attr(node_def, "shared_name").value_or("");
  if (name.empty() && !is_var_handle_op(node_op(node_def))) {
    const auto shares = find_attr(node_def, "use_node_name_sharing");  // of tables alone
    if (shares && last_varint(*shares, attr_field::kBool) == 0) return std::nullopt;
    name = node_name(node_def);
  }
  return std::string(string_attr(node_def, "container").value_or("")).append("\n").append(name);
}

Side::Holders* Side::holders(const std::optional<std::string>& name) {
  if (!name) return nullptr;
  if (!holders_) {
    holders_.emplace();
    for (uint32_t i = 0; i < graph().size(); ++i) {
      const NodeId id{i};
      if (graph().removed(id)) continue;
      const ProofOp& holder = op(id);
      const bool temporary = holder.kinds.has(OpKind::kTemporary) && holder.gives_references;
      if (holder.conduct != Conduct::kState && !temporary) continue;
      if (const auto held = name_of_state(graph().bytes(id))) (*holders_)[*held].nodes.push_back(id);
    }
  }
  const auto found = holders_->find(*name);
  return found == holders_->end() ? nullptr : &found->second;
}

std::string Side::known_by(NodeId id) {
  const std::string own = name_in_a(graph().name(id));
  Holders& all = *holders(name_of_state(graph().bytes(id)));
  if (!all.known_by) {
    all.known_by.emplace();
    for (const NodeId node : all.nodes) {
      const std::string name = name_in_a(graph().name(node));
      if (other_has(name) && (all.known_by->empty() || name < *all.known_by)) all.known_by = name;
    }
  }
  return all.known_by->empty() ? own : *all.known_by;
}

uint32_t Side::path_of_call(uint32_t from, NodeId node, uint32_t function) {
  const auto next = static_cast<uint32_t>(paths_.size() + 1);
  return paths_.try_emplace({from, index_of(node), function}, next).first->second;
}

size_t Side::first_while_variable(uint32_t path, NodeId node, size_t count) {
  const auto [found, fresh] = of_whiles_.try_emplace({path, index_of(node)}, while_variables.size());
  if (fresh) while_variables.resize(while_variables.size() + count);
  return found->second;
}

CalledBody* Side::body(std::string_view function) {
  const auto found = functions_.find(function);
  if (found == functions_.end()) return nullptr;
  std::unique_ptr<CalledBody>& body = bodies_[library_.functions[found->second].name];
  if (body != nullptr) return body.get();
  Graph& graph = library_.functions[found->second].body;
  graph.decode();
  body = std::make_unique<CalledBody>(library_.functions[found->second].name, graph);
  const OpDef signature = parse_op_def(function_signature(graph));
  for (const ArgDef& arg : signature.inputs) {
    body->arguments.emplace(arg.name, static_cast<uint32_t>(body->arguments.size()));
    if (!arg.number_attr.empty() || !arg.type_list_attr.empty()) body->odd = "takes a list of tensors";
  }
  std::unordered_map<std::string_view, std::string_view> returned;
  for (const Part& part : graph.parts()) {
    if (part.field != function_field::kRet) continue;
    Fields fields(part.raw);
    if (!fields.next()) continue;
    const MapEntry entry = map_entry(fields->value);
    returned[entry.key] = entry.value;
  }
  for (const ArgDef& arg : signature.outputs) {
    if (!arg.number_attr.empty() || !arg.type_list_attr.empty()) body->odd = "gives a list of tensors";
    const auto input = returned.find(arg.name);
    if (input == returned.end()) body->odd = "does not say what it gives";
    body->results.push_back(input == returned.end() ? std::string_view() : input->second);
  }
  return body.get();
}

void Side::assume(const AssumedTensor& assumed) {
  CalledBody* body = assumed.function.empty() ? nullptr : this->body(assumed.function);
  if (body == nullptr && !assumed.function.empty()) return;
  const Names& names = body == nullptr ? this->names() : body->names;
  const std::optional<TensorRef> tensor = tensor_if_there(names, assumed.tensor);
  if (!tensor) return;
  Assumed known;
  if (assumed.same_as.empty()) {
    known.what = state_.constant(assumed.tensor_proto);
  } else if (const auto same_as = tensor_if_there(names, assumed.same_as)) {
    known.node = same_as->node;
    known.index = same_as->index;
  } else {
    if (body == nullptr) return;
    const auto argument = body->arguments.find(assumed.same_as);
    if (argument == body->arguments.end()) return;
    known.argument = true;
    known.index = argument->second;
  }
  AssumedTensors& all = body == nullptr ? this->assumed : body->assumed;
  all[uint64_t{index_of(tensor->node)} << 32 | tensor->index] = known;
}

Labels::FunctionText Side::function_text(std::string_view function) {
  if (!functions_.contains(function)) return {std::string(function), "names a function that is not there"};
  const ClassId lambda = lambda_of(*this, state_, function);
  return {"#" + std::to_string(lambda),
          state_.classes.unknown(lambda) ? "has a function that is not known" : ""};
}

}  // namespace gedit
