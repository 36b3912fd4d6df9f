#include "check/nodes.h"

#include <algorithm>
#include <array>
#include <optional>

#include "graph/colocation.h"
#include "graph/references.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

void check_name(const CheckedGraph& in, NodeId id, std::string_view name, Report& report) {
  // Names that begin with `_` are TensorFlow's own; functions may hold such nodes.
  std::string_view shown = name;
  if (in.body && name.starts_with('_')) name.remove_prefix(1);
  const size_t at = invalid_name_at(name);
  if (at == std::string_view::npos) return;
  if (shown.empty()) return report.add(Rule::kName, in.subject(id), "a node without a name");
  const size_t offset = at + (shown.size() - name.size());
  report.add(Rule::kName, in.subject(id),
             offset < shown.size() ? "not a node name (character " + std::to_string(offset + 1) + ", '" +
                                         std::string(shown.substr(offset, 1)) + "')"
                                   : std::string("not a node name (nothing after '>')"));
}

void twice(const CheckedGraph& in, NodeId id, std::string_view what, std::string_view first,
           std::string_view second, Report& report) {
  report.add(Rule::kTwice, in.subject(id),
             "two " + std::string(what) + ", '" + std::string(first) + "' and '" + std::string(second) + "'");
}

// What the file says of the node before protobuf decides.
void check_head_once(const CheckedGraph& in, NodeId id, Report& report) {
  NodeHead head;
  const auto once = [&](std::string_view what, std::string_view& before, std::string_view now) {
    if (before.data() != nullptr) twice(in, id, what, before, now, report);
    before = now;
  };
  for (Fields fields(in.graph.found_bytes(id)); fields.next();) {
    if (fields->bytes(node_field::kName)) once("names", head.name, fields->value);
    if (fields->bytes(node_field::kOp)) once("ops", head.op, fields->value);
    if (fields->bytes(node_field::kDevice)) once("devices", head.device, fields->value);
  }
}

size_t values_of_entry(std::string_view entry) {
  size_t count = 0;
  for (Fields fields(entry); fields.next();) count += fields->number == 2 ? 1 : 0;
  return count;
}

// Of a oneof, or of a message that is no list, there is one; protobuf joins what is there twice.
void check_once(const CheckedGraph& in, NodeId id, std::string_view key, std::string_view value,
                Report& report) {
  size_t values = 0, shapes = 0;
  for (Fields fields(value); fields.next();) {
    if (fields->number < attr_field::kList || fields->number > attr_field::kFunc) continue;
    ++values;
    if (!fields->bytes(attr_field::kTensor)) continue;
    for (Fields tensor(fields->value); tensor.next();) shapes += tensor->number == 2 ? 1 : 0;
  }
  if (values > 1) report.add(Rule::kTwice, in.subject(id), quoted("attribute", key) + " has two values");
  if (values == 1 && shapes > 1)
    report.add(Rule::kTwice, in.subject(id), quoted("attribute", key) + " has two shapes");
}

void check_colocation(const CheckedGraph& in, NodeId id, std::string_view value, Report& report) {
  for (Fields list(last_bytes(value, attr_field::kList)); list.next();) {
    const auto name = list->bytes(attr_field::kString) ? colocated_with(list->value) : std::nullopt;
    if (!name) continue;
    // Mostly it stands by what it reads, whose record is at hand.
    const bool read = std::ranges::any_of(in.producers.of(id),
                                          [&](NodeId producer) { return in.graph.name(producer) == *name; });
    if (read || in.names.find(*name) != kNoNode) continue;
    report.add(Rule::kColocation, in.subject(id),
               "colocated with " + quoted("node", *name) + ", which is not there");
  }
}

}  // namespace

std::string source_words(const CheckedGraph& in, size_t slot, DType type, NodeId producer) {
  std::string words = "input " + std::to_string(slot) + " is " + dtype_name(type);
  if (producer == kNoNode) return words;
  const std::string_view node_def = in.graph.bytes(producer);
  return words + " from " + quoted(node_op(node_def), node_name(node_def));
}

namespace {

// Looks at one node after the other. What attributes are checked for holds of all nodes that are alike, but
// for whom they stand by, and for what is compared with the node that is read.
class NodeChecker {
 public:
  NodeChecker(const CheckedGraph& in, const NodeContext& context, const Functions& functions,
              const OpsOf<OpTable>* producers_ops)
      : in_(in), context_(context), functions_(functions), producers_ops_(producers_ops) {}

