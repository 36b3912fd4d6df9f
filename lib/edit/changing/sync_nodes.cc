#include "edit/changing/sync_nodes.h"

#include <fmt/core.h>

#include <algorithm>

#include "graph/listing.h"
#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

bool fully_known(const Shape& shape) {
  return shape && std::all_of(shape->begin(), shape->end(), [](int64_t size) { return size >= 0; });
}

bool floating(DType type) {
  return type == DType::kFloat || type == DType::kDouble || type == DType::kHalf || type == DType::kBfloat16;
}

std::string scalar_const(const std::string& name, DType type, double number) {
  std::string digits = fmt::format("{}", number);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  const std::string text = "tensor(" + dtype_word(type) + " [], " + digits + ")";
  Scanner scanner(text);
  return NodeBuilder(name, "Const")
      .type("dtype", type)
      .attr("value", tensor_value(parse_tensor(scanner)))
      .take();
}

}  // namespace

bool SyncNodes::is_resource(NodeId id) const { return is_var_handle_op(op(id)); }

// A node that gives the variable's value: its own read where it has one, which no control input delays.
std::string SyncNodes::read_of(NodeId variable, const std::string& below) {
  const std::string_view wanted = is_resource(variable) ? "ReadVariableOp" : "Identity";
  const std::string_view name = facts_.graph().name(variable);
  for (const NodeId id : facts_.state().at(index_of(variable)).satellites) {
    if (op(id) != wanted || facts_.frames().of(id) != 0) continue;
    size_t inputs = 0;
    bool reads = true;
    each_input(bytes(id), [&](std::string_view text) {
      const Input input = parse_input(text);
      ++inputs;
      reads = reads && !input.control && input.node == name && input.index() == 0;
    });
    if (inputs == 1 && reads) return std::string(facts_.graph().name(id));
  }
  const NodeHead head = node_head(bytes(variable));
  const std::string read = names_.free(below + "/read");
  NodeBuilder builder(read, wanted);
  builder.input(name).device(head.device);
  if (is_resource(variable)) {
    builder.type("dtype", variable_type(bytes(variable)));
  } else {
    builder.type("T", variable_type(bytes(variable))).attr("_class", colocation_value(name));
  }
  nodes_.push_back(builder.take());
  return read;
}

// tau and 1 - tau in the type; made once.
const std::pair<std::string, std::string>& SyncNodes::factors(DType type) {
  const auto found = factors_.find(type);
  if (found != factors_.end()) return found->second;
  const std::string tau = names_.free(operation_ + "/tau"), rest = names_.free(operation_ + "/one_minus_tau");
  nodes_.push_back(scalar_const(tau, type, *tau_));
  nodes_.push_back(scalar_const(rest, type, 1 - *tau_));
  return factors_.emplace(type, std::pair(tau, rest)).first->second;
}

std::string SyncNodes::binary(const std::string& name, std::string_view op, const SyncPair& pair,
                              const std::string& a, const std::string& b) {
  const std::string free = names_.free(name);
  NodeBuilder builder(free, op);
  builder.input(a).input(b).device(node_head(bytes(pair.to)).device).type("T", variable_type(bytes(pair.to)));
  nodes_.push_back(builder.take());
  return free;
}

std::string SyncNodes::value_for(const SyncPair& pair) {
  const std::string source = read_of(pair.from, pair.assign);
  const DType type = variable_type(bytes(pair.to));
  if (tau_ && *tau_ < 1 && floating(type)) {
    const auto [tau, rest] = factors(type);
    const std::string kept = read_of(pair.to, pair.assign);
    const std::string gained = binary(pair.assign + "/mul", "Mul", pair, tau, source);
    return binary(pair.assign + "/add", "Add", pair, gained,
                  binary(pair.assign + "/mul", "Mul", pair, rest, kept));
  }
  if (is_resource(pair.from) || !is_resource(pair.to)) return source;
  return own_bytes(pair, source);
}

// AssignVariableOp keeps the tensor it is given, and the read of a reference variable is the variable's own
// buffer, which later steps change in place: without a copy both would be one
// (core/kernels/resource_variable_ops.cc).
std::string SyncNodes::own_bytes(const SyncPair& pair, const std::string& source) {
  const std::string name = names_.free(pair.assign + "/copy");
  NodeBuilder builder(name, "DeepCopy");
  builder.input(source).device(node_head(bytes(pair.to)).device).type("T", variable_type(bytes(pair.to)));
  nodes_.push_back(builder.take());
  return name;
}

void SyncNodes::add_assign(const SyncPair& pair) {
  const std::string value = value_for(pair);
  const NodeHead head = node_head(bytes(pair.to));
  NodeBuilder builder(pair.assign, is_resource(pair.to) ? "AssignVariableOp" : "Assign");
  builder.input(head.name).input(value).device(head.device);
  if (is_resource(pair.to)) {
    builder.attr("_class", colocation_value(head.name)).type("dtype", variable_type(bytes(pair.to)));
  } else {
    // A variable without a fixed shape takes whatever it is assigned, as its initializer does.
    std::string yes, fixed;
    append_varint_field(yes, attr_field::kBool, 1);
    append_varint_field(fixed, attr_field::kBool, fully_known(variable_shape(bytes(pair.to))) ? 1 : 0);
    builder.type("T", variable_type(bytes(pair.to))).attr("_class", colocation_value(head.name));
    builder.attr("use_locking", yes).attr("validate_shape", fixed);
  }
  nodes_.push_back(builder.take());
}

void SyncNodes::add_group(const std::vector<SyncPair>& pairs) {
  NodeBuilder group(operation_, "NoOp");
  for (const SyncPair& pair : pairs) group.input("^" + pair.assign);
  nodes_.push_back(group.take());
}

}  // namespace gedit
