#include "edit/functions/freeze_body.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "edit/functions/function_def.h"
#include "graph/names.h"
#include "graph/wiring.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

// The body of a function with constants for some arguments.
class BodyFreezing {
 public:
  explicit BodyFreezing(const FunctionToFreeze& of)
      : of_(of), body_(of.function_def, function_field::kNode, of.arena) {
    body_.decode();
    signature_ = function_signature(body_);
    name_ = last_bytes(signature_, op_def_field::kName);
  }

  FrozenBody run() {
    const Names names(body_);
    NewNames new_names(names);
    for (const std::string_view argument : argument_names(signature_)) new_names.reserve(argument);
    index_readers();
    HandleFlow flow(body_, of_.ops,
                    {[this](std::string_view name) { return readers_of(name); }, [](NodeId) { return true; },
                     of_.is_function});
    const std::vector<std::string_view> parameters = flat_arguments(op_def_field::kInput);
    for (const auto& [index, carried] : of_.arguments) {
      if (index >= parameters.size())
        throw refused("is called with more arguments than it has").of(quoted("function", name_));
      Carried value = carried;
      value.reference = false;
      flow.seed(std::string(parameters[index]), value);
    }
    const std::vector<NodeId> own = seed_own(flow);
    Pivots pivots(body_, names, new_names);
    GraphFreezing freezing(body_, flow,
                           {of_.ops, new_names, pivots, nullptr, of_.specialise, std::string(name_)});
    freezing.settle();
    read_results(flow);
    find_written(names, flow, freezing);
    const uint32_t size = body_.size();
    drop_writers(names, freezing);
    freezing.convert();
    put_values(own);
    rewire(names, freezing, pivots, size);
    std::string function_def = assemble();
    return {std::move(function_def), std::move(results_), std::move(writers_), std::move(written_),
            std::move(late_reads_)};
  }

 private:
  // Names of arguments, one for each tensor. Throws where one takes a list.
  std::vector<std::string_view> flat_arguments(uint32_t field) const {
    std::vector<std::string_view> names;
    for (Fields fields(signature_); fields.next();) {
      if (!fields->bytes(field)) continue;
      if (!last_bytes(fields->value, op_def_field::kArgNumberAttr).empty() ||
          !last_bytes(fields->value, op_def_field::kArgTypeListAttr).empty()) {
        throw refused("takes a list beside a resource").of(quoted("function", name_));
      }
      names.push_back(last_bytes(fields->value, op_def_field::kArgName));
    }
    return names;
  }

  // Variables that the function does not get but holds.
  std::vector<NodeId> seed_own(HandleFlow& flow) const {
    std::vector<NodeId> own;
    for (uint32_t i = 0; i < body_.size(); ++i) {
      const std::string_view node_def = body_.bytes(NodeId{i});
      if (!is_var_handle_op(node_op(node_def))) continue;
      own.push_back(NodeId{i});
      Carried carried;
      carried.dtype = type_attr(node_def, "dtype").value_or(DType::kInvalid);
      if (const auto shape = find_attr(node_def, "shape"))
        carried.shape = parse_shape_proto(last_bytes(*shape, attr_field::kShape));
      carried.variable = node_name(node_def);
      flow.seed(body_tensor_text(carried.variable, "resource"), carried);
    }
    return own;
  }

  void put_values(const std::vector<NodeId>& own) {
    for (const NodeId id : own) {
      const std::string_view node_def = body_.bytes(id);
      const std::string tensor = of_.value(node_def), name(node_name(node_def));
      NodeBuilder builder(name, "Const");
      each_input(node_def, [&](std::string_view text) { builder.input(text); });
      builder.type("dtype", static_cast<DType>(last_varint(tensor, 1))).attr("value", tensor_value(tensor));
      body_.replace(id, builder.take());
      own_renamed_[body_tensor_text(name, "resource")] = body_tensor_text(name, "output");
    }
  }

