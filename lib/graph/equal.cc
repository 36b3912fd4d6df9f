#include "graph/equal.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/wire.h"
#include "graph/library.h"
#include "graph/node.h"
#include "graph/references.h"

namespace gedit {
namespace {

using Entries = std::map<std::string_view, std::string_view>;  // key to value; of a key given twice the last

Entries entries_of(std::string_view message, uint32_t field) {
  Entries entries;
  for (Fields fields(message); fields.next();) {
    if (!fields->bytes(field)) continue;
    const MapEntry entry = map_entry(fields->value);
    entries[entry.key] = entry.value;
  }
  return entries;
}

bool same_values(std::string_view a, std::string_view b, int depth);

bool same_entries(const Entries& a, const Entries& b, int depth) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return x.first == y.first && same_values(x.second, y.second, depth);
  });
}

bool same_name_attr_list(std::string_view a, std::string_view b, int depth) {
  return last_bytes(a, 1) == last_bytes(b, 1) && same_entries(entries_of(a, 2), entries_of(b, 2), depth + 1);
}

bool same_values(std::string_view a, std::string_view b, int depth) {
  if (a == b) return true;
  if (depth > kDeepest) throw Malformed(a.data(), "attribute values nest too deep");
  Fields left(a), right(b);
  for (;;) {
    const bool more = left.next();
    if (more != right.next()) return false;
    if (!more) return true;
    if (left->raw == right->raw) continue;
    if (left->number != right->number || left->wire != Wire::kBytes || right->wire != Wire::kBytes)
      return false;
    if (left->number == attr_field::kFunc) {
      if (!same_name_attr_list(left->value, right->value, depth)) return false;
      continue;
    }
    if (left->number != attr_field::kList) return false;
    Fields one(left->value), other(right->value);
    for (;;) {
      const bool item = one.next();
      if (item != other.next()) return false;
      if (!item) break;
      if (one->raw == other->raw) continue;
      if (!one->bytes(attr_field::kListFunc) || !other->bytes(attr_field::kListFunc)) return false;
      if (!same_name_attr_list(one->value, other->value, depth)) return false;
    }
  }
}

Entries attrs_of(std::string_view node_def, bool internal) {
  Entries attrs = entries_of(node_def, node_field::kAttr);
  if (!internal) std::erase_if(attrs, [](const auto& attr) { return attr.first.starts_with('_'); });
  return attrs;
}

// Data inputs in their order, then control inputs sorted.
std::vector<std::string_view> inputs_of(std::string_view node_def) {
  std::vector<std::string_view> data, control;
  each_input(node_def,
             [&](std::string_view input) { (input.starts_with('^') ? control : data).push_back(input); });
  std::sort(control.begin(), control.end());
  data.insert(data.end(), control.begin(), control.end());
  return data;
}

bool same_node(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const NodeHead one = node_head(a), other = node_head(b);
  return one.op == other.op && one.device == other.device && inputs_of(a) == inputs_of(b) &&
         same_attrs(a, b, false);
}

bool same_nodes(std::string_view a, std::string_view b) {
  Arena made;
  std::unordered_map<std::string_view, std::string_view> nodes;
  size_t count = 0;
  each_node_in(a, made, [&](std::string_view node_def) {
    nodes[node_name(node_def)] = node_def;
    ++count;
  });
  bool same = true;
  each_node_in(b, made, [&](std::string_view node_def) {
    const auto found = nodes.find(node_name(node_def));
    same = same && count-- > 0 && found != nodes.end() && same_node(found->second, node_def);
  });
  return same && count == 0;
}

// An OpDef: its attributes by name, everything else in order (core/framework/op_def_util.cc, OpDefEqual).
bool same_signature(std::string_view a, std::string_view b) {
  constexpr uint32_t kAttr = 4;
  if (a == b) return true;
  const auto parts = [](std::string_view op_def) {
    std::vector<std::string_view> rest, attrs;
    for (Fields fields(op_def); fields.next();) {
      (fields->bytes(kAttr) ? attrs : rest).push_back(fields->raw);
    }
    std::sort(attrs.begin(), attrs.end());
    rest.insert(rest.end(), attrs.begin(), attrs.end());
    return rest;
  };
  return parts(a) == parts(b);
}

}  // namespace

bool same_attr_value(std::string_view a, std::string_view b) { return same_values(a, b, 0); }

bool same_attrs(std::string_view a, std::string_view b, bool internal) {
  return same_entries(attrs_of(a, internal), attrs_of(b, internal), 0);
}

bool same_function(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto same_map = [&](uint32_t field) { return entries_of(a, field) == entries_of(b, field); };
  return same_signature(last_bytes(a, function_field::kSignature),
                        last_bytes(b, function_field::kSignature)) &&
         same_entries(entries_of(a, function_field::kAttr), entries_of(b, function_field::kAttr), 0) &&
         same_map(function_field::kRet) && same_map(function_field::kControlRet) && same_nodes(a, b);
}

}  // namespace gedit
