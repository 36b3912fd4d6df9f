// gedit sync: an operation that brings the variables of one scope up to date with those of another.
#include "edit/edits.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/near.h"
#include "edit/basis/facts.h"
#include "edit/basis/names.h"
#include "graph/listing.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

// `scope/` as the beginning of names; empty for the whole graph.
std::string prefix_of(std::string scope) {
  while (scope.ends_with('/')) scope.pop_back();
  return scope.empty() ? scope : scope + "/";
}

std::string scope_of_prefix(std::string_view prefix) {
  return std::string(prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1));
}

Shape variable_shape(std::string_view node_def) {
  const auto value = find_attr(node_def, "shape");
  if (!value) return std::nullopt;
  const Shape shape = parse_shape_proto(last_bytes(*value, attr_field::kShape));
  // The op of TensorFlow 0.x says [] where it does not know (core/ops/state_ops.cc).
  if (is(node_op(node_def), OpKind::kUnknownShapeIsEmpty) && shape && shape->empty()) return std::nullopt;
  return shape;
}

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
  std::string value;
  append_bytes_field(value, attr_field::kTensor, parse_tensor(scanner));
  return NodeBuilder(name, "Const").type("dtype", type).attr("value", value).take();
}

class Syncing {
 public:
  Syncing(Model& model, Registry& ops, const SyncRequest& request)
      : request_(request),
        facts_(model, ops),
        names_(facts_.names()),
        from_(prefix_of(request.from_scope)),
        to_(prefix_of(request.to_scope)) {}

  Changes run() {
    if (request_.tau && !(*request_.tau > 0 && *request_.tau <= 1))
      throw Error(Cause::kUsage, fmt::format("--tau {}: not above 0 and at most 1", *request_.tau));
    if (from_ == to_) throw Error(Cause::kUsage, "--from-scope and --to-scope are the same");
    find_variables();
    find_pairs();
    const std::string operation = request_.name.empty() ? to_ + "sync" : request_.name;
    operation_ = names_.exactly(operation, "--name OP");
    // Their names are given, so they come before those that can be made unique.
    for (Pair& pair : pairs_) pair.assign = names_.exactly(operation_ + "/" + pair.name, "--name OP");
    for (const Pair& pair : pairs_) add_assign(pair);
    NodeBuilder group(operation_, "NoOp");
    for (const Pair& pair : pairs_) group.input("^" + pair.assign);
    add(group.take());
    note_rest();
    for (std::string& node : nodes_) graph().append(std::move(node));
    return std::move(changes_);
  }

 private:
  struct Pair {
    std::string name;  // x of SRC/x and DST/x
    NodeId from, to;
    std::string assign;
  };

  Graph& graph() { return facts_.model.graph(); }
  std::string_view bytes(NodeId id) const { return facts_.graph().bytes(id); }
  std::string_view op(NodeId id) const { return node_op(bytes(id)); }
  bool is_resource(NodeId id) const { return is_var_handle_op(op(id)); }
  bool under(std::string_view name, const std::string& prefix) const {
    return name.size() > prefix.size() && name.starts_with(prefix);
  }