  void operator()(NodeId id, Report& found, Report& called) {
    if (in_.graph.any_doubled()) check_head_once(in_, id, found);
    const std::string_view node_def = in_.graph.bytes(id);
    const NodeHead head{node_name(node_def), in_.graph.op(id), {}, id};
    const uint16_t number = in_.like.of(id);
    Faultless& known = known_[number % kPlaces];
    if (number != LikeNodes::kNone && known.number == number) {
      check_name(in_, id, head.name, found);
      if (!in_.facts.of(id).known) unknown_op(id, head.op, found);
      if (!inputs_fit(in_, id, known.takes))
        check_inputs(in_, id, head, in_.facts.of(id), known.takes, found);
      const bool shapes = known.compares_source && !same_source(id, known);
      if (in_.like.kind(number).colocated || shapes) {
        each_attr(node_def, [&](std::string_view key, std::string_view value) {
          check_surroundings(id, head, key, value, shapes, found);
        });
      }
    } else {
      look_at_all(id, head, found, called);
    }
    if (context_.security) check_safety(in_, id, head, found);
  }

 private:
  // What is known of nodes of a number: that there is no fault in their attributes.
  struct Faultless {
    uint16_t number = LikeNodes::kNone;
    bool compares_source = false;        // _output_shapes, with what stands at the node that is read first
    uint16_t source = LikeNodes::kNone;  // the number of that, where it agreed
    InputTypes takes{};
  };
  static constexpr size_t kPlaces = 256;

  void unknown_op(NodeId id, std::string_view op, Report& found) const {
    found.add(Rule::kUnknownOp, in_.subject(id),
              op.empty() ? std::string("a node without an op")
                         : quoted("op", op) + " is not known, so its types are not checked");
  }

  // The number of the node that is read first; kNone where it is not known, or nothing is read.
  uint16_t source_of(NodeId id) const {
    const LikeKind& kind = in_.like.kind(in_.like.of(id));
    if (!kind.first_outputs || kind.data_inputs == 0 || !in_.producers.complete()) return LikeNodes::kNone;
    return in_.like.of(in_.producers.of(id)[0]);
  }
  bool same_source(NodeId id, const Faultless& known) const {
    return known.source != LikeNodes::kNone && known.source == source_of(id);
  }

  void check_surroundings(NodeId id, const NodeHead& head, std::string_view key, std::string_view value,
                          bool shapes, Report& found) const {
    if (!key.starts_with('_') || in_.body) return;
    if (attr_role(head.op, key) == Role::kColocation) check_colocation(in_, id, value, found);
    if (shapes && key == "_output_shapes") check_output_shapes(in_, id, head, value, context_, found);
  }

  void look_at_all(NodeId id, const NodeHead& head, Report& found, Report& called) {
    attrs_.clear();
    const size_t at_first = found.size();
    for (Fields fields(in_.graph.bytes(id)); fields.next();) {
      if (!fields->bytes(node_field::kAttr)) continue;
      const MapEntry entry = map_entry(fields->value);
      attrs_.emplace_back(entry.key, entry.value);
      if (values_of_entry(fields->value) > 1)
        found.add(Rule::kTwice, in_.subject(id), quoted("attribute", entry.key) + " has two values");
    }
    bool faultless = found.size() == at_first;
    check_name(in_, id, head.name, found);
    const OpFacts& facts = in_.facts.of(id);
    if (!facts.known) unknown_op(id, head.op, found);
    InputTypes takes;
    check_inputs(in_, id, head, facts, takes, found);
    const size_t before = found.size() + called.size();
    const OpFacts* producers_facts = producers_ops_ != nullptr ? &producers_ops_->of(id) : nullptr;
    check_attributes(in_, id, head, facts, producers_facts, attrs_, context_, found);
    bool shaped = false;
    for (const auto& [key, value] : attrs_) {
      check_once(in_, id, key, value, found);
      check_surroundings(id, head, key, value, true, found);
      shaped = shaped || key == "_output_shapes";
    }
    if (in_.graph.is(id, OpKind::kConst)) check_const(in_, id, attrs_, found);
    check_calls(in_, id, attrs_, functions_, called);
    faultless = faultless && found.size() + called.size() == before;
    const uint16_t number = in_.like.of(id);
    if (!faultless || number == LikeNodes::kNone) return;
    const bool compares = shaped && in_.graph.is(id, OpKind::kKeepsFirstShape);
    known_[number % kPlaces] = {number, compares, compares ? source_of(id) : LikeNodes::kNone,
                                std::move(takes)};
  }

  const CheckedGraph& in_;
  const NodeContext& context_;
  const Functions& functions_;
  const OpsOf<OpTable>* producers_ops_;
  std::array<Faultless, kPlaces> known_;
  Attrs attrs_;
};

}  // namespace

void check_nodes(const CheckedGraph& in, const NodeContext& context, const Functions& functions,
                 const NodeSet* only, Report& report, Report& calls) {
  for (const NodeId id : in.names.duplicates()) {
    if (only == nullptr || only->has(id)) report.add(Rule::kDuplicate, in.subject(id), "duplicate name");
  }
  std::optional<OpsOf<OpTable>> producers_ops;
  if (context.producer_ops != nullptr) producers_ops.emplace(in.graph, *context.producer_ops);
  look_at_nodes(in, only, report, calls,
                NodeChecker(in, context, functions, producers_ops ? &*producers_ops : nullptr));
}

}  // namespace gedit
