#include "diff/nodes.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/parallel.h"
#include "graph/edges.h"
#include "graph/listing.h"
#include "graph/scanner.h"

namespace gedit {
namespace {

constexpr size_t kMostInputs = 8;  // inputs, of many

struct ComparedNode {
  NodeHead head;
  std::vector<std::string> inputs;  // of data, without `:0`
  std::set<std::string_view> controls;
  std::map<std::string_view, std::string_view> attrs;
  std::map<uint32_t, std::string> others;  // fields that a listing does not name
};

ComparedNode parts_of(std::string_view node_def, bool body) {
  ComparedNode parts;
  for (Fields fields(node_def); fields.next();) {
    if (fields->bytes(node_field::kName)) {
      parts.head.name = fields->value;
    } else if (fields->bytes(node_field::kOp)) {
      parts.head.op = fields->value;
    } else if (fields->bytes(node_field::kDevice)) {
      parts.head.device = fields->value;
    } else if (fields->bytes(node_field::kInput)) {
      const std::string_view text = fields->value;
      if (text.starts_with('^')) {
        parts.controls.insert(text);
      } else {
        const bool first = !body && text.size() > 2 && text.ends_with(":0");
        parts.inputs.emplace_back(first ? text.substr(0, text.size() - 2) : text);
      }
    } else if (fields->bytes(node_field::kAttr)) {
      const MapEntry entry = map_entry(fields->value);
      parts.attrs[entry.key] = entry.value;
    } else {
      parts.others[fields->number] += fields->raw;
    }
  }
  return parts;
}

// As in a listing: bare where it has no blanks.
std::string device_text(std::string_view device) {
  const bool bare =
      !device.empty() && std::ranges::all_of(device, [](char c) { return c > ' ' && c < 0x7f; });
  std::string text;
  if (bare) {
    text = device;
  } else {
    print_quoted(text, device);
  }
  return text;
}

std::string name_text(std::string_view name) {
  std::string text;
  print_name(text, name);
  return text;
}

std::string inputs_text(const std::vector<std::string>& inputs, size_t begin, size_t end) {
  std::string text = "(";
  for (size_t i = begin; i < end && i < begin + kMostInputs; ++i) {
    if (i > begin) text += ", ";
    print_input(text, inputs[i]);
  }
  if (end > begin + kMostInputs) text += ", ... " + std::to_string(end - begin - kMostInputs) + " more";
  return text + ")";
}

// Inputs at the front and at the back that are the same are not shown.
void compare_inputs(const std::vector<std::string>& before, const std::vector<std::string>& after,
                    std::vector<std::string>& what) {
  if (before == after) return;
  if (before.size() == after.size()) {
    size_t shown = 0, differ = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i] == after[i]) continue;
      if (++differ > kMostInputs) continue;
      std::string text = "input " + std::to_string(i) + ": ";
      print_input(text, before[i]);
      text += " -> ";
      print_input(text, after[i]);
      what.push_back(std::move(text));
      ++shown;
    }
    if (differ > shown) what.push_back(std::to_string(differ - shown) + " more inputs");
    return;
  }
  const size_t shorter = std::min(before.size(), after.size());
  size_t front = 0, back = 0;
  while (front < shorter && before[front] == after[front]) ++front;
  while (back < shorter - front && before[before.size() - 1 - back] == after[after.size() - 1 - back]) ++back;
  what.push_back("inputs from " + std::to_string(front) + ": " +
                 inputs_text(before, front, before.size() - back) + " -> " +
                 inputs_text(after, front, after.size() - back));
}

void compare_controls(const std::set<std::string_view>& before, const std::set<std::string_view>& after,
                      std::vector<std::string>& what) {
  const auto lone = [&](const char* sign, const auto& here, const auto& there) {
    size_t count = 0;
    for (const std::string_view control : here) {
      if (there.contains(control)) continue;
      if (++count > kMostInputs) continue;
      std::string text = sign;
      print_input(text, control);
      what.push_back(std::move(text));
    }
    if (count > kMostInputs)
      what.push_back(sign + std::to_string(count - kMostInputs) + " more control inputs");
  };
  lone("- ", before, after);
  lone("+ ", after, before);
}

}  // namespace

std::string value_text(std::string_view attr_value) {
  std::string text;
  print_attr_value(text, attr_value, false);
  return text;
}

bool same_value(std::string_view before, std::string_view after) {
  return before == after || value_text(before) == value_text(after);
}

bool is_ignored(const DiffOptions& options, std::string_view key) {
  return std::ranges::any_of(options.ignored, [&](std::string_view pattern) {
    if (!pattern.ends_with('*')) return pattern == key;
    return key.starts_with(pattern.substr(0, pattern.size() - 1));
  });
}