  void find_variables() {
    const Graph& nodes = facts_.graph();
    trainable_ = stepped_ = taken_ = NodeSet(nodes.size());
    for (const Collection& collection : facts_.collections()) {
      if (collection.key != "trainable_variables") continue;
      has_trainable_ = true;
      if (collection.kind != collection_kind::kBytesList) continue;
      for (const std::string_view def : collection.items) {
        const NodeId id = facts_.names().find(node_of(variable_names(def).variable));
        if (id != kNoNode) trainable_.add(id);
      }
    }
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const NodeId id{i};
      if (nodes.removed(id)) continue;
      const std::string_view node_def = nodes.bytes(id), op = node_op(node_def);
      if (is_variable_op(op)) variables_.push_back(id);
      if (!is(op, OpKind::kApply)) continue;
      bool first = true;
      each_input(node_def, [&](std::string_view input) {
        const NodeId variable = variable_behind(nodes, facts_.names(), input);
        if (variable != kNoNode) (first ? stepped_ : taken_).add(variable);
        first = false;
      });
    }
  }

  // An optimizer's own: DST keeps what belongs to its training.
  bool is_slot(NodeId id) const { return taken_.has(id) && !stepped_.has(id) && !trainable_.has(id); }

  bool wanted(NodeId id) const {
    const std::string_view name = facts_.graph().name(id);
    if (!under(name, to_) || (!from_.empty() && to_.empty() && under(name, from_))) return false;
    return request_.all || !has_trainable_ ? !is_slot(id) : trainable_.has(id);
  }

  void find_pairs() {
    bool any = false;
    for (const NodeId id : variables_) {
      any = any || under(facts_.graph().name(id), to_);
      if (wanted(id)) pairs_.push_back(pair(id));
    }
    if (!pairs_.empty()) return;
    if (any) {
      throw refused("no trainable variable is in it")
          .of(quoted("scope", to_))
          .hint(request_.all || !has_trainable_ ? "" : "--all");
    }
    Near near(scope_of_prefix(to_));
    std::unordered_set<std::string_view> seen;
    for (const NodeId id : variables_) {
      const std::string_view name = facts_.graph().name(id);
      for (size_t slash = name.find('/'); slash != std::string_view::npos;
           slash = name.find('/', slash + 1)) {
        if (seen.insert(name.substr(0, slash)).second) near.offer(name.substr(0, slash));
      }
    }
    throw refused("no variable is in it")
        .of(quoted("scope", to_))
        .hint(near.best().empty() ? "" : "did you mean '" + printable(near.best()) + "/'?");
  }

  Pair pair(NodeId to) const {
    const std::string_view name = facts_.graph().name(to);
    const std::string rest(name.substr(to_.size()));
    const std::string wanted = from_ + rest;
    const NodeId from = facts_.names().find(wanted);
    if (from == kNoNode || !is_variable_op(op(from))) {
      Near near(wanted);
      for (const NodeId id : variables_) {
        if (!under(facts_.graph().name(id), to_)) near.offer(facts_.graph().name(id));
      }
      const std::string why =
          from == kNoNode ? "no '" + printable(wanted) + "'"
                          : "'" + printable(wanted) + "' (" + printable(op(from)) + ") is no variable";
      throw refused(why).of(quoted("variable", name)).hint(near.did_you_mean());
    }
    const DType from_type = type_attr(bytes(from), "dtype").value_or(DType::kInvalid);
    const DType to_type = type_attr(bytes(to), "dtype").value_or(DType::kInvalid);
    const Shape from_shape = variable_shape(bytes(from)), to_shape = variable_shape(bytes(to));
    if (from_type != to_type || !compatible(from_shape, to_shape)) {
      throw refused(dtype_name(to_type) + shape_text(to_shape) + ", '" + printable(wanted) + "' is " +
                    dtype_name(from_type) + shape_text(from_shape))
          .of(quoted("variable", name));
    }
    return {rest, from, to, {}};
  }

  void add(std::string node_def) {
    changes_.added.emplace_back(node_name(node_def), node_op(node_def));
    nodes_.push_back(std::move(node_def));
  }

  // A node that gives the variable's value: its own read where it has one, which no control input delays.
  std::string read_of(NodeId variable, const std::string& below) {
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
      builder.type("dtype", type_of(variable));
    } else {
      builder.type("T", type_of(variable)).attr("_class", colocation_value(name));
    }
    add(builder.take());
    return read;
  }

  DType type_of(NodeId variable) const {
    return type_attr(bytes(variable), "dtype").value_or(DType::kInvalid);
  }

  // tau and 1 - tau in the type; made once.
  const std::pair<std::string, std::string>& factors(DType type) {
    const auto found = factors_.find(type);
    if (found != factors_.end()) return found->second;
    const std::string tau = names_.free(operation_ + "/tau"),
                      rest = names_.free(operation_ + "/one_minus_tau");
    add(scalar_const(tau, type, *request_.tau));
    add(scalar_const(rest, type, 1 - *request_.tau));
    return factors_.emplace(type, std::pair(tau, rest)).first->second;
  }

  std::string binary(const std::string& name, std::string_view op, const Pair& pair, const std::string& a,
                     const std::string& b) {
    const std::string free = names_.free(name);
    NodeBuilder builder(free, op);
    builder.input(a).input(b).device(node_head(bytes(pair.to)).device).type("T", type_of(pair.to));
    add(builder.take());
    return free;
  }

  std::string value_for(const Pair& pair) {
    const std::string source = read_of(pair.from, pair.assign);
    const DType type = type_of(pair.to);
    if (request_.tau && *request_.tau < 1 && floating(type)) {
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
  std::string own_bytes(const Pair& pair, const std::string& source) {
    const std::string name = names_.free(pair.assign + "/copy");
    NodeBuilder builder(name, "DeepCopy");
    builder.input(source).device(node_head(bytes(pair.to)).device).type("T", type_of(pair.to));
    add(builder.take());
    return name;
  }

  void add_assign(const Pair& pair) {
    const std::string value = value_for(pair);
    const NodeHead head = node_head(bytes(pair.to));
    NodeBuilder builder(pair.assign, is_resource(pair.to) ? "AssignVariableOp" : "Assign");
    builder.input(head.name).input(value).device(head.device);
    if (is_resource(pair.to)) {
      builder.attr("_class", colocation_value(head.name)).type("dtype", type_of(pair.to));
    } else {
      // A variable without a fixed shape takes whatever it is assigned, as its initializer does.
      std::string yes, fixed;
      append_varint_field(yes, attr_field::kBool, 1);
      append_varint_field(fixed, attr_field::kBool, fully_known(variable_shape(bytes(pair.to))) ? 1 : 0);
      builder.type("T", type_of(pair.to)).attr("_class", colocation_value(head.name));
      builder.attr("use_locking", yes).attr("validate_shape", fixed);
    }
    add(builder.take());
  }

  void note_rest() {
    size_t count = 0;
    std::string first;
    for (const NodeId id : variables_) {
      const std::string_view name = facts_.graph().name(id);
      if (!under(name, from_) || (from_.empty() && under(name, to_))) continue;
      const NodeId partner = facts_.names().find(to_ + std::string(name.substr(from_.size())));
      if (partner != kNoNode && is_variable_op(op(partner))) continue;
      if (count++ == 0) first = name;
    }
    if (count == 0) return;
    changes_.notes.push_back(fmt::format("{} of '{}' {} no partner in '{}', first '{}'",
                                         count == 1 ? "1 variable" : std::to_string(count) + " variables",
                                         printable(scope_of_prefix(from_)), count == 1 ? "has" : "have",
                                         printable(scope_of_prefix(to_)), printable(first)));
  }

  const SyncRequest request_;
  Facts facts_;
  NewNames names_;
  std::string from_, to_, operation_;
  std::vector<NodeId> variables_;
  NodeSet trainable_, stepped_, taken_;  // stepped: first input of an Apply op; taken: another input
  bool has_trainable_ = false;
  std::vector<Pair> pairs_;
  std::map<DType, std::pair<std::string, std::string>> factors_;
  std::vector<std::string> nodes_;
  Changes changes_;
};

}  // namespace

Changes sync(Model& model, Registry& ops, const SyncRequest& request) {
  model.graph().decode();
  return Syncing(model, ops, request).run();
}

}  // namespace gedit
