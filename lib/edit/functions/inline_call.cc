// A call, and the body of its function in its place (docs/rules.md#inlined-calls).
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/number.h"
#include "base/size.h"
#include "edit/basis/runtime_names.h"
#include "edit/functions/call_site.h"
#include "edit/functions/function_def.h"
#include "edit/functions/unfolded_size.h"
#include "graph/colocation.h"
#include "graph/function_names.h"
#include "graph/references.h"
#include "graph/types.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

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
        wanted_(runs_all_ ? called.all : called.needed),
        outputs_(called.binds ? bound_outputs_ : state.outputs[&wanted_]),
        scope_(call_scope(place.name)),
        attrs_(attributes_of_call(place.node_def)) {}

  std::string put() {
    if (std::string why = read_arguments(); !why.empty()) return why;
    if (std::string why = find_types(); !why.empty()) return why;
    if (!outputs_.known) find_outputs();
    if (!outputs_.why.empty()) return outputs_.why;
    const auto lost = called_.lost_wait ? called_.lost_wait : runs_all_ ? called_.lost_loose : std::nullopt;
    if (lost) {
      return quoted("node", graph_.name(NodeId{*lost})) +
             " of the function has effects in a cond or loop of its own, of which nothing tells whether it "
             "is over";
    }
    place_.guard(called_.has_effects, awaited());
    write();
    finish();
    return {};
  }

 private:
  using Span = OutputSpan;

  std::string read_arguments() {
    std::vector<DType> types;
    uint32_t first = 0;
    OpDef one;
    one.attrs = called_.op.attrs;  // their defaults
    for (const ArgDef& arg : called_.op.inputs) {
      one.inputs = {arg};
      if (!input_types(one, attrs_, types))
        return std::string("the type of argument ").append(arg.name).append(" is not told");
      const auto count = static_cast<uint32_t>(types.size());
      arguments_.emplace(arg.name, Span{first, count});
      first += count;
    }
    if (first != place_.inputs.size()) {
      return "the function takes " + counted(first, "argument") + ", and is given " +
             std::to_string(place_.inputs.size());
    }
    return {};
  }

  // What the function gives, before anything is written: what it says of itself, else what the call says.
  std::string find_types() {
    const auto told = find_attr(place_.node_def, "Tout");
    const std::vector<DType> wanted = legacy_ || !told ? std::vector<DType>() : type_list(*told);
    if (std::string why = result_types(called_, attrs_, types_); !why.empty()) return why;
    if (legacy_ || !told) {
      for (size_t i = 0; i < types_.size(); ++i) {
        if (types_[i] == DType::kInvalid)
          return "the type of its result " + std::to_string(i) + " is not told";
      }
      return {};
    }
    if (std::string why = differing_types("results", "Tout", types_, wanted); !why.empty()) return why;
    types_ = wanted;
    return {};
  }

  // By input: whether the function's result, the only one, rests on it.
  std::vector<bool> awaited() const {
    std::vector<bool> awaited(place_.inputs.size());
    if (types_.size() != 1 || !called_.waits.empty()) return awaited;
    for (const auto& [name, span] : arguments_) {
      if (called_.needs.contains(name))
        std::fill_n(awaited.begin() + span.first, span.count, called_.op.inputs.size() == awaited.size());
    }
    return awaited;
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

  // Where each output of each node that is read begins, and whether all that is read is there. Where the call
  // binds nothing it is the same for all calls, and looked for once.
  void find_outputs() {
    outputs_.known = true;
    const size_t count = wanted_.nodes.size();
    bound_.resize(called_.binds ? count : 0);
    outputs_.of.resize(count);
    seen_.resize(count);
    std::string& why = outputs_.why;
    for (size_t i = 0; i < count && why.empty(); ++i) {
      if (called_.binds) bound_[i] = bound_node(wanted_.nodes[i]);
      each_input(graph_.bytes(NodeId{wanted_.nodes[i]}),
                 [&](std::string_view input) { look_at(input, why); });
    }
    for (const auto& [output, source] : called_.returns) look_at(source, why);
    for (const ArgDef& output : called_.op.outputs) {
      if (!called_.returns.contains(output.name) && why.empty())
        why = std::string("nothing is returned as ").append(output.name);
    }
  }

  // Of the node at this place among the wanted ones.
  std::string_view bytes(uint32_t place) const {
    return called_.binds ? std::string_view(bound_[place]) : graph_.bytes(NodeId{wanted_.nodes[place]});
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
    const uint32_t place = wanted_.place[node->second];
    if (seen_[place]) return;
    seen_[place] = true;
    if (called_.binds && bound_[place].empty()) bound_[place] = bound_node(node->second);
    const std::string_view node_def = bytes(place);
    const OpDef* def = state_.functions.op_defs().find(node_op(node_def));
    std::vector<OutputName> names;
    if (def == nullptr || !output_names(*def, node_def, names)) {
      why = "what op " + printable(node_op(node_def)) + " of the function gives is not known";
      return;
    }
    auto& spans = outputs_.of[place];
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
      const std::optional<uint32_t> number = read_number<uint32_t>(parts.port);
      if (!number || *number >= span.count) throw no_output(input);
      return {place_.inputs[span.first + *number]};
    }
    const auto node = called_.nodes.find(parts.node);
    if (node == called_.nodes.end()) throw no_output(input);
    const BodyPort port = parse_body_port(parts.port);
    const bool whole = parts.port.find(':') == std::string_view::npos;
    const uint32_t place = wanted_.place[node->second];
    const auto& spans = outputs_.of[place];
    const auto found =
        std::ranges::lower_bound(spans, port.output, {}, [](const auto& one) { return one.first; });
    if (found == spans.end() || found->first != port.output) throw no_output(input);
    const auto& [output, span] = *found;
    if (!whole && port.number >= span.count) throw no_output(input);
    std::vector<std::string> texts;
    for (uint32_t k = whole ? 0 : port.number; k < (whole ? span.count : port.number + 1); ++k)
      texts.push_back(state_.graph.text(names_[place], output, k, span.first + k));
    return texts;
  }

  Error no_output(std::string_view input) const {
    return refused(quoted("input", input) + " is no output of what it names")
        .of(quoted("function", called_.name));
  }

  void write() {
    const size_t count = wanted_.nodes.size();
    names_.reserve(count);
    for (const uint32_t node : wanted_.nodes) {
      if (state_.graph.added() >= kMostUnfolded)
        throw refused("its calls unfold to more than " + std::to_string(kMostUnfolded) + " nodes")
            .of(quoted("function", called_.name));
      names_.push_back(
          state_.graph.free_name(std::string(scope_).append("/").append(graph_.name(NodeId{node}))));
    }
    for (uint32_t place = 0; place < count; ++place) write_node(place);
  }

  const std::string& name_of(uint32_t node) const { return names_[wanted_.place[node]]; }

  void write_node(uint32_t place) {
    const uint32_t node_number = wanted_.nodes[place];
    const std::string_view node_def = bytes(place);
    const NodeHead head = node_head(node_def);
    NodeBuilder builder(names_[place], head.op);
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
        controls.push_back(name_of(node->second));
      } else {
        alone = true;  // an argument, which is there
        wait_for_argument(parse_body_input(input).node, controls);
      }
    }
    if (!place_.tie.empty() && (alone || called_.effects[node_number])) controls.push_back(place_.tie);
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
        append_entry(rest, entry.key, string_value(frame(last_bytes(entry.value, attr_field::kString))));
      } else if (role == Role::kSharedName && last_bytes(entry.value, attr_field::kString).empty() &&
                 shares_by_node_name(node_def)) {
        continue;
      } else {
        rest += fields->raw;
      }
    }
    std::string made = builder.take() + rest;
    // In a function it goes by the name of its node there, in every call.
    if (shares_by_node_name(node_def)) append_shared_name(graph_.name(NodeId{node_number}), made);
    const NodeId id = state_.graph.add(std::move(made));
    if (!is_site(node_def)) return;
    CallSite site;
    site.id = id;
    site.tie = place_.tie;
    site.flow = !called_.flow.empty() && called_.flow[node_number];
    site.held = called_.held[node_number];
    state_.add_site(std::move(site));
  }

  // What is written for an argument is written before what waits for it.
  void wait_for_argument(std::string_view name, std::vector<std::string>& controls) {
    const auto argument = arguments_.find(name);
    if (argument == arguments_.end()) return;
    const Graph& graph = state_.graph.graph();
    const OutputSpan span = argument->second;
    for (uint32_t k = span.first; k < span.first + span.count; ++k) {
      const NodeId producer = state_.graph.producer(place_.inputs[k]);
      if (producer == kNoNode) {  // an argument of the body in which the call stands
        controls.emplace_back(parse_body_input(place_.inputs[k]).node);
      } else if (!graph.is(producer, OpKind::kSwitch) && state_.behind_writes.has(producer)) {
        controls.emplace_back(graph.name(producer));
        hold(controls.back());
      }
    }
  }

  // A frame of the body as it is called here: no other loop of the graph has the name.
  const std::string& frame(std::string_view name) {
    const auto [found, added] = frames_.try_emplace(std::string(name));
    if (added) found->second = state_.graph.free_frame(std::string(scope_).append("/").append(name));
    return found->second;
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
      if (node != called_.nodes.end() && wanted_.has(node->second))
        left.push_back(std::string(kColocatedWith).append(name_of(node->second)));
    }
    return left.empty() ? std::string() : string_list_value(left);
  }

  void finish() {
    ResultTensors results;
    for (const ArgDef& output : called_.op.outputs) {
      for (std::string& text : here(called_.returns.at(output.name))) {
        const size_t k = results.size();
        results.emplace_back(std::move(text), k < types_.size() ? types_[k] : DType::kInvalid);
      }
    }
    if (results.size() != types_.size())
      throw refused("returns " + counted(results.size(), "tensor") + ", and is to give " +
                    std::to_string(types_.size()))
          .of(quoted("function", called_.name));
    std::vector<std::string> waits;
    for (const uint32_t node : called_.waits) waits.push_back(name_of(node));
    if (runs_all_) {
      for (const uint32_t node : called_.loose) waits.push_back(name_of(node));
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
  const BodyNodes& wanted_;  // nodes of the body that stand here
  BodyOutputs bound_outputs_;
  BodyOutputs& outputs_;
  std::string scope_, attrs_;
  std::unordered_map<std::string_view, Span> arguments_;
  std::vector<DType> types_;  // of the results
  std::vector<bool> seen_;
  std::vector<std::string> bound_, names_;  // by place: nodes with their attributes, where those are bound
  std::unordered_map<std::string, std::string> frames_;
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
  for (const std::string_view stays : {std::string_view("_noinline"), kMustCompile}) {
    const auto value = find_attr(place.node_def, stays);
    if (value && last_varint(*value, attr_field::kBool) != 0 && !insistent)
      return std::string("it is not to be inlined: ").append(stays);
  }
  return InlinedBody(state, *called, place, site).put();
}

}  // namespace gedit
