#include "edit/basis/contexts.h"

#include <unordered_set>
#include <utility>

#include "graph/references.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr int kLongestWayOut = 4;  // Identities between a Switch and its Exit; TensorFlow makes none or one

// The fields of a CondContextDef, of a WhileContextDef, and of the ControlFlowContextDef around either.
constexpr uint32_t kCondValues = 5, kCondNested = 6, kLoopPivot = 5, kLoopExits = 8, kLoopValues = 9,
                   kLoopNested = 12, kIsCond = 1, kIsLoop = 2;

bool is_pivot(bool cond, uint32_t field) {
  return cond ? field == 2 || field == 3 : field >= 5 && field <= 7;
}

bool is_called(std::string_view name, std::string_view counter) {
  return name.substr(name.rfind('/') + 1).starts_with(counter);
}

// What tf.gradients adds to a loop to count its steps (python/ops/control_flow_ops.py,
// AddForwardLoopCounter): no variable of the loop as it was written.
bool is_forward_counter(std::string_view exit) { return is_called(exit, "f_count"); }

// The condition of the loop that tf.gradients counts down in (AddBackpropLoopCounter).
bool is_backward_counter(std::string_view pivot) { return is_called(pivot, "b_count"); }

}  // namespace

Contexts::Contexts(const Facts& facts) : facts_(facts) {
  for (const Collection& collection : facts.collections()) {
    if (collection.kind != collection_kind::kBytesList) continue;
    const Schema* schema = collection_row(collection.key).schema;
    if (schema != &kCondContextDef && schema != &kWhileContextDef) continue;
    for (const std::string_view item : collection.items) read(item, schema == &kCondContextDef, 0);
  }
  for (size_t i = 0; i < contexts_.size(); ++i) {
    for (const NodeId value : contexts_[i].values) contexts_of_[index_of(value)].push_back(i);
  }
}

// Nested contexts are contexts of their own, and come whole with the one around them.
std::vector<NodeId> Contexts::read(std::string_view def, bool cond, int depth) {
  if (depth > kDeepest) throw Malformed(def.data(), "contexts nest too deep");
  Context context;
  std::vector<NodeId> nested;
  std::unordered_set<std::string_view> external;
  std::vector<std::string_view> values;
  const auto find = [&](std::string_view name) { return facts_.names().find(node_of(name)); };
  for (Fields fields(def); fields.next();) {
    const uint32_t number = fields->number;
    if (fields->wire != Wire::kBytes) continue;
    const NodeId named =
        is_pivot(cond, number) || (!cond && number == kLoopExits) ? find(fields->value) : kNoNode;
    if (named != kNoNode && is_pivot(cond, number)) {
      context.whole.push_back(named);
    } else if (named != kNoNode) {
      if (const NodeId by = switch_of_exit(facts_, named); by != kNoNode) exits_.push_back({named, by});
      if (!is_forward_counter(fields->value)) context.whole.push_back(named);
    }
    if (number == (cond ? kCondValues : kLoopValues)) {
      for (Fields values_def(fields->value); values_def.next();) {
        if (values_def->bytes(1)) values.push_back(values_def->value);
        if (values_def->bytes(2)) external.insert(map_entry(values_def->value).key);
      }
    }
    if (number != (cond ? kCondNested : kLoopNested)) continue;
    for (Fields one(fields->value); one.next();) {
      if (one->wire != Wire::kBytes || (one->number != kIsCond && one->number != kIsLoop)) continue;
      const std::vector<NodeId> inner = read(one->value, one->number == kIsCond, depth + 1);
      if (one->number == kIsLoop && is_backward_counter(last_bytes(one->value, kLoopPivot))) continue;
      nested.insert(nested.end(), inner.begin(), inner.end());
    }
  }
  if (cond) add_pivots(context);
  // Values from outside are listed among the values, too (ops/control_flow_ops.py, AddValue), and so are the
  // pivots of a cond, which come along with its other branch and ask for nothing of this one.
  std::unordered_set<uint32_t> pivots;
  if (cond) {
    for (const NodeId pivot : context.whole) pivots.insert(index_of(pivot));
  }
  for (const std::string_view value : values) {
    const NodeId id = external.contains(value) ? kNoNode : find(value);
    if (id != kNoNode && !pivots.contains(index_of(id))) context.values.push_back(id);
  }
  context.whole.insert(context.whole.end(), nested.begin(), nested.end());
  contexts_.push_back(context);
  return context.whole;
}

// Both pivots of a cond are Identities of one Switch; nothing needs to read them (docs/tensorflow.md#conds).
void Contexts::add_pivots(Context& context) const {
  const std::vector<NodeId> known = context.whole;
  for (const NodeId pivot : known) {
    for (const NodeId source : facts_.producers().of(pivot)) {
      if (!is_switch_op(node_op(facts_.graph().bytes(source)))) continue;
      context.whole.push_back(source);
      for (const NodeId reader : facts_.consumers().of(source)) {
        const std::string_view name = facts_.graph().name(reader);
        if (name.ends_with("/switch_t") || name.ends_with("/switch_f")) context.whole.push_back(reader);
      }
    }
  }
}

void Contexts::add(NodeId node, const std::function<void(NodeId)>& want) {
  const auto found = contexts_of_.find(index_of(node));
  if (found == contexts_of_.end()) return;
  for (const size_t number : found->second) {
    if (std::exchange(contexts_[number].done, true)) continue;
    for (const NodeId needed : contexts_[number].whole) want(needed);
  }
}

NodeId switch_of_exit(const Facts& facts, NodeId exit) {
  NodeId at = exit;
  for (int step = 0; step < kLongestWayOut; ++step) {
    const auto sources = facts.producers().of(at);
    if (sources.empty()) break;
    at = sources.front();
    const std::string_view op = node_op(facts.graph().bytes(at));
    if (is_switch_op(op)) return at;
    if (!is_identity_op(op) && !is(op, OpKind::kRefIdentity)) break;
  }
  return kNoNode;
}

}  // namespace gedit