  void index_readers() {
    for (uint32_t i = 0; i < body_.size(); ++i) {
      each_input(body_.bytes(NodeId{i}), [&](std::string_view text) {
        std::vector<NodeId>& readers = readers_[std::string(parse_body_input(text).node)];
        if (readers.empty() || readers.back() != NodeId{i}) readers.push_back(NodeId{i});
      });
    }
  }
  std::vector<NodeId> readers_of(std::string_view name) const {
    const auto found = readers_.find(std::string(name));
    return found == readers_.end() ? std::vector<NodeId>() : found->second;
  }

  template <typename Use>
  void each_return(Use use) const {  // use(output, text)
    for (const Part& part : body_.parts()) {
      if (part.field != function_field::kRet) continue;
      const MapEntry entry = map_entry(record_at(part.raw.data()).node_def);
      use(entry.key, entry.value);
    }
  }

  void read_results(const HandleFlow& flow) {
    const std::vector<std::string_view> outputs = flat_outputs();
    each_return([&](std::string_view output, std::string_view text) {
      const Carried* carried = flow.find(text);
      if (carried == nullptr) return;
      const auto at = std::find(outputs.begin(), outputs.end(), output);
      if (at != outputs.end()) results_.emplace(static_cast<uint32_t>(at - outputs.begin()), *carried);
    });
  }
  void find_written(const Names& names, const HandleFlow& flow, const GraphFreezing& freezing) {
    std::set<std::string> variables;
    for (const auto& [index, use] : flow.users()) variables.merge(freezing.written_by(NodeId{index}));
    for (const auto& [number, carried] : of_.arguments) {
      if (variables.contains(carried.variable)) written_.insert(number);
    }
    if (variables.empty()) return;
    late_reads_ = late_reads(
        body_, names, flow, name_, [](NodeId) { return true; },
        [&](NodeId id) { return freezing.written_by(id); });
  }

  std::vector<std::string_view> flat_outputs() const {
    std::vector<std::string_view> names;
    for (Fields fields(signature_); fields.next();) {
      if (fields->bytes(op_def_field::kOutput))
        names.push_back(last_bytes(fields->value, op_def_field::kArgName));
    }
    return names;
  }

