#include "check/functions.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_set>

#include "base/size.h"
#include "graph/name_attr_list.h"

namespace gedit {
namespace {

constexpr uint32_t kControlOutputField = 20;  // OpDef.control_output

// Ops that hand their inputs to functions and give what those give (core/ops/functional_ops.cc,
// batch_ops.cc): what a function takes is the types in `inputs`, then in `captured`; what it gives those in
// `outputs`. A condition gives one tensor of any type.
struct CallRow {
  std::string_view op, function, inputs, captured, outputs;
};
constexpr std::array kCalls{
    CallRow{"PartitionedCall", "f", "Tin", "", "Tout"},
    CallRow{"StatefulPartitionedCall", "f", "Tin", "", "Tout"},
    CallRow{"RemoteCall", "f", "Tin", "", "Tout"},
    CallRow{"BatchFunction", "f", "Tin", "Tcaptured", "Tout"},
    CallRow{"If", "then_branch", "Tin", "", "Tout"},
    CallRow{"If", "else_branch", "Tin", "", "Tout"},
    CallRow{"StatelessIf", "then_branch", "Tin", "", "Tout"},
    CallRow{"StatelessIf", "else_branch", "Tin", "", "Tout"},
    CallRow{"While", "cond", "T", "", ""},
    CallRow{"While", "body", "T", "", "T"},
    CallRow{"StatelessWhile", "cond", "T", "", ""},
    CallRow{"StatelessWhile", "body", "T", "", "T"},
    CallRow{"Case", "branches", "Tin", "", "Tout"},
    CallRow{"StatelessCase", "branches", "Tin", "", "Tout"},
    CallRow{"MapDefun", "f", "Targuments", "Tcaptured", "output_types"},
};

FunctionTypes types_of(const OpDef& signature) {
  FunctionTypes types;
  const auto add = [&](const std::vector<ArgDef>& args, std::vector<DType>& found) {
    for (const ArgDef& arg : args) {
      if (!arg.number_attr.empty() || !arg.type_list_attr.empty()) types.counted = false;
      found.push_back(arg.type_attr.empty() ? DType{arg.type} : DType::kInvalid);
    }
  };
  add(signature.inputs, types.inputs);
  add(signature.outputs, types.outputs);
  return types;
}

// The types in an attribute list(type); nothing where the node does not say.
std::optional<std::vector<DType>> list_of(std::string_view node_def, std::string_view key) {
  if (key.empty()) return std::vector<DType>();
  const auto value = find_attr(node_def, key);
  if (!value || has_field(*value, attr_field::kPlaceholder)) return std::nullopt;
  return type_list(*value);
}

// Why tensors of these types cannot be taken for those of the function; empty where they can.
std::string fault_of(std::string_view verb, const std::vector<DType>& there,
                     const std::vector<DType>& given) {
  const std::string gives(verb);
  if (there.size() != given.size()) {
    return gives + " " + counted(there.size(), "tensor") + ", the node has " + std::to_string(given.size());
  }
  for (size_t i = 0; i < there.size(); ++i) {
    if (there[i] == DType::kInvalid || given[i] == DType::kInvalid ||
        base_type(there[i]) == base_type(given[i]))
      continue;
    return gives + " " + dtype_name(there[i]) + " as tensor " + std::to_string(i) + ", the node has " +
           dtype_name(given[i]);
  }
  return {};
}

void check_call(const CheckedGraph& in, NodeId id, std::string_view node_def, const CallRow& row,
                const Functions& functions, Report& report) {
  const auto attr = find_attr(node_def, row.function);
  auto inputs = list_of(node_def, row.inputs);
  const auto captured = list_of(node_def, row.captured);
  const auto outputs = list_of(node_def, row.outputs);
  if (!attr || !inputs || !captured || !outputs) return;
  inputs->insert(inputs->end(), captured->begin(), captured->end());
  std::unordered_set<std::string_view> seen;  // one function may stand in a list many times
  each_function(*attr, [&](std::string_view name) {
    const auto found = functions.find(name);
    if (found == functions.end() || !seen.insert(name).second || !found->second.counted) return;
    const auto wrong = [&](const std::string& what) {
      if (!what.empty()) report.add(Rule::kFunction, in.subject(id), quoted("function", name) + " " + what);
    };
    wrong(fault_of("takes", found->second.inputs, *inputs));
    if (row.function == "cond") {
      if (found->second.outputs.size() != 1) {
        wrong("gives " + std::to_string(found->second.outputs.size()) + " tensors, a condition is one");
      }
    } else {
      wrong(fault_of("gives", found->second.outputs, *outputs));
    }
  });
}

// A map of a FunctionDef.
std::map<std::string_view, std::string_view> entries_of(const Graph& body, uint32_t field) {
  std::map<std::string_view, std::string_view> entries;
  for (const Part& part : body.parts()) {
    if (part.field != field) continue;
    const MapEntry entry = map_entry(record_at(part.raw.data()).node_def);
    entries[entry.key] = entry.value;
  }
  return entries;
}

}  // namespace

Functions functions_of(const Library& library) {
  Functions functions;
  for (const Function& function : library.functions) {
    const std::string_view signature = last_bytes(function.body.message(), function_field::kSignature);
    functions.emplace(function.name, types_of(parse_op_def(signature)));
  }
  return functions;
}

void check_calls(const CheckedGraph& in, NodeId id, const Attrs& attrs, const Functions& functions,
                 Report& report) {
  bool any = false;
  for (const auto& [attr, value] : attrs) {
    if (!may_name_function(value)) continue;
    const std::string_view key = attr;
    each_function(value, [&](std::string_view name) {
      any = true;
      if (name.empty() || functions.contains(name)) return;
      // A function may also be an op, as SymbolicGradient's is.
      if (in.ops.of(name).known) return;
      report.add(Rule::kFunction, in.subject(id),
                 quoted("attribute", key) + " names " + quoted("function", name) + ", which is not there");
    });
  }
  if (!any) return;
  const std::string_view node_def = in.graph.bytes(id), op = node_op(node_def);
  for (const CallRow& row : kCalls) {
    if (row.op == op) check_call(in, id, node_def, row, functions, report);
  }
}

void check_returns(const CheckedGraph& in, std::string_view function, Report& report) {
  const OpDef signature = parse_op_def(function_signature(in.graph));
  const auto wrong = [&](const std::string& what) {
    report.add(Rule::kFunction, std::string(function), what);
  };
  const auto returned = entries_of(in.graph, function_field::kRet);
  for (const ArgDef& output : signature.outputs) {
    const auto text = returned.find(output.name);
    if (text == returned.end()) {
      wrong(quoted("output", output.name) + " is not returned");
      continue;
    }
    const Source source = in.source(text->second, in.find(text->second));
    if (!source.found) {
      wrong(quoted("output", output.name) + " is '" + std::string(text->second) + "', which is not there");
      continue;
    }
    const bool plain =
        output.type_attr.empty() && output.number_attr.empty() && output.type_list_attr.empty();
    if (!plain || !source.counted || source.types.size() != 1) continue;
    if (!fits(source.types[0], DType{output.type})) {
      wrong(quoted("output", output.name) + " is " + dtype_name(source.types[0]) + ", the signature says " +
            dtype_name(DType{output.type}));
    }
  }
  std::set<std::string_view> waited_for;
  for (Fields fields(function_signature(in.graph)); fields.next();) {
    if (!fields->bytes(kControlOutputField) || waited_for.insert(fields->value).second) continue;
    wrong(quoted("control output", fields->value) + " is there twice");
  }
  for (const auto& [key, name] : entries_of(in.graph, function_field::kControlRet)) {
    if (in.names.find(name) != kNoNode) continue;
    wrong(quoted("control output", key) + " is " + quoted("node", name) + ", which is not there");
  }
}

void check_captured(const CheckedGraph& in, std::string_view function, const CapturedTensors& captured,
                    Report& report) {
  const auto found = captured.find(function);
  if (found == captured.end()) return;
  for (const std::string& tensor : found->second) {
    const std::string_view node = parse_input(tensor).node;
    if (in.names.find(node) != kNoNode || in.arguments.contains(node)) continue;
    report.add(Rule::kObjectGraph, std::string(function),
               "its gradient captured '" + printable(tensor) + "', which is not there");
  }
}

void check_gradients(const Library& library, const Functions& functions, Report& report) {
  for (const Library::Item& item : library.items) {
    if (item.field != 2) continue;
    const std::string_view gradient = record_at(item.raw.data()).node_def;
    for (const uint32_t field : {1U, 2U}) {
      const std::string_view name = last_bytes(gradient, field);
      if (functions.contains(name)) continue;
      report.add(Rule::kFunction, std::string(last_bytes(gradient, 1)),
                 "a gradient names " + quoted("function", name) + ", which is not there");
    }
  }
}

}  // namespace gedit
