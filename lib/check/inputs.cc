// Inputs of a node: that they are there, in order, as many as the op takes, and of its types.
#include "base/near.h"
#include "check/nodes.h"

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
  const std::string_view op = node_op(in.graph.bytes(producer));
  std::string words = "reads '" + std::string(text) + "': ";
  if (in.body) {
    words += quoted("node", input.node) + " (" + std::string(op) + ") has no such output";
  } else {
    words += quoted("node", input.node) + " (" + std::string(op) + ") has " +
             outputs_text(in.outputs(producer).size());
  }
  report.add(Rule::kInput, in.subject(id), std::move(words));
}

// Ops whose `dtype` must be that of the handle they are given (resource_variable_ops.cc, shape functions).
bool takes_handle(std::string_view op) {
  return op == "ReadVariableOp" || op == "AssignVariableOp" || op == "AssignAddVariableOp" ||
         op == "AssignSubVariableOp" || op == "ResourceGather";
}

void check_handle(const CheckedGraph& in, NodeId id, const NodeHead& head, NodeId producer, Report& report) {
  if (producer == kNoNode || node_op(in.graph.bytes(producer)) != "VarHandleOp") return;
  const auto is = type_attr(in.graph.bytes(producer), "dtype"),
             wanted = type_attr(in.graph.bytes(id), "dtype");
  if (!is || !wanted || *is == *wanted) return;
  report.add(Rule::kDtype, in.subject(id),
             std::string(head.op) + " of " + dtype_name(*wanted) + ", VarHandleOp '" +
                 std::string(in.graph.name(producer)) + "' holds " + dtype_name(*is));
}

struct DataInput {
  DType type;
  NodeId producer;
};

}  // namespace

void check_inputs(const CheckedGraph& in, NodeId id, const NodeHead& head, const OpFacts& facts,
                  Report& report) {
  const std::string_view node_def = in.graph.bytes(id);
  const std::span<const NodeId> producers = in.producers.of(id);
  size_t count = 0;
  each_input(node_def, [&](std::string_view) { ++count; });
  const bool whole = producers.size() == count;  // every input has its node

  static thread_local std::vector<DType> expected;
  std::vector<DataInput> data;
  data.reserve(count);
  bool counted = true, control_seen = false, order_told = false;
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
      if (!in.outputs_known(producer)) return data.push_back({DType::kInvalid, producer});
      const std::span<const DType> types = in.outputs(producer);
      if (types.empty()) report_missing(in, id, text, producer, report);
      return data.push_back({types.empty() ? DType::kInvalid : types[0], producer});
    }
    const Source source = in.source(text, producer);
    if (!source.found) {
      report_missing(in, id, text, producer, report);
      data.push_back({DType::kInvalid, producer});
      return;
    }
    counted = counted && source.counted;
    for (const DType type : source.types) data.push_back({type, producer});
  });

  if (!facts.known || !counted) return;
  for (const ArgDef& arg : facts.def.inputs) {
    // A number that asks for more inputs than there are is told without being counted up to.
    const auto number = arg.number_attr.empty() ? std::nullopt : int_attr(node_def, arg.number_attr);
    if (number && *number > static_cast<int64_t>(data.size())) {
      return report.add(Rule::kArity, in.subject(id),
                        std::to_string(data.size()) + " inputs, " + std::string(arg.number_attr) + " is " +
                            std::to_string(*number));
    }
  }
  if (!input_types(facts.def, node_def, expected)) return;
  if (expected.size() != data.size()) {
    return report.add(Rule::kArity, in.subject(id),
                      std::to_string(data.size()) + (data.size() == 1 ? " input, " : " inputs, ") +
                          std::string(head.op) + " takes " + std::to_string(expected.size()));
  }
  if (takes_handle(head.op) && !data.empty()) check_handle(in, id, head, data[0].producer, report);
  for (size_t i = 0; i < data.size(); ++i)
    check_type(in, id, head, i, data[i].type, expected[i], data[i].producer, report);
}

}  // namespace gedit
