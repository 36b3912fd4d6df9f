// A call, and the body of its function in its place (docs/rules.md#inlined-calls).
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "edit/basis/runtime_names.h"
#include "edit/functions/call_site.h"
#include "edit/functions/function_def.h"
#include "graph/function_names.h"
#include "graph/references.h"
#include "graph/types.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint64_t kMostInlined = 20'000'000;  // nodes of one graph: calls that call each other twice unfold

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

class InlinedBody {
 public:
  InlinedBody(InlineState& state, const CalledFunction& called, CallPlace& place, const CallSite& site)
      : state_(state),
        called_(called),
        place_(place),
        site_(site),
        graph_(*called.body),
        legacy_(!is(node_op(place.node_def), OpKind::kLocalCall)),
        runs_all_(legacy_ || site.runs_all),
        attrs_(attributes_of_call(place.node_def)) {}

  std::string put() {
    if (std::string why = read_arguments(); !why.empty()) return why;
    find_nodes();
    if (std::string why = find_outputs(); !why.empty()) return why;
    place_.guard(called_.has_effects);
    write();
    finish();
    return {};
  }

 private:
  struct Span {  // of a list
    uint32_t first = 0, count = 0;
  };

  std::string read_arguments() {
    std::vector<DType> types;
    uint32_t first = 0;
    OpDef one;
    for (const ArgDef& arg : called_.op.inputs) {
      one.inputs = {arg};
      if (!input_types(one, attrs_, types))
        return std::string("the type of argument ").append(arg.name).append(" is not told");
      const auto count = static_cast<uint32_t>(types.size());
      arguments_.emplace(arg.name, Span{first, count});
      first += count;
    }
    if (first != place_.inputs.size()) {
      return "the function takes " + std::to_string(first) + " arguments, and is given " +
             std::to_string(place_.inputs.size());
    }
    return {};
  }

  void find_nodes() {
    wanted_ = called_.needed;
    if (!runs_all_) return;
    std::vector<uint32_t> open = called_.loose;
    while (!open.empty()) {
      const uint32_t at = open.back();
      open.pop_back();
      if (wanted_[at]) continue;
      wanted_[at] = true;
      each_input(graph_.bytes(NodeId{at}), [&](std::string_view input) {
        const auto found = called_.nodes.find(parse_body_input(input).node);
        if (found != called_.nodes.end()) open.push_back(found->second);
      });
    }
  }

  std::string bound_node(uint32_t node) const {
    const std::string_view node_def = graph_.bytes(NodeId{node});
    if (!called_.binds) return std::string(node_def);
    std::string out;
    for (Fields fields(node_def); fields.next();) {
      if (!fields->bytes(node_field::kAttr)) {
        out += fields->raw;
        continue;
      }
      const MapEntry entry = map_entry(fields->value);
      std::string made;
      append_bytes_field(made, 1, entry.key);
      append_bytes_field(made, 2, bound_attr(entry.value, attrs_));
      append_bytes_field(out, node_field::kAttr, made);
    }
    return out;
  }

  // Where each output of each node that is read begins, and whether all that is read is there.
  std::string find_outputs() {
    const size_t count = graph_.size();
    bound_.resize(called_.binds ? count : 0);
    outputs_.resize(count);
    std::string why;
    for (uint32_t i = 0; i < count && why.empty(); ++i) {
      if (!wanted_[i]) continue;
      if (called_.binds) bound_[i] = bound_node(i);
      each_input(graph_.bytes(NodeId{i}), [&](std::string_view input) { look_at(input, why); });
    }
    for (const auto& [output, source] : called_.returns) look_at(source, why);
    for (const ArgDef& output : called_.op.outputs) {
      if (!called_.returns.contains(output.name) && why.empty())
        why = std::string("nothing is returned as ").append(output.name);
    }
    return why;
  }

  std::string_view bytes(uint32_t node) const {
    return called_.binds ? std::string_view(bound_[node]) : graph_.bytes(NodeId{node});
  }

  void look_at(std::string_view input, std::string& why) {
    if (!why.empty()) return;
    const Input parts = parse_body_input(input);
    const auto node = called_.nodes.find(parts.node);
    if (parts.control || node == called_.nodes.end()) {
      if (!parts.control && !arguments_.contains(parts.node))
        why = quoted("input", input) + " of the function is not there";
      return;
    }
    if (known_.contains(node->second)) return;
    if (called_.binds && bound_[node->second].empty()) bound_[node->second] = bound_node(node->second);
    const std::string_view node_def = bytes(node->second);
    const OpDef* def = state_.functions.definition(node_op(node_def));
    std::vector<OutputName> names;
    if (def == nullptr || !output_names(*def, node_def, names)) {
      why = "what op " + printable(node_op(node_def)) + " of the function gives is not known";
      return;
    }
    known_.insert(node->second);
    auto& spans = outputs_[node->second];
    for (uint32_t i = 0; i < names.size(); ++i) {
      if (names[i].index == 0) spans.push_back({names[i].arg, {i, 0}});
      ++spans.back().second.count;
    }
    std::ranges::sort(spans, {}, [](const auto& one) { return one.first; });
  }

