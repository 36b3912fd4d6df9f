#include "edit/functions/call_site.h"

#include <algorithm>
#include <set>

#include "edit/basis/device_name.h"
#include "graph/types.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Nodes that are what they are at any time: nobody has to wait for them.
constexpr OpKinds kTimeless =
    OpKinds(OpKind::kConst) | OpKind::kPlaceholder | OpKind::kVarHandle | OpKind::kTable;

constexpr size_t kLongestScope = 1000;

}  // namespace

std::string call_scope(std::string_view name) {
  if (name.size() <= kLongestScope) return std::string(name);
  const size_t end = name.rfind('/', kLongestScope);
  return std::string(name.substr(0, end == std::string_view::npos || end == 0 ? kLongestScope : end));
}

// The attributes for which the function's placeholders stand, as a node of the function's own op.
std::string attributes_of_call(std::string_view node_def) {
  const auto f = is(node_op(node_def), OpKind::kLocalCall) ? find_attr(node_def, "f") : std::nullopt;
  if (!f) return std::string(node_def);
  const std::string_view func = last_bytes(*f, attr_field::kFunc);
  NodeBuilder builder("", last_bytes(func, 1));
  for (Fields fields(func); fields.next();) {
    if (!fields->bytes(2)) continue;
    const MapEntry entry = map_entry(fields->value);
    builder.attr(entry.key, entry.value);
  }
  return builder.take();
}

std::string result_types(const CalledFunction& called, std::string_view attrs, std::vector<DType>& types) {
  if (output_types(called.op, attrs, types)) return {};
  return "what function " + printable(called.name) + " gives is not told";
}

std::string differing_types(std::string_view what, std::string_view attr, const std::vector<DType>& function,
                            const std::vector<DType>& call) {
  if (function.size() != call.size()) {
    return std::string("its function has ")
        .append(std::to_string(function.size()))
        .append(" ")
        .append(what)
        .append(", and ")
        .append(attr)
        .append(" says ")
        .append(std::to_string(call.size()));
  }
  for (size_t i = 0; i < call.size(); ++i) {
    if (fits(function[i], call[i])) continue;
    return std::string("number ")
        .append(std::to_string(i))
        .append(" of the ")
        .append(what)
        .append(" of its function is ")
        .append(dtype_name(function[i]))
        .append(", and ")
        .append(attr)
        .append(" says ")
        .append(dtype_name(call[i]));
  }
  return {};
}

std::string device_in_call(std::string_view own, std::string_view call) {
  if (own.empty() || call.empty()) return std::string(own.empty() ? call : own);
  std::string device;
  for (const std::string_view part : kDeviceOwners) {
    const std::string_view of_own = device_part(own, part);
    device += of_own.empty() ? device_part(call, part) : of_own;
  }
  const std::string_view processor = processor_part(own);
  device += processor.empty() ? processor_part(call) : processor;
  return device;
}

CallPlace::CallPlace(InlineState& state, const CallSite& site) : state_(state), site_(site) {
  node_def = state.graph.graph().bytes(site.id);
  name = node_name(node_def);
  device = node_device(node_def);
  each_input(node_def, [&](std::string_view input) {
    if (input.starts_with('^')) {
      controls_.emplace_back(input.substr(1));
    } else {
      inputs.push_back(state.graph.resolved(input));
    }
  });
}

std::string CallPlace::add(std::string_view word, std::string_view op, const std::vector<std::string>& data,
                           const std::vector<std::string>& waits, const AttrList& attrs) {
  const std::string made = state_.graph.free_name(call_scope(name).append("/").append(word));
  NodeBuilder builder(made, op);
  for (const std::string& input : data) builder.input(input);
  for (const std::string& wait : waits) builder.input("^" + wait);
  builder.device(device);
  for (const auto& [key, value] : attrs) builder.attr(key, value);
  state_.graph.add(builder.take());
  return made;
}

// The node that runs when the tensor is there, and is dead when it is.
std::string CallPlace::control_on(const std::string& tensor, size_t slot) {
  const NodeId producer = state_.graph.producer(tensor);
  const Graph& graph = state_.graph.graph();
  const auto site = state_.site_of.find(index_of(producer));
  if (site != state_.site_of.end()) state_.sites[site->second].held = true;
  if (!graph.is(producer, OpKind::kSwitch)) return std::string(graph.name(producer));
  const auto types = input_types(state_.functions.ops(), node_def);
  const DType type = types && slot < types->size() ? base_type((*types)[slot]) : DType::kInvalid;
  const std::string made = add("input", "Identity", {tensor}, {}, {{"T", type_value(type)}});
  inputs[slot] = state_.graph.text(made);
  return made;
}

