// Attributes of a node against the definition of its op.
#include <algorithm>
#include <unordered_set>

#include "check/nodes.h"
#include "graph/listing.h"

namespace gedit {
namespace {

constexpr std::string_view kFieldWords[] = {"nothing", "list",  "string", "int",         "float", "bool",
                                            "type",    "shape", "tensor", "placeholder", "func"};

std::string value_words(const Field& value) {
  return value.number < std::size(kFieldWords) ? std::string(kFieldWords[value.number]) : "unknown";
}

// The one field of an AttrValue: a oneof, of which the last counts.
Field value_of(std::string_view attr_value) {
  Field value;
  for (Fields fields(attr_value); fields.next();) value = fields.field();
  return value;
}

// Attributes are of plain types: references are the op's business (attr_value_util.cc, AttrValueHasType).
std::string dtype_fault(const AttrRule& rule, const Field& value) {
  std::string fault;
  const auto type = [&](uint64_t number) {
    const auto dtype = static_cast<DType>(number);
    if (is_reference(dtype)) fault = "is " + dtype_word(dtype) + ", a reference type";
    if (dtype == DType::kInvalid) fault = "is DT_INVALID";
  };
  if (rule.element == 0 && value.number == attr_field::kType) type(value.varint);
  if (rule.element == attr_field::kType) {
    for (Fields list(value.value); list.next();) {
      if (list->number == attr_field::kType) each_varint(list.field(), type);
    }
  }
  return fault;
}

// Why the value is not one of the attribute's type; empty where it is one.
std::string type_fault(const AttrRule& rule, const Field& value) {
  if (rule.field == 0) return {};
  const std::string expected(rule.def.type);
  // An empty list may be written as nothing at all (GraphDefs up to version 4).
  if (value.number == 0 && rule.element != 0) return {};
  if (value.number != rule.field) return "is " + value_words(value) + ", not " + expected;
  if (rule.element == 0) return {};
  for (Fields list(value.value); list.next();) {
    if (list->number == rule.element) continue;
    const uint32_t kind = list->number == attr_field::kListFunc ? attr_field::kFunc : list->number;
    return "is list(" + std::string(kind < std::size(kFieldWords) ? kFieldWords[kind] : "unknown") +
           "), not " + expected;
  }
  return {};
}

size_t list_size(const AttrRule& rule, const Field& value) {
  size_t count = 0;
  for (Fields list(value.value); list.next();) {
    if (list->number != rule.element) continue;
    const bool packed = list->wire == Wire::kBytes &&
                        (rule.element == attr_field::kInt || rule.element == attr_field::kType ||
                         rule.element == attr_field::kBool);
    if (packed) {
      each_varint(list.field(), [&](uint64_t) { ++count; });
    } else if (list->wire == Wire::kBytes && rule.element == attr_field::kFloat) {
      count += list->value.size() / 4;
    } else {
      ++count;
    }
  }
  return count;
}

std::string allowed_fault(const AttrRule& rule, const Field& value) {
  std::string fault;
  const auto type = [&](uint64_t number) {
    const auto wanted = static_cast<DType>(number);
    if (!fault.empty() || std::ranges::find(rule.allowed_types, wanted) != rule.allowed_types.end()) return;
    fault = "is " + dtype_word(wanted) + ", which it does not take";
  };
  const auto text = [&](std::string_view wanted) {
    if (!fault.empty() || std::ranges::find(rule.allowed_strings, wanted) != rule.allowed_strings.end())
      return;
    fault = "is \"" + std::string(wanted) + "\", which it does not take";
  };
  const auto one = [&](const Field& field, uint32_t number) {
    if (field.number != number) return;
    if (number == attr_field::kType && !rule.allowed_types.empty()) each_varint(field, type);
    if (number == attr_field::kString && !rule.allowed_strings.empty() && field.wire == Wire::kBytes)
      text(field.value);
  };
  if (rule.element == 0) {
    one(value, rule.field);
  } else {
    for (Fields list(value.value); list.next();) one(list.field(), rule.element);
  }
  return fault;
}

std::string minimum_fault(const AttrRule& rule, const Field& value) {
  if (!rule.def.has_minimum) return {};
  const bool list = rule.element != 0;
  if (!list && rule.field != attr_field::kInt) return {};
  const auto is = list ? static_cast<int64_t>(list_size(rule, value)) : static_cast<int64_t>(value.varint);
  if (is >= rule.def.minimum) return {};
  return (list ? "has " + std::to_string(is) + " entries" : "is " + std::to_string(is)) + ", at least " +
         std::to_string(rule.def.minimum) + (list ? " are needed" : " is needed");
}

// In a function the value may be the caller's (`placeholder`).
std::string value_fault(const AttrRule& rule, std::string_view attr_value, bool body) {
  const Field value = value_of(attr_value);
  if (body && value.number == attr_field::kPlaceholder) return {};
  std::string fault = type_fault(rule, value);
  if (fault.empty()) fault = dtype_fault(rule, value);
  if (!fault.empty()) return fault;
  if (!rule.allowed_types.empty() || !rule.allowed_strings.empty()) fault = allowed_fault(rule, value);
  return fault.empty() ? minimum_fault(rule, value) : fault;
}

// What the file's own list of ops says of the attribute: nothing where it has no such op.
std::optional<bool> producer_knows(const OpFacts* producers_facts, std::string_view key) {
  if (producers_facts == nullptr || !producers_facts->known) return std::nullopt;
  return producers_facts->find(key) != nullptr;
}

}  // namespace

void check_attributes(const CheckedGraph& in, NodeId id, const NodeHead& head, const OpFacts& facts,
                      const OpFacts* producers_facts, const Attrs& attrs, const NodeContext& context,
                      Report& report) {
  if (!facts.known) return;
  const auto wrong = [&](std::string_view key, const std::string& what) {
    report.add(Rule::kAttribute, in.subject(id), quoted("attribute", key) + " " + what);
  };
  if (facts.def.deprecated > 0 && context.producer >= facts.def.deprecated) {
    report.add(Rule::kDeprecatedOp, in.subject(id),
               std::string(head.op) + " is gone from GraphDef version " +
                   std::to_string(facts.def.deprecated) + " on, the producer is " +
                   std::to_string(context.producer));
  }
  const auto warn = [&](std::string_view key, const std::string& what) {
    report.add(Rule::kImport, in.subject(id), quoted("attribute", key) + " " + what);
  };
  size_t required = 0;  // of the op's attributes without a default, those that the node has
  for (const auto& [key, value] : attrs) {
    if (key.starts_with('_')) continue;  // TensorFlow's own, never in a definition
    const AttrRule* rule = facts.find(key);
    const std::optional<bool> known = producer_knows(producers_facts, key);
    if (rule == nullptr) {
      if (known.value_or(false)) {
        warn(key, "is known to the producer's " + std::string(head.op) + ", not to the one here");
      } else {
        wrong(key, "is not in op " + std::string(head.op));
      }
      continue;
    }
    required += rule->def.has_default ? 0 : 1;
    const std::string fault = value_fault(*rule, value, in.body);
    if (!fault.empty()) wrong(key, fault);
    if (!known.value_or(true)) {
      warn(key, "is newer than the producer's " + std::string(head.op) + ": an older TensorFlow refuses it");
    }
  }
  if (required >= facts.required) return;
  std::unordered_set<std::string_view> there;
  for (const auto& [key, value] : attrs) there.insert(key);
  for (const AttrRule& rule : facts.attrs) {
    if (!rule.def.has_default && !there.contains(rule.def.name))
      wrong(rule.def.name, "is required and missing");
  }
}

}  // namespace gedit
