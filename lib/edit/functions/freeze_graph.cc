#include "edit/functions/freeze_graph.h"

#include "base/error.h"
#include "base/message_edit.h"
#include "edit/basis/addresses.h"
#include "edit/functions/call_attributes.h"
#include "graph/tensor_layout.h"
#include "graph/value_read.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint32_t kFullType = 7;  // NodeDef.experimental_type: what was inferred of a handle

std::vector<std::string> controls_of(const std::vector<std::string>& inputs) {
  std::vector<std::string> controls;
  for (const std::string& input : inputs) {
    if (input.starts_with('^')) controls.push_back(input);
  }
  return controls;
}

std::string scalar_const(std::string_view name, const std::vector<std::string>& inputs,
                         std::string_view device, DType dtype, int64_t value) {
  NodeBuilder builder(name, "Const");
  for (const std::string& input : inputs) builder.input(input);
  return builder.device(device)
      .type("dtype", dtype)
      .attr("value", tensor_value(scalar_proto(dtype, value)))
      .take();
}

bool same_slots(const std::map<uint32_t, Carried>& a, const std::map<uint32_t, Carried>& b) {
  if (a.size() != b.size()) return false;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
    if (x->first != y->first || x->second.switched != y->second.switched) return false;
  }
  return true;
}

}  // namespace

Error outright_write(const Graph& graph, NodeId writer, const std::string& variable,
                     std::string_view function) {
  const std::string_view op = node_op(graph.bytes(writer));
  const std::string what =
      is(op, OpKind::kWritesVariable)
          ? "writes variable '" + printable(variable) + "', and the outputs read the result"
          : "takes the variable '" + printable(variable) + "' itself, which " + printable(op) +
                " cannot do with a constant";
  return refused(what)
      .of(quoted("node", address(function, graph.name(writer))))
      .hint("--keep " + printable(variable));
}

GraphFreezing::GraphFreezing(Graph& graph, HandleFlow& flow, FreezeContext context)
    : graph_(graph), flow_(flow), context_(std::move(context)) {}

std::string GraphFreezing::subject(NodeId id) const {
  return quoted("node", address(context_.function, graph_.name(id)));
}

CallForm GraphFreezing::form_of(NodeId id) const {
  return call_form(node_op(graph_.bytes(id))).value_or(CallForm{});
}

std::map<uint32_t, Carried> GraphFreezing::arguments_of(NodeId id, const CallForm& form) const {
  std::map<uint32_t, Carried> arguments;
  for (const auto& [slot, carried] : flow_.carried_inputs(id)) {
    if (slot >= form.first) arguments.emplace(slot - form.first, *carried);
  }
  return arguments;
}

void GraphFreezing::settle() {
  flow_.run();
  for (std::set<NodeId> calls = flow_.take_calls(); !calls.empty(); calls = flow_.take_calls()) {
    for (const NodeId id : calls) {
      std::map<uint32_t, Carried> arguments = arguments_of(id, form_of(id));
      const auto known = calls_.find(index_of(id));
      if (known != calls_.end() && same_slots(known->second.arguments, arguments)) continue;
      calls_[index_of(id)] = Call{std::move(arguments), {}, {}};
      read_attributes(id);
      for (const auto& [output, carried] : calls_[index_of(id)].results)
        flow_.add(flow_.output_of(id, output), carried);
    }
    flow_.run();
  }
}

// Asks for the functions that the call needs, and learns what they return.
void GraphFreezing::read_attributes(NodeId id) {
  Call& call = calls_.at(index_of(id));
  const std::string_view node_def = graph_.bytes(id);
  const CallForm form = form_of(id);
  if (form.functions.empty()) {
    call.functions.push_back({context_.specialise(node_op(node_def), call.arguments)});
    if (!call.functions[0][0].results.empty()) {
      throw refused("returns the resource '" +
                    printable(call.functions[0][0].results.begin()->second.variable) +
                    "', which cannot become a constant")
          .of(quoted("function", node_op(node_def)));
    }
    return;
  }
  bool first = true;
  for (const std::string_view key : form.functions) {
    auto& functions = call.functions.emplace_back();
    const auto value = find_attr(node_def, key);
    if (!value) continue;
    for (const std::string_view name : functions_in(*value)) {
      functions.push_back(context_.specialise(name, call.arguments));
      const std::map<uint32_t, Carried>& results = functions.back().results;
      if (form.loop && key == "cond") continue;
      if (first) call.results = results;
      first = false;
      // All branches return the same handles; a loop those that it was given.
      const std::map<uint32_t, Carried>& wanted = form.loop ? call.arguments : call.results;
      for (const auto* sides : {&wanted, &results}) {
        const auto* other = sides == &wanted ? &results : &wanted;
        for (const auto& [output, carried] : *sides) {
          const auto twin = other->find(output);
          if (twin != other->end() && twin->second.dtype == carried.dtype) continue;
          throw refused("returns the resource '" + printable(carried.variable) +
                        "', which cannot become a constant")
              .of(quoted("function", name))
              .hint("--keep " + printable(carried.variable));
        }
      }
    }
  }
}