bool is_annotation(std::string_view key) { return key.starts_with('_') || key == "debug_name"; }

bool is_minor(const DiffOptions& options, std::string_view key) {
  return options.ignored.empty() && is_annotation(key);
}

const NodeComparison::Defaults& NodeComparison::defaults(Registry& ops, std::string_view op,
                                                         KnownDefaults& known) {
  const std::string_view op_def = ops.find(op);  // its bytes stay where they are, the node's may not
  const auto [found, fresh] = known.try_emplace(op_def);
  if (!fresh || op_def.empty()) return found->second;
  for (const AttrDef& attr : parse_op_def(op_def).attrs) {
    if (attr.has_default) found->second.emplace(attr.name, attr.default_value);
  }
  return found->second;
}

std::vector<std::string> NodeComparison::differences(std::string_view before, std::string_view after,
                                                     bool body) {
  std::vector<std::string> what;
  if (before == after) return what;
  const ComparedNode a = parts_of(before, body), b = parts_of(after, body);
  if (a.head.op != b.head.op) what.push_back("op " + name_text(a.head.op) + " -> " + name_text(b.head.op));
  compare_inputs(a.inputs, b.inputs, what);
  compare_controls(a.controls, b.controls, what);
  if (a.head.device != b.head.device)
    what.push_back("device " + device_text(a.head.device) + " -> " + device_text(b.head.device));
  const auto at_default = [](const Defaults& defaults, std::string_view key, std::string_view value) {
    const auto found = defaults.find(key);
    return found != defaults.end() && same_value(found->second, value);
  };
  const Defaults none;
  const bool same = a.attrs == b.attrs;
  const Defaults& before_has = same ? none : defaults(before_, a.head.op, defaults_before_);
  const Defaults& after_has = same ? none : defaults(after_, b.head.op, defaults_after_);
  size_t minor = 0;
  const auto differs = [&](std::string_view key, std::string text) {
    if (is_ignored(options_, key)) return;
    minor += is_minor(options_, key) ? 1 : 0;
    what.push_back(std::move(text));
  };
  for (const auto& [key, value] : a.attrs) {
    const auto other = b.attrs.find(key);
    if (other == b.attrs.end()) {
      if (!at_default(before_has, key, value)) differs(key, "- " + name_text(key) + ": " + value_text(value));
    } else if (!same_value(value, other->second)) {
      differs(key, name_text(key) + ": " + value_text(value) + " -> " + value_text(other->second));
    }
  }
  for (const auto& [key, value] : b.attrs) {
    if (!a.attrs.contains(key) && !at_default(after_has, key, value))
      differs(key, "+ " + name_text(key) + ": " + value_text(value));
  }
  std::map<uint32_t, std::string> others = a.others;
  for (const auto& [number, bytes] : b.others) others[number] = others[number] == bytes ? "" : "differs";
  for (const auto& [number, state] : others) {
    if (!state.empty()) what.push_back("field " + std::to_string(number));
  }
  if (minor == what.size()) what.clear();
  return what;
}

Matched match_nodes(const Graph& before, const Graph& after, const Names& names_after) {
  Matched matched;
  matched.partner.assign(before.size(), kNoNode);
  NodeSet taken(after.size());
  std::vector<NodeId> found(before.size());
  std::unordered_map<std::string_view, std::vector<NodeId>> again;  // the second and later ones of a name
  for (const NodeId id : names_after.duplicates()) again[after.name(id)].push_back(id);
  std::unordered_map<std::string_view, size_t> used;
  in_pieces(before.size(), [&](size_t, PieceRange nodes) {
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      const NodeId id{i};
      const std::string_view name = before.name(id);
      // Most nodes stand where they stood.
      const bool stands = i < after.size() && again.empty() && after.name(id) == name;
      found[i] = stands ? id : names_after.find(name, before.hash(id));
    }
  });
  for (uint32_t i = 0; i < before.size(); ++i) {
    const NodeId id{i};
    NodeId partner = found[i];
    if (partner != kNoNode && taken.has(partner)) {
      const std::string_view name = before.name(id);
      const auto more = again.find(name);
      size_t& next = used[name];
      partner = more != again.end() && next < more->second.size() ? more->second[next++] : kNoNode;
    }
    if (partner == kNoNode) continue;
    taken.add(partner);
    matched.partner[i] = partner;
  }
  for (uint32_t i = 0; i < after.size(); ++i) {
    if (!taken.has(NodeId{i})) matched.added.push_back(NodeId{i});
  }
  return matched;
}

}  // namespace gedit
