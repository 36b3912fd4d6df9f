#include "check/nodes.h"

#include <algorithm>
#include <optional>

#include "graph/alike.h"
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

void check_nodes(const CheckedGraph& in, const NodeContext& context, const Functions& functions,
                 const NodeSet* only, Report& report, Report& calls) {
  for (const NodeId id : in.names.duplicates()) {
    if (only == nullptr || only->has(id)) report.add(Rule::kDuplicate, in.subject(id), "duplicate name");
  }
  std::optional<OpsOf<OpTable>> producers_ops;
  if (context.producer_ops != nullptr) producers_ops.emplace(in.graph, *context.producer_ops);
  look_at_nodes(
      in, only, report, calls,
      [&, attrs = Attrs(), faultless = AlikeAttrs<InputTypes>(in.graph)](NodeId id, Report& found,
                                                                         Report& called) mutable {
        if (in.graph.any_doubled()) check_head_once(in, id, found);
        NodeHead head;
        head.id = id;
        attrs.clear();
        std::string_view attr_fields;
        InputTypes* known = nullptr;  // attributes in which no fault was found, when another node had them
        for (Fields fields(in.graph.bytes(id)); fields.next();) {
          if (fields->wire != Wire::kBytes) continue;
          const bool headed = head.name.data() != nullptr && head.op.data() != nullptr;
          if (fields->number == node_field::kAttr && attrs.empty() && headed) {
            attr_fields = attrs_from(fields->raw.data(), in.graph.bytes(id));
            known = faultless.find(id, attr_fields);
            if (known != nullptr) break;
          }
          switch (fields->number) {
            case node_field::kName:
              head.name = fields->value;
              break;
            case node_field::kOp:
              head.op = fields->value;
              break;
            case node_field::kAttr: {
              const MapEntry entry = map_entry(fields->value);
              attrs.emplace_back(entry.key, entry.value);
              if (values_of_entry(fields->value) > 1)
                found.add(Rule::kTwice, in.subject(id), quoted("attribute", entry.key) + " has two values");
              break;
            }
            default:
              break;
          }
        }
        check_name(in, id, head.name, found);
        const OpFacts& facts = in.facts.of(id);
        const OpFacts* producers_facts = producers_ops ? &producers_ops->of(id) : nullptr;
        if (!facts.known) {
          found.add(Rule::kUnknownOp, in.subject(id),
                    head.op.empty() ? std::string("a node without an op")
                                    : quoted("op", head.op) + " is not known, so its types are not checked");
        }
        InputTypes own;
        InputTypes& takes = known != nullptr ? *known : own;
        check_inputs(in, id, head, facts, takes, found);
        if (known != nullptr) {
          if (context.security) check_safety(in, id, head, found);
          return;
        }
        const size_t before = found.size() + called.size();
        check_attributes(in, id, head, facts, producers_facts, attrs, context, found);
        for (const auto& [key, value] : attrs) {
          check_once(in, id, key, value, found);
          if (!key.starts_with('_') || in.body) continue;
          if (attr_role(head.op, key) == Role::kColocation) check_colocation(in, id, value, found);
          if (key == "_output_shapes") check_output_shapes(in, id, head, value, context, found);
        }
        if (is_const_op(head.op)) check_const(in, id, attrs, found);
        check_calls(in, id, attrs, functions, called);
        if (found.size() + called.size() == before) faultless.keep(id, attr_fields, std::move(own));
        if (context.security) check_safety(in, id, head, found);
      });
}

}  // namespace gedit