  // Takes writers out, and what only they needed.
  void drop_writers(const Names& names, const GraphFreezing& freezing) {
    const std::vector<NodeId> writers = freezing.writers();
    if (writers.empty()) return;
    for (const NodeId writer : writers) {
      gone_.insert(std::string(body_.name(writer)));
      writers_.push_back(address(name_, body_.name(writer)));
    }
    // Who reads what is written: a bypass is asked for when the reader is rewired. What is upstream of
    // writers stays where others need it, too.
    NodeSet upstream(body_.size());
    std::vector<NodeId> stack(writers.begin(), writers.end());
    const auto sources = [&](NodeId id, auto use) {
      each_input(body_.bytes(id), [&](std::string_view text) {
        const NodeId source = names.find(parse_body_input(text).node);
        if (source != kNoNode) use(source);
      });
    };
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      sources(at, [&](NodeId source) {
        if (upstream.add(source)) stack.push_back(source);
      });
    }
    NodeSet needed(body_.size());
    const auto need = [&](NodeId id) {
      if (id != kNoNode && needed.add(id)) stack.push_back(id);
    };
    for (uint32_t i = 0; i < body_.size(); ++i) {
      if (!upstream.has(NodeId{i}) && !freezing.writes(NodeId{i})) need(NodeId{i});
    }
    each_return(
        [&](std::string_view, std::string_view text) { need(names.find(parse_body_input(text).node)); });
    for (const Part& part : body_.parts()) {
      if (part.field != function_field::kControlRet) continue;
      const NodeId id = names.find(map_entry(record_at(part.raw.data()).node_def).value);
      if (id != kNoNode && !freezing.writes(id)) need(id);
    }
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      each_input(body_.bytes(at), [&](std::string_view text) {
        const NodeId source = names.find(parse_body_input(text).node);
        if (source == kNoNode) return;
        if (!freezing.writes(source)) return need(source);
        const auto behind = text.starts_with('^') ? freezing.waits_for(at, source) : freezing.bypass(source);
        if (behind) need(names.find(parse_body_input(*behind).node));
      });
    }
    for (uint32_t i = 0; i < body_.size(); ++i) {
      if (!needed.has(NodeId{i})) gone_.insert(std::string(body_.name(NodeId{i})));
    }
  }

  // The tensor that stands for `tensor`, which `reader` reads or waits for, where writers go.
  static std::optional<std::string> behind(const Names& names, const GraphFreezing& freezing, NodeId reader,
                                           bool control, std::string tensor) {
    for (;;) {
      const NodeId source = names.find(parse_body_input(tensor).node);
      if (source == kNoNode || !freezing.writes(source)) return tensor;
      const std::optional<std::string> next =
          control ? freezing.waits_for(reader, source) : freezing.bypass(source);
      if (!next) return std::nullopt;
      tensor = *next;
    }
  }

  // A tensor that is read, or returned, under its new name.
  std::string read_tensor(const Names& names, const GraphFreezing& freezing, std::string_view text) const {
    const std::string now = *behind(names, freezing, kNoNode, false, std::string(text));
    const auto own = own_renamed_.find(now);
    if (own != own_renamed_.end()) return own->second;
    const auto renamed = freezing.renamed().find(now);
    return renamed == freezing.renamed().end() ? now : renamed->second;
  }

  void rewire(const Names& names, const GraphFreezing& freezing, Pivots& pivots, uint32_t size) {
    each_return([&](std::string_view output, std::string_view text) {
      returns_.emplace(output, read_tensor(names, freezing, text));
    });
    for (uint32_t i = 0; i < size; ++i) {
      const NodeId id{i};
      if (gone_.contains(std::string(body_.name(id)))) continue;
      std::vector<std::string> inputs;
      std::set<std::string> controls;
      bool changed = false;
      each_input(body_.bytes(id), [&](std::string_view text) {
        std::string now(text);
        if (!text.starts_with('^')) {
          now = read_tensor(names, freezing, text);
        } else if (const auto source = behind(names, freezing, id, true, now.substr(1)); !source) {
          now.clear();
        } else if (*source != text.substr(1)) {
          now = pivots.control_on(*source);
        }
        changed = changed || now != text;
        if (!now.empty() && (now[0] != '^' || controls.insert(now).second)) inputs.push_back(std::move(now));
      });
      if (changed) body_.replace(id, with_inputs(body_.bytes(id), inputs));
    }
    pivots.append();
    // Names are not looked up from here on.
    for (uint32_t i = 0; i < size; ++i) {
      if (gone_.contains(std::string(body_.name(NodeId{i})))) removed_.push_back(NodeId{i});
    }
    for (const NodeId id : removed_) body_.remove(id);
  }

  std::string assemble() {
    FunctionDef def(body_);
    def.rename(std::string(of_.new_name));
    for (const auto& [number, value] : of_.arguments)
      def.make_argument_value(number, value.dtype, value.shape);
    for (const auto& [number, value] : results_) def.make_output_value(number, value.dtype);
    def.map_returns(
        [&](std::string_view output, std::string_view) { return returns_.at(std::string(output)); });
    def.remove_control_outputs([&](std::string_view node) { return gone_.contains(std::string(node)); });
    def.remove_alternatives();
    return def.encode();
  }

  const FunctionToFreeze& of_;
  Graph body_;
  std::string_view signature_, name_;
  std::unordered_map<std::string, std::vector<NodeId>> readers_;
  std::map<uint32_t, Carried> results_;
  std::map<std::string, std::string> returns_, own_renamed_;
  std::unordered_set<std::string> gone_;  // nodes
  std::vector<NodeId> removed_;
  std::vector<std::string> writers_;
  std::set<uint32_t> written_;  // arguments
  std::vector<LateRead> late_reads_;
};

}  // namespace

FrozenBody freeze_body(const FunctionToFreeze& function) { return BodyFreezing(function).run(); }

}  // namespace gedit