std::vector<NodeId> GraphFreezing::writers() const {
  std::vector<NodeId> found;
  for (const auto& [index, use] : flow_.users()) {
    if (use == Use::kWrite) found.push_back(NodeId{index});
  }
  return found;
}

bool GraphFreezing::writes(NodeId id) const {
  const auto found = flow_.users().find(index_of(id));
  return found != flow_.users().end() && found->second == Use::kWrite;
}

std::set<std::string> GraphFreezing::written_by(NodeId id) const {
  std::set<std::string> variables;
  if (writes(id)) {
    for (const auto& [slot, carried] : flow_.carried_inputs(id)) variables.insert(carried->variable);
  }
  const auto call = calls_.find(index_of(id));
  if (call == calls_.end()) return variables;
  for (const std::vector<FrozenFunction>& functions : call->second.functions) {
    for (const FrozenFunction& function : functions) {
      for (const uint32_t argument : function.written) {
        const auto carried = call->second.arguments.find(argument);
        if (carried != call->second.arguments.end()) variables.insert(carried->second.variable);
      }
    }
  }
  return variables;
}

std::string GraphFreezing::bypass(NodeId writer) const {
  const std::map<uint32_t, const Carried*> inputs = flow_.carried_inputs(writer);
  const auto target = inputs.find(0);
  const Carried& first = *inputs.begin()->second;
  if (target == inputs.end() || !target->second->switched) {
    throw outright_write(graph_, writer, first.variable, context_.function);
  }
  return inputs_of(graph_.bytes(writer))[0];
}

// Whether what the input names runs anew in every iteration of a loop: the variable comes through a constant
// Enter, which starts nothing in the second one, or one after the other without end.
bool GraphFreezing::moves(std::string_view input) const {
  const NodeId source = context_.nodes->find(parse_input(input).node);
  return source != kNoNode && (context_.moving == nullptr || context_.moving->has(source));
}

// Whether what a node reads tells when it is to run. What it waits for, which comes last, may be thousands of
// writers, each of which asks.
bool GraphFreezing::tells_when(NodeId reader) const {
  for (Fields fields(graph_.bytes(reader)); fields.next();) {
    if (!fields->bytes(node_field::kInput)) continue;
    if (fields->value.starts_with('^')) return false;
    if (!in_loop(reader) || moves(fields->value)) return true;
  }
  return false;
}

std::optional<std::string> GraphFreezing::waits_for(NodeId reader, NodeId writer) const {
  if (tells_when(reader)) return std::nullopt;
  const std::map<uint32_t, const Carried*> carried = flow_.carried_inputs(writer);
  const auto& [slot, first] = *carried.begin();
  const bool loop = in_loop(reader);
  if (!first->switched && !loop) return std::nullopt;
  const std::vector<std::string> inputs = inputs_of(graph_.bytes(writer));
  if (first->switched && (!loop || moves(inputs[slot]))) return inputs[slot];
  // What else the writer was given is there in every iteration.
  for (const std::string& input : inputs) {
    if (moves(input)) return input.substr(input.starts_with('^') ? 1 : 0);
  }
  return inputs[slot];
}

void GraphFreezing::convert() {
  const std::map<uint32_t, Use> users = flow_.users();
  for (const auto& [index, use] : users) {
    if (use == Use::kPass) pass(NodeId{index});
    if (use == Use::kRead) read(NodeId{index});
    if (use == Use::kCall) call(NodeId{index});
  }
}

void GraphFreezing::pass(NodeId id) {
  const std::map<uint32_t, const Carried*> carried = flow_.carried_inputs(id);
  const Carried& first = *carried.begin()->second;
  std::string node_def(graph_.bytes(id));
  const std::string op(node_op(node_def));
  const std::vector<std::string> inputs = inputs_of(node_def);
  const bool joins = is_merge_op(op) || op == "RefSelect";
  for (size_t slot = op == "RefSelect" ? 1 : 0; joins && slot < inputs.size(); ++slot) {
    const auto one = carried.find(static_cast<uint32_t>(slot));
    if (inputs[slot].starts_with('^') || (one != carried.end() && one->second->dtype == first.dtype))
      continue;
    throw refused("joins variable '" + printable(first.variable) +
                  "', which becomes a constant, with what does not")
        .of(subject(id))
        .hint("--keep " + printable(first.variable));
  }
  if (op == "RefSelect") return select(id, std::move(node_def), first.dtype);
  if (op.starts_with("Ref")) node_def = with_op(node_def, op.substr(3));
  if (op == "IdentityN") {
    node_def = with_types(node_def, "T", arguments_of(id, {}), 0);
  } else {
    node_def = with_attr(node_def, "T", type_value(first.dtype));
  }
  if (!first.reference) node_def = without_field(without_attr(node_def, "_output_shapes"), kFullType);
  graph_.replace(id, node_def);
}