  // What an input of the body reads, here; a list that is meant as a whole is all of it.
  std::vector<std::string> here(std::string_view input) {
    const Input parts = parse_body_input(input);
    const auto argument = arguments_.find(parts.node);
    if (argument != arguments_.end()) {
      const Span span = argument->second;
      if (parts.port.empty()) {
        return {place_.inputs.begin() + span.first, place_.inputs.begin() + span.first + span.count};
      }
      uint32_t number = 0;
      std::from_chars(parts.port.data(), parts.port.data() + parts.port.size(), number);
      if (number >= span.count) throw no_output(input);
      return {place_.inputs[span.first + number]};
    }
    const auto node = called_.nodes.find(parts.node);
    if (node == called_.nodes.end()) throw no_output(input);
    const BodyPort port = parse_body_port(parts.port);
    const bool whole = parts.port.find(':') == std::string_view::npos;
    const auto& spans = outputs_[node->second];
    const auto found =
        std::ranges::lower_bound(spans, port.output, {}, [](const auto& one) { return one.first; });
    if (found == spans.end() || found->first != port.output) throw no_output(input);
    const auto& [output, span] = *found;
    if (!whole && port.number >= span.count) throw no_output(input);
    std::vector<std::string> texts;
    for (uint32_t k = whole ? 0 : port.number; k < (whole ? span.count : port.number + 1); ++k)
      texts.push_back(state_.graph.text(names_[node->second], output, k, span.first + k));
    return texts;
  }

  Error no_output(std::string_view input) const {
    return refused(quoted("input", input) + " is no output of what it names")
        .of(quoted("function", called_.name));
  }

