#include "edit/functions/handle_flow.h"

#include "graph/frames.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

bool passes(std::string_view op, uint32_t slot) {
  if (is_switch_op(op)) return slot == 0;
  if (op == "RefSelect") return slot > 0;
  return is(op, OpKind::kPassesHandle);
}

}  // namespace

std::optional<CallForm> call_form(std::string_view op) {
  if (is(op, OpKind::kLocalCall)) return CallForm{"Tin", {"f"}, 0, false};
  if (is(op, OpKind::kIf)) return CallForm{"Tin", {"then_branch", "else_branch"}, 1, false};
  if (is(op, OpKind::kCase)) return CallForm{"Tin", {"branches"}, 1, false};
  if (is(op, OpKind::kWhile)) return CallForm{"T", {"cond", "body"}, 0, true};
  return std::nullopt;
}

HandleFlow::HandleFlow(const Graph& graph, Registry& ops, Questions questions)
    : graph_(graph), ops_(ops), ask_(std::move(questions)) {}

std::string_view HandleFlow::canonical(std::string_view input) const {
  if (!graph_.is_body() && input.ends_with(":0")) input.remove_suffix(2);
  return input;
}

const Carried* HandleFlow::find(std::string_view input) const {
  if (carried_.empty() || input.starts_with('^')) return nullptr;
  if (const auto found = carried_.find(canonical(input)); found != carried_.end()) return &found->second;
  if (switches_.empty()) return nullptr;
  const Input parsed = parse_input_of(graph_, input);
  const auto found = switches_.find(parsed.node);
  return found == switches_.end() ? nullptr : &found->second;
}

std::string HandleFlow::output_of(NodeId id, uint32_t index) const {
  const std::string name(graph_.name(id));
  return graph_.is_body() ? body_tensor_text(name, "output", index) : tensor_text(name, index);
}

void HandleFlow::add(Tensors& tensors, const std::string& name, const Carried& carried) {
  const auto [found, fresh] = tensors.try_emplace(name, carried);
  if (!fresh && (found->second.switched || !carried.switched)) return;
  found->second.switched = carried.switched;
  fresh_.push_back(name);
}

Use HandleFlow::use_of(std::string_view op, uint32_t slot, const Carried& carried, const Types& types) const {
  if (carried.reference && (!types || slot >= types->size() || !is_reference((*types)[slot])))
    return Use::kValue;
  if (passes(op, slot)) return Use::kPass;
  if (is(op, OpKind::kReadsHandle)) return Use::kRead;
  return Use::kWrite;
}

std::map<uint32_t, const Carried*> HandleFlow::carried_inputs(NodeId id) const {
  std::map<uint32_t, const Carried*> found;
  uint32_t slot = 0;
  each_input(graph_.bytes(id), [&](std::string_view text) {
    if (const Carried* carried = find(text)) found.emplace(slot, carried);
    ++slot;
  });
  return found;
}

HandleFlow::Types HandleFlow::types_of(std::string_view node_def, bool outputs) {
  const OpDef* op = ops_.find(node_op(node_def));
  if (op == nullptr) return std::nullopt;
  std::vector<DType> types;
  const bool told = outputs ? output_types(*op, node_def, types) : input_types(*op, node_def, types);
  return told ? Types(std::move(types)) : std::nullopt;
}

void HandleFlow::visit(NodeId id) {
  const std::string_view node_def = graph_.bytes(id);
  const std::string_view op = node_op(node_def);
  const std::optional<CallForm> form = call_form(op);
  Types types;
  bool typed = false;
  for (const auto& [slot, input] : carried_inputs(id)) {
    const Carried& carried = *input;
    if (carried.reference && !std::exchange(typed, true)) types = types_of(node_def, false);
    const bool call = (form && slot >= form->first) || ask_.is_function(op);
    const Use use = call ? Use::kCall : use_of(op, slot, carried, types);
    if (use == Use::kValue) {
      value_readers_.insert(index_of(id));
      continue;
    }
    Use& most = users_.try_emplace(index_of(id), use).first->second;
    if (use == Use::kWrite) most = use;
    if (use == Use::kCall) calls_.insert(id);
    if (use == Use::kPass && is_switch_op(op)) {
      Carried on = carried;
      on.switched = true;
      add(switches_, std::string(graph_.name(id)), on);
    } else if (use == Use::kPass) {
      add(output_of(id, op == "IdentityN" ? slot : 0), carried);
    } else if (use == Use::kWrite && slot == 0 && carried.reference) {
      // What a write to a reference gives is the reference again.
      const Types gives = types_of(node_def, true);
      if (gives && !gives->empty() && is_reference(gives->front())) add(output_of(id, 0), carried);
    }
  }
}

void HandleFlow::run() {
  // In waves, so that a node with a thousand handles is looked at once for all of them.
  while (!fresh_.empty()) {
    std::set<NodeId> readers;
    for (const std::string& tensor : std::exchange(fresh_, {})) {
      const Input input = parse_input_of(graph_, tensor);
      for (const NodeId reader : ask_.readers(input.node)) {
        if (ask_.regards(reader)) readers.insert(reader);
      }
    }
    for (const NodeId reader : readers) visit(reader);
  }
}

}  // namespace gedit
