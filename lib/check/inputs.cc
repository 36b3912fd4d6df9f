// Inputs of a node: that they are there, in order, as many as the op takes, and of its types.
#include <span>

#include "base/size.h"
#include "check/nodes.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// A faulty type is told apart by what would have been needed.
void check_type(const CheckedGraph& in, NodeId id, const NodeHead& head, size_t slot, DType from, DType to,
                NodeId producer, Report& report) {
  if (fits(from, to)) return;
  const bool value = !is_reference(from) || base_type(from) != base_type(to);
  const std::string words = source_words(in, slot, from, producer) + ", " + std::string(head.op);
  if (is_reference(to) && base_type(from) == base_type(to)) {
    report.add(Rule::kReference, in.subject(id), words + " needs a reference");
  } else if (to == DType::kResource && value) {
    report.add(Rule::kReference, in.subject(id), words + " needs a resource");
  } else {
    report.add(Rule::kDtype, in.subject(id), words + " takes " + dtype_name(to));
  }
}

void report_missing(const CheckedGraph& in, NodeId id, std::string_view text, NodeId producer,
                    Report& report) {
  const Input input = in.body ? parse_body_input(text) : parse_input(text);
  if (producer == kNoNode) {
    // `^a:1` names a node `a:1`, which no graph has.
    const bool port = input.control && in.find(parse_input(input.node).node) != kNoNode;
    return report.add(Rule::kInput, in.subject(id),
                      port ? "reads '" + std::string(text) + "': a control input has no output number"
                           : "reads " + quoted("node", input.node) + ", which is not there");
  }
  const std::string_view op = in.graph.op(producer);
  std::string words = "reads '" + std::string(text) + "': ";
  if (in.body) {
    words += quoted("node", input.node) + " (" + std::string(op) + ") has no such output";
  } else {
    words += quoted("node", input.node) + " (" + std::string(op) + ") has " +
             counted_or_no(in.outputs(producer).size(), "output");
  }
  report.add(Rule::kInput, in.subject(id), std::move(words));
}

void check_handle(const CheckedGraph& in, NodeId id, const NodeHead& head, NodeId producer, Report& report) {
  if (producer == kNoNode || !in.graph.is(producer, OpKind::kVarHandle)) return;
  const auto is = type_attr(in.graph.bytes(producer), "dtype"),
             wanted = type_attr(in.graph.bytes(id), "dtype");
  if (!is || !wanted || *is == *wanted) return;
  report.add(Rule::kDtype, in.subject(id),
             std::string(head.op) + " of " + dtype_name(*wanted) + ", VarHandleOp '" +
                 std::string(in.graph.name(producer)) + "' holds " + dtype_name(*is));
}

// What one data input brings: a tensor, or in a function a list of them.
struct DataInput {
  std::span<const DType> types;
  NodeId producer;
};
constexpr DType kUnknown = DType::kInvalid;
constexpr std::span<const DType> kUnknownTensor{&kUnknown, 1};

}  // namespace

bool inputs_fit(const CheckedGraph& in, NodeId id, const InputTypes& takes) {
  const LikeKind& kind = in.like.kind(in.like.of(id));
  if (!takes.told || !kind.first_outputs || !in.producers.complete()) return false;
  if (takes.types.size() != kind.data_inputs || in.graph.is(id, OpKind::kHasDtypeOfVariable)) return false;
  const std::span<const NodeId> producers = in.producers.of(id);
  for (size_t slot = 0; slot < takes.types.size(); ++slot) {
    if (!in.outputs_known(producers[slot])) continue;
    const std::span<const DType> types = in.outputs(producers[slot]);
    if (types.empty() || !fits(types[0], takes.types[slot])) return false;
  }
  return true;
}

void check_inputs(const CheckedGraph& in, NodeId id, const NodeHead& head, const OpFacts& facts,
                  InputTypes& takes, Report& report) {
  const std::string_view node_def = in.graph.bytes(id);
  const std::span<const NodeId> producers = in.producers.of(id);
  size_t count = 0;
  each_input(node_def, [&](std::string_view) { ++count; });
  const bool whole = producers.size() == count;  // every input has its node

  std::vector<DataInput> data;
  data.reserve(count);
  bool all_counted = true, control_seen = false, order_told = false;
  size_t at = 0;
  each_input(node_def, [&](std::string_view text) {
    const NodeId producer = whole ? producers[at] : in.find(text);
    ++at;
    if (text.starts_with('^')) {
      control_seen = true;
      // In a function one may wait for an argument.
      const bool there = producer != kNoNode || (in.body && in.arguments.contains(text.substr(1)));
      if (!there) report_missing(in, id, text, producer, report);
      return;
    }
    if (control_seen && !order_told) {
      order_told = true;
      report.add(Rule::kInputOrder, in.subject(id),
                 "data input '" + std::string(text) + "' stands behind a control input");
    }
    if (!in.body && producer != kNoNode && text.find(':') == std::string_view::npos) {
      // The usual case, without a look at anything but the type.
      if (!in.outputs_known(producer)) return data.push_back({kUnknownTensor, producer});
      const std::span<const DType> types = in.outputs(producer);
      if (types.empty()) report_missing(in, id, text, producer, report);
      return data.push_back({types.empty() ? kUnknownTensor : types.first(1), producer});
    }
    const Source source = in.source(text, producer);
    if (!source.found) {
      report_missing(in, id, text, producer, report);
      return data.push_back({kUnknownTensor, producer});
    }
    all_counted = all_counted && source.counted;
    data.push_back({source.types, producer});
  });
  size_t tensors = 0;
  for (const DataInput& input : data) tensors += input.types.size();

  if (!facts.known || !all_counted) return;
  std::vector<DType>& expected = takes.types;
  if (!takes.told || expected.size() != tensors) {
    for (const ArgDef& arg : facts.def.inputs) {
      // A number that asks for more inputs than there are is told without being counted up to.
      const auto number = arg.number_attr.empty() ? std::nullopt : int_attr(node_def, arg.number_attr);
      if (number && *number > static_cast<int64_t>(tensors)) {
        return report.add(Rule::kArity, in.subject(id),
                          counted(tensors, "input") + ", " + std::string(arg.number_attr) + " is " +
                              std::to_string(*number));
      }
    }
    takes.told = input_types(facts.def, node_def, expected);
    if (!takes.told) return;
  }
  if (expected.size() != tensors) {
    return report.add(Rule::kArity, in.subject(id),
                      counted(tensors, "input") + ", " + std::string(head.op) + " takes " +
                          std::to_string(expected.size()));
  }
  if (is(head.op, OpKind::kHasDtypeOfVariable) && !data.empty())
    check_handle(in, id, head, data[0].producer, report);
  size_t slot = 0;
  for (const DataInput& input : data) {
    for (const DType type : input.types) {
      check_type(in, id, head, slot, type, expected[slot], input.producer, report);
      ++slot;
    }
  }
}

}  // namespace gedit