  void write() {
    names_.resize(graph_.size());
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!wanted_[i]) continue;
      if (state_.graph.added() >= kMostInlined)
        throw refused("its calls unfold to more than " + std::to_string(kMostInlined) + " nodes")
            .of(quoted("function", called_.name));
      names_[i] = state_.graph.free_name(std::string(place_.name).append("/").append(graph_.name(NodeId{i})));
    }
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (wanted_[i]) write_node(i);
    }
  }

  void write_node(uint32_t i) {
    const std::string_view node_def = bytes(i);
    const NodeHead head = node_head(node_def);
    NodeBuilder builder(names_[i], head.op);
    std::vector<std::string> controls;
    bool alone = true;
    for (const std::string_view input : input_views(node_def)) {
      alone = false;
      if (!input.starts_with('^')) {
        for (const std::string& text : here(input)) builder.input(text);
        continue;
      }
      const auto node = called_.nodes.find(parse_body_input(input).node);
      if (node != called_.nodes.end()) {
        controls.push_back(names_[node->second]);
      } else {
        alone = true;  // an argument, which is there
      }
    }
    if (!place_.tie.empty() && (alone || called_.effects[i])) controls.push_back(place_.tie);
    for (const std::string& control : controls) builder.input("^" + control);
    builder.device(legacy_ && !place_.device.empty() ? place_.device
                                                     : device_in_call(head.device, place_.device));
    std::string rest;
    for (Fields fields(node_def); fields.next();) {
      if (fields->number <= node_field::kDevice) continue;
      if (!fields->bytes(node_field::kAttr)) {
        rest += fields->raw;
        continue;
      }
      const MapEntry entry = map_entry(fields->value);
      const Role role = attr_role(head.op, entry.key);
      if (role == Role::kColocation) {
        if (const std::string value = colocations(entry.value); !value.empty())
          append_entry(rest, entry.key, value);
      } else if (role == Role::kFrame) {
        append_entry(
            rest, entry.key,
            string_value(
                std::string(place_.name).append("/").append(last_bytes(entry.value, attr_field::kString))));
      } else if (role == Role::kSharedName && last_bytes(entry.value, attr_field::kString).empty() &&
                 shares_by_node_name(node_def)) {
        continue;
      } else {
        rest += fields->raw;
      }
    }
    std::string made = builder.take() + rest;
    // In a function it goes by the name of its node there, in every call.
    if (shares_by_node_name(node_def)) append_shared_name(graph_.name(NodeId{i}), made);
    const NodeId id = state_.graph.add(std::move(made));
    if (!is_site(node_def)) return;
    CallSite site;
    site.id = id;
    site.tie = place_.tie;
    site.flow = !called_.flow.empty() && called_.flow[i];
    site.held = called_.held[i];
    state_.add_site(std::move(site));
  }

  bool is_site(std::string_view node_def) const {
    const std::string_view op = node_op(node_def);
    return state_.functions.has(op) || is(op, OpKind::kLocalCall) || is(op, OpKind::kIf) ||
           is(op, OpKind::kCase) || is(op, OpKind::kWhile);
  }

  static void append_entry(std::string& out, std::string_view key, std::string_view value) {
    std::string entry;
    append_bytes_field(entry, 1, key);
    append_bytes_field(entry, 2, value);
    append_bytes_field(out, node_field::kAttr, entry);
  }

  // Colocations with nodes of the body; empty where none is left.
  std::string colocations(std::string_view value) const {
    std::vector<std::string> left;
    for (Fields list(last_bytes(value, attr_field::kList)); list.next();) {
      if (!list->bytes(attr_field::kString)) continue;
      const auto with = colocated_with(list->value);
      if (!with) {
        left.emplace_back(list->value);
        continue;
      }
      const auto node = called_.nodes.find(*with);
      if (node != called_.nodes.end() && wanted_[node->second])
        left.push_back(std::string(kColocatedWith).append(names_[node->second]));
    }
    return left.empty() ? std::string() : string_list_value(left);
  }

  void finish() {
    ResultTensors results;
    std::vector<DType> types;
    OpDef one;
    for (const ArgDef& output : called_.op.outputs) {
      one.outputs = {output};
      output_types(one, attrs_, types);
      const std::vector<std::string> texts = here(called_.returns.at(output.name));
      for (size_t k = 0; k < texts.size(); ++k)
        results.emplace_back(texts[k], k < types.size() ? types[k] : DType::kInvalid);
    }
    std::vector<std::string> waits;
    for (const uint32_t node : called_.waits) waits.push_back(names_[node]);
    if (runs_all_) {
      for (const uint32_t node : called_.loose) waits.push_back(names_[node]);
    }
    const bool ordered = called_.has_effects && (!waits.empty() || results.size() > 1);
    const bool stays =
        site_.held || state_.sites[state_.site_of.at(index_of(site_.id))].held || place_.guarded || ordered;
    if (!place_.tie.empty() && (place_.guarded || results.empty())) waits.push_back(place_.tie);
    // Others name these, so they stay.
    for (const std::string& wait : waits) hold(wait);
    place_.settle(results, waits, stays);
  }

  void hold(const std::string& node) {
    const NodeId id = state_.graph.producer(state_.graph.text(node));
    const auto site = state_.site_of.find(index_of(id));
    if (id != kNoNode && site != state_.site_of.end()) state_.sites[site->second].held = true;
  }

  InlineState& state_;
  const CalledFunction& called_;
  CallPlace& place_;
  const CallSite& site_;
  const Graph& graph_;
  bool legacy_, runs_all_;
  std::string attrs_;
  std::unordered_map<std::string_view, Span> arguments_;
  std::vector<bool> wanted_;        // nodes of the body that stand here
  std::vector<std::string> bound_;  // nodes with their attributes, where those are bound
  std::vector<std::vector<std::pair<std::string_view, Span>>> outputs_;  // by node, in order of names
  std::unordered_set<uint32_t> known_;                                   // nodes of which these are known
  std::vector<std::string> names_;
};

}  // namespace

std::string inline_call(InlineState& state, const CallSite& site) {
  CallPlace place(state, site);
  const std::string_view function = called_function(place.node_def);
  const CalledFunction* called = state.functions.find(function);
  if (called == nullptr) return "there is no function " + printable(function);
  if (called->recursive) return "function " + printable(function) + " calls itself";
  const bool insistent = state.request.insistent || site.wanted;
  if (called->has_gradient && !insistent)
    return "function " + printable(function) + " has a gradient of its own";
  if (called->stays && !insistent) return "function " + printable(function) + " is not to be inlined";
  for (const char* stays : {"_noinline", "_XlaMustCompile"}) {
    const auto value = find_attr(place.node_def, stays);
    if (value && last_varint(*value, attr_field::kBool) != 0 && !insistent)
      return std::string("it is not to be inlined: ").append(stays);
  }
  return InlinedBody(state, *called, place, site).put();
}

}  // namespace gedit
