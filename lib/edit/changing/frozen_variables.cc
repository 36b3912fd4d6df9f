#include "edit/changing/frozen_variables.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "edit/savers/assigned.h"
#include "ops/kinds.h"

namespace gedit {

FrozenVariables::FrozenVariables(Facts& facts, const std::string& keep)
    : facts_(facts), kept_(facts.graph().size()), frozen_(facts.graph().size()) {
  for (const Function& function : facts.selecting().library().functions) {
    functions_.insert(function.name);
    function.body.each_record([&](std::string_view node_def) {
      if (is_var_handle_op(node_op(node_def))) owners_.insert(function.name);
    });
  }
  if (!keep.empty()) {
    const Selection hit = facts_.selecting().require(keep);
    for (const NodeId id : hit.nodes.nodes()) {
      if (is_variable_op(node_op(facts_.graph().bytes(id)))) kept_.add(id);
    }
    if (kept_.empty()) throw refused("hits no variable").of(quoted("selector", keep));
    keep_mirrors();
  }
  keep_asset_paths();
}

// A loader says where an asset lies: a variable that holds its path is no weight, and no constant.
void FrozenVariables::keep_asset_paths() {
  std::unordered_set<NodeId> paths;
  for (const std::string_view asset : facts_.model.meta().parts_of(meta_field::kAsset))
    paths.insert(facts_.names().find(node_of(last_bytes(last_bytes(asset, 1), 1))));
  paths.erase(kNoNode);
  if (paths.empty()) return;
  for (const auto& [index, state] : facts_.state()) {
    if (state.table || state.initializer == kNoNode) continue;
    const auto sources = facts_.producers().of(state.initializer);
    const bool holds = std::ranges::any_of(sources, [&](NodeId id) { return paths.contains(id); });
    if (holds && kept_.add(NodeId{index})) asset_paths_.push_back(NodeId{index});
  }
  std::ranges::sort(asset_paths_);
}

// Replicas of a mirrored variable are restored from one tensor. Where one stays, the others cannot become
// constants.
void FrozenVariables::keep_mirrors() {
  for (const SaverNode& restore : facts_.savers().restores) {
    std::unordered_set<uint32_t> outputs;  // that a kept variable gets
    for (const SavedTensor& tensor : restore.tensors) {
      if (tensor.variable != kNoNode && kept_.has(tensor.variable)) outputs.insert(tensor.slot);
    }
    if (outputs.empty()) continue;
    for (const auto& [variable, output] : assigned_by(facts_, restore.node)) {
      if (outputs.contains(output) && kept_.add(variable)) kept_along_.push_back(variable);
    }
  }
}

bool FrozenVariables::any_kept_in(const NodeSet& stays) const {
  const std::vector<NodeId> kept = kept_.nodes();
  return std::any_of(kept.begin(), kept.end(), [&](NodeId id) { return stays.has(id); });
}

void FrozenVariables::freeze_if_variable(NodeId id) {
  if (is_variable_op(node_op(facts_.graph().bytes(id))) && !kept_.has(id)) frozen_.add(id);
}

void FrozenVariables::freeze_needed(const std::vector<NodeId>& needed) {
  all_freeze_ = false;
  // Of those that nobody named what is needed stays.
  const std::unordered_set<NodeId> there(needed.begin(), needed.end());
  std::erase_if(asset_paths_, [&](NodeId id) {
    if (!there.contains(id)) kept_.remove(id);
    return !there.contains(id);
  });
  for (const NodeId id : needed) freeze_if_variable(id);
}

void FrozenVariables::freeze_what_nothing_initializes(const Closure& closure) {
  for (const NodeId id : closure.found()) {
    const auto state = facts_.state().find(index_of(id));
    if (state == facts_.state().end() || state->second.table || frozen_.has(id)) continue;
    const NodeId initializer = state->second.initializer;
    if (initializer == kNoNode || !closure.nodes().has(initializer)) freeze_if_variable(id);
  }
}

void FrozenVariables::seed(HandleFlow& flow, NodeId variable) const {
  const std::string_view node_def = facts_.graph().bytes(variable);
  Carried carried;
  carried.dtype = base_type(type_attr(node_def, "dtype").value_or(DType::kInvalid));
  if (const auto shape = find_attr(node_def, "shape"))
    carried.shape = parse_shape_proto(last_bytes(*shape, attr_field::kShape));
  carried.variable = facts_.graph().name(variable);
  carried.reference = !is_var_handle_op(node_op(node_def));
  flow.seed(carried.variable, carried);
}

uint64_t FrozenVariables::seed_all(HandleFlow& flow, const NodeSet& nodes) const {
  uint64_t variables = 0;
  for (uint32_t i = 0; i < facts_.graph().size(); ++i) {
    if (!facts_.graph().is(NodeId{i}, OpKind::kVariable)) continue;
    ++variables;
    if (nodes.has(NodeId{i}) && !kept_.has(NodeId{i})) seed(flow, NodeId{i});
  }
  return variables;
}

void FrozenVariables::seed_frozen(HandleFlow& flow) const {
  for (const NodeId id : frozen_.nodes()) seed(flow, id);
}

void FrozenVariables::seed_kept(HandleFlow& flow) const {
  for (const NodeId id : kept_.nodes()) seed(flow, id);
}

HandleFlow::Questions FrozenVariables::questions(std::function<bool(NodeId)> regards,
                                                 const Readers* new_readers) const {
  return {[this, new_readers](std::string_view name) {
            const NodeId id = facts_.names().find(name);
            if (id == kNoNode) return std::vector<NodeId>();
            const auto readers = facts_.consumers().of(id);
            std::vector<NodeId> found(readers.begin(), readers.end());
            if (new_readers == nullptr) return found;
            const auto more = new_readers->find(index_of(id));
            if (more != new_readers->end())
              found.insert(found.end(), more->second.begin(), more->second.end());
            return found;
          },
          std::move(regards), [this](std::string_view op) { return functions_.contains(op); }};
}

void FrozenVariables::freeze_owners(const std::vector<NodeId>& nodes, const Library& library,
                                    FunctionFreezing& functions) const {
  if (owners_.empty()) return;
  FunctionReach reach(library);
  for (const NodeId id : nodes) reach.calls_of(facts_.graph().bytes(id));
  reach.follow();
  for (size_t i = 0; i < library.functions.size(); ++i) {
    if (reach.reached(i) && owners_.contains(library.functions[i].name)) functions.freeze_own(i);
  }
}

void FrozenVariables::put_values(VariableValues* values, NewNames& names, Changes& changes) const {
  Graph& graph = facts_.edited();
  const std::vector<NodeId> constants = frozen_.nodes();
  if (!constants.empty() && values == nullptr) {
    throw refused(counted(constants.size(), "variable") + " and no checkpoint").hint("--checkpoint PREFIX");
  }
  for (const NodeId id : constants) {
    ConstantValue value = values->value(id);
    const std::string_view node_def = graph.bytes(id);
    const std::string name(node_name(node_def));
    const auto stored = static_cast<DType>(last_varint(value.tensor_proto, 1));
    const DType dtype = base_type(type_attr(node_def, "dtype").value_or(stored));
    const bool cast = dtype != stored;
    const std::string constant_name = cast ? names.free(name + "/" + dtype_name(stored)) : name;
    NodeBuilder builder(constant_name, "Const");
    each_input(node_def, [&](std::string_view text) { builder.input(text); });
    std::string constant =
        builder.type("dtype", stored).attr("value", tensor_value(value.tensor_proto)).take();
    changes.changed.emplace_back(name, cast ? "Cast" : "Const");
    NodeId at = id;
    if (cast) {  // as savers have it: the smaller numbers, and who reads them reads a Cast of that name
      NodeBuilder widening(name, "Cast");
      widening.input(constant_name).type("DstT", dtype).type("SrcT", stored);
      graph.replace(id, widening.take());
      changes.added.emplace_back(constant_name, "Const");
      at = graph.append(constant);
    }
    if (value.content == nullptr) {
      graph.replace(at, constant);
    } else {
      graph.replace(at, constant, std::move(value.content));
    }
  }
}

}  // namespace gedit