// There is no RefSelect of plain tensors: the chosen one is gathered from all of them.
void GraphFreezing::select(NodeId id, const std::string& node_def, DType dtype) {
  std::vector<std::string> inputs = inputs_of(node_def);
  const NodeHead head = node_head(node_def);
  const std::string name(head.name), device(head.device);
  const std::string values = context_.names.free(name + "/values");
  NodeBuilder pack(values, "Pack");
  int64_t count = 0;
  for (size_t slot = 1; slot < inputs.size() && !inputs[slot].starts_with('^'); ++slot, ++count)
    pack.input(inputs[slot]);
  pack.device(device).attr("N", int_value(count)).type("T", dtype).attr("axis", int_value(0));
  graph_.append(pack.take());
  const std::string axis = axis_of(id, inputs[0], 0);
  NodeBuilder gather(name, "GatherV2");
  gather.input(output_text(values, "output")).input(inputs[0]).input(axis);
  for (const std::string& control : controls_of(inputs)) gather.input(control);
  gather.device(device).type("Tparams", dtype).type("Tindices", DType::kInt32).type("Taxis", DType::kInt32);
  graph_.replace(id, gather.attr("batch_dims", int_value(0)).take());
}

std::string GraphFreezing::output_text(const std::string& node, std::string_view arg) const {
  return graph_.is_body() ? body_tensor_text(node, arg) : node;
}

// A Const `<node>/axis`. In a loop it runs where the indices do.
std::string GraphFreezing::axis_of(NodeId id, const std::string& indices, int64_t axis) {
  const NodeHead head = node_head(graph_.bytes(id));
  const std::string name = context_.names.free(std::string(head.name) + "/axis");
  std::vector<std::string> controls;
  if (in_loop(id)) controls.push_back(context_.pivots.control_on(indices));
  graph_.append(scalar_const(name, controls, head.device, DType::kInt32, axis));
  return output_text(name, "output");
}

void GraphFreezing::read(NodeId id) {
  const std::map<uint32_t, const Carried*> carried = flow_.carried_inputs(id);
  const DType dtype = carried.begin()->second->dtype;
  const std::string node_def = without_field(graph_.bytes(id), kFullType);
  const std::string op(node_op(node_def)), name(node_name(node_def));
  std::vector<std::string> inputs = inputs_of(node_def);
  if (op.starts_with("ResourceGather") && inputs.size() < 2) throw refused("has no indices").of(subject(id));
  const std::optional<ValueRead> as_value = value_read(node_def, dtype);
  if (!as_value) return answer(id);
  if (graph_.is_body() && graph_.is(id, OpKind::kReadsValue))
    renamed_[body_tensor_text(name, "value")] = body_tensor_text(name, "output");
  if (!as_value->axis) return graph_.replace(id, as_value->node_def);
  inputs.insert(inputs.begin() + 2, axis_of(id, inputs[1], *as_value->axis));
  graph_.replace(id, with_inputs(as_value->node_def, inputs));
}

void GraphFreezing::answer(NodeId id) {
  const std::string_view node_def = graph_.bytes(id);
  const NodeHead head = node_head(node_def);
  const std::string name(head.name);
  const std::vector<std::string> inputs = inputs_of(node_def);
  std::vector<std::string> controls = controls_of(inputs);
  const Carried* carried = flow_.find(inputs[0]);
  if (in_loop(id) || (carried != nullptr && carried->switched))
    controls.push_back(context_.pivots.control_on(inputs[0]));
  if (head.op == "DisableCopyOnRead") {
    NodeBuilder builder(name, "NoOp");
    for (const std::string& control : controls) builder.input(control);
    return graph_.replace(id, builder.device(head.device).take());
  }
  if (graph_.is_body()) renamed_[body_tensor_text(name, "is_initialized")] = body_tensor_text(name, "output");
  graph_.replace(id, scalar_const(name, controls, head.device, DType::kBool, 1));
}

void GraphFreezing::call(NodeId id) {
  const Call& call = calls_.at(index_of(id));
  const CallForm form = form_of(id);
  std::string node_def(graph_.bytes(id));
  if (form.functions.empty()) return graph_.replace(id, with_op(node_def, call.functions[0][0].name));
  std::map<uint32_t, Carried> slots;  // by input
  for (const auto& [argument, carried] : call.arguments) slots.emplace(argument + form.first, carried);
  node_def = with_types(node_def, form.types, slots, form.first);
  for (size_t i = 0; i < form.functions.size(); ++i) {
    const auto value = find_attr(node_def, form.functions[i]);
    if (!value) continue;
    std::vector<std::string> names;
    for (const FrozenFunction& function : call.functions[i]) names.push_back(function.name);
    node_def = with_attr(node_def, form.functions[i], with_functions(*value, names));
  }
  if (const auto reads = find_attr(node_def, "_read_only_resource_inputs"))
    node_def = with_attr(node_def, "_read_only_resource_inputs", without_inputs(*reads, slots));
  if (!call.results.empty()) {
    if (!form.loop) node_def = with_types(node_def, "Tout", call.results, 0);
    for (const std::string_view key : {"output_shapes", "_output_shapes"}) {
      if (const auto shapes = find_attr(node_def, key))
        node_def = with_attr(node_def, key, with_shapes(*shapes, call.results));
    }
  }
  graph_.replace(id, without_field(node_def, kFullType));
}

}  // namespace gedit