void CallPlace::guard(bool effects, const std::vector<bool>& awaited) {
  const Graph& graph = state_.graph.graph();
  std::vector<std::string> waits;
  std::set<std::string> seen;
  const auto wait = [&](std::string node) {
    if (seen.insert(node).second) waits.push_back(std::move(node));
  };
  for (const std::string& control : controls_) wait(control);
  std::optional<std::vector<DType>> types;
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    const NodeId producer = state_.graph.producer(inputs[slot]);
    if (producer == kNoNode) continue;
    const OpDef* def = state_.functions.op_defs().find(graph.op(producer));
    if (def != nullptr && std::ranges::any_of(def->outputs, &ArgDef::is_ref)) {
      if (!types) types = input_types(state_.functions.ops(), node_def);
      const DType type = types && slot < types->size() ? base_type((*types)[slot]) : DType::kInvalid;
      inputs[slot] =
          state_.graph.text(add("input", "Identity", {inputs[slot]}, {}, {{"T", type_value(type)}}));
      if (effects || site_.flow) wait(std::string(graph.name(state_.graph.producer(inputs[slot]))));
      continue;
    }
    if (site_.uniform) continue;
    if (site_.flow || (effects && !graph.is(producer, kTimeless))) {
      wait(control_on(inputs[slot], slot));
    } else if (!awaited[slot] && state_.behind_writes.has(producer)) {
      late_.push_back(control_on(inputs[slot], slot));
    }
  }
  guarded = !site_.uniform && !waits.empty();
  if (guarded && !site_.tie.empty()) wait(site_.tie);
  if (waits.empty()) {
    tie = site_.tie;
  } else if (waits.size() == 1) {
    tie = waits[0];
  } else {
    tie = add("inputs", "NoOp", {}, waits, {});
  }
}

std::string CallPlace::output_text(size_t index) {
  if (!state_.graph.is_body()) return tensor_text(name, static_cast<uint32_t>(index));
  if (output_names_.empty()) {
    if (const auto outputs = output_names(state_.functions.ops(), node_def)) {
      for (const OutputName& output : *outputs) output_names_.emplace_back(output.arg, output.index);
    }
  }
  if (index >= output_names_.size()) return name;
  return body_tensor_text(name, output_names_[index].first, output_names_[index].second);
}

void CallPlace::stand_in(const ResultTensors& results, const std::vector<std::string>& waits) {
  const bool one = results.size() == 1;
  NodeBuilder builder(name, results.empty() ? "NoOp" : one ? "Identity" : "IdentityN");
  std::vector<DType> types;
  for (const auto& [tensor, type] : results) {
    builder.input(tensor);
    types.push_back(type);
  }
  std::set<std::string_view> seen;
  const auto wait_for = [&](const std::vector<std::string>& nodes) {
    for (const std::string& node : nodes) {
      if (seen.insert(node).second) builder.input("^" + node);
    }
  };
  wait_for(waits);
  wait_for(late_);
  builder.device(device);
  if (!types.empty()) builder.attr("T", one ? type_value(types[0]) : type_list_value(types));
  for (const char* kept : {"_class", "_output_shapes"}) {
    if (const auto value = find_attr(node_def, kept)) builder.attr(kept, *value);
  }
  if (state_.graph.is_body()) {
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string now =
          one ? body_tensor_text(name, "output") : body_tensor_text(name, "output", static_cast<uint32_t>(i));
      if (const std::string was = output_text(i); was != now) state_.graph.redirect(was, now, true);
    }
  }
  state_.graph.graph().replace(site_.id, builder.take());
}

void CallPlace::settle(const ResultTensors& results, const std::vector<std::string>& waits, bool stays) {
  if (stays || !late_.empty()) return stand_in(results, waits);
  for (size_t i = 0; i < results.size(); ++i) state_.graph.redirect(output_text(i), results[i].first);
  state_.graph.remove(site_.id);
}

}  // namespace gedit
