#include "prove/labels.h"

#include <algorithm>
#include <map>

#include "graph/alike.h"
#include "graph/listing.h"
#include "graph/mapping.h"
#include "graph/name_attr_list.h"
#include "graph/names.h"

namespace gedit {
namespace {

// What these do their functions say.
constexpr OpKinds kSeenThrough = OpKind::kCall | OpKind::kIf | OpKind::kCase | OpKind::kWhile;

// Attributes that change nothing of what is computed. Whatever begins with `_` is one of them, but what picks
// another kernel.
bool counts_for_value(OpKinds kinds, std::string_view key) {
  if (key.empty()) return false;
  if (key[0] == '_') return key == "_kernel";
  if (kinds.has_any(kSeenThrough)) return key == "Tcond";
  switch (key[0]) {
    case 'a':
      return key != "allowed_devices";
    case 'c':
      return key != "container";
    case 'd':
      return key != "debug_name";
    case 'f':
      return key != "frame_name";
    case 'p':
      return key != "parallel_iterations";
    case 's':
      if (key == "shape") return !kinds.has_any(OpKind::kPlaceholder | OpKind::kVariable);
      return key != "shared_name";
    case 'v':
      return key != "var_name" || !kinds.has(OpKind::kTemporary);
    default:
      return true;
  }
}

bool same_attrs(const std::vector<MapEntry>& a, const std::vector<MapEntry>& b) {
  return std::ranges::equal(
      a, b, [](const MapEntry& x, const MapEntry& y) { return x.key == y.key && x.value == y.value; });
}

bool has_placeholder(std::string_view attr_value) {
  return !attr_value.empty() && attr_value[0] == static_cast<char>(attr_field::kPlaceholder << 3 | 2);
}

class FunctionsAsTexts final : public Mapping {
 public:
  using Text = std::function<std::string(std::string_view name)>;
  explicit FunctionsAsTexts(Text text) : text_(std::move(text)) {}
  void node(std::string_view name, std::string& out) const override { out += name; }
  void function(std::string_view name, std::string& out) const override { out += text_(name); }

 private:
  Text text_;
};

}  // namespace

const ProofOp& Labels::op(std::string_view op) {
  const auto [found, fresh] = ops_by_name_.try_emplace(op);
  if (!fresh) return *found->second;
  ProofOp facts;
  facts.name = op;
  facts.kinds = kinds_of(op);
  const std::string_view op_def = ops_.find(op);
  facts.known = !op_def.empty();
  if (facts.known) facts.def = parse_op_def(op_def);
  facts.conduct = conduct_of(op, facts.known ? &facts.def : nullptr);
  bool gives_handles = false;
  for (const ArgDef& arg : facts.def.outputs) {
    facts.gives_references |= arg.is_ref;
    gives_handles |= arg.is_ref || arg.type == static_cast<int32_t>(DType::kResource) ||
                     arg.type == static_cast<int32_t>(DType::kVariant);
  }
  for (const ArgDef& arg : facts.def.inputs)
    facts.takes_handles |= arg.is_ref || arg.type == static_cast<int32_t>(DType::kResource);
  facts.own_state = facts.conduct == Conduct::kWrites && !facts.takes_handles && !gives_handles &&
                    !facts.def.outputs.empty();
  found->second = &ops_known_.emplace_back(std::move(facts));
  return *found->second;
}

void Labels::take_apart(std::string_view node_def, NodeText& text) {
  attrs_.clear();
  text.name = text.tensor = {};
  text.op = node_op(node_def);
  const OpKinds kinds = op(text.op).kinds;
  const bool constant = kinds.has(OpKind::kConst);
  for (Fields fields(node_def); fields.next();) {
    if (fields->wire != Wire::kBytes) continue;
    switch (fields->number) {
      case node_field::kName:
        text.name = fields->value;
        break;
      case node_field::kAttr: {
        const MapEntry entry = map_entry(fields->value);
        if (constant) {
          if (entry.key == "value") text.tensor = last_bytes(entry.value, attr_field::kTensor);
        } else if (counts_for_value(kinds, entry.key)) {
          attrs_.push_back(entry);
        }
        break;
      }
      default:
        break;
    }
  }
}

std::string Labels::value_text(std::string_view attr_value, std::string& unknown) {
  std::string text;
  if (!may_name_function(attr_value)) {
    print_attr_value(text, attr_value, true);
    return text;
  }
  // In place of a name what the function computes.
  const FunctionsAsTexts mapping([&](std::string_view name) {
    FunctionText function = function_texts_(name);
    if (!function.unknown.empty()) unknown = function.unknown;
    return std::move(function.text);
  });
  print_attr_value(text, map_functions(attr_value, mapping), true);
  return text;
}

std::vector<std::pair<std::string, std::string>> Labels::texts(const std::vector<MapEntry>& attrs,
                                                               const ProofOp& op, std::string& unknown) {
  std::map<std::string_view, std::string> found;
  for (const MapEntry& attr : attrs) found[attr.key] = value_text(attr.value, unknown);
  for (const AttrDef& attr : op.def.attrs) {
    if (attr.has_default && counts_for_value(op.kinds, attr.name) && !found.contains(attr.name))
      found[attr.name] = value_text(attr.default_value, unknown);
  }
  std::vector<std::pair<std::string, std::string>> all;
  for (auto& [key, value] : found) all.emplace_back(key, std::move(value));
  return all;
}

std::vector<std::pair<std::string, std::string>> Labels::attributes(std::string_view node_def) {
  NodeText text;
  take_apart(node_def, text);
  std::string unknown;
  return texts(std::vector(attrs_), op(text.op), unknown);
}

Labels::Known Labels::make(const NodeText& text) {
  const std::vector<MapEntry> attrs = attrs_;  // what a function computes is found in between
  const ProofOp& facts = op(text.op);
  std::string key(facts.kinds.has(OpKind::kAdds) ? "add" : text.op);
  std::string unknown;
  uint64_t seed = 0;
  DType type = DType::kInvalid;
  for (const MapEntry& attr : attrs) {
    if (attr.key == "seed" || attr.key == "seed2") seed |= last_varint(attr.value, attr_field::kInt);
    if (attr.key == "T") type = static_cast<DType>(last_varint(attr.value, attr_field::kType));
    if (has_placeholder(attr.value)) unknown = "is of a type that its caller says";
  }
  for (const auto& [name, value] : texts(attrs, facts, unknown)) {
    key.append("\n").append(name).append("=").append(value);
  }
  Labelled labelled;
  labelled.op = &facts;
  labelled.seeded = seed != 0;
  labelled.commutes = gedit::commutes(facts.kinds, type);
  if (facts.conduct == Conduct::kRandom && seed == 0) {
    unknown = facts.def.find_attr("seed") != nullptr ? "has no seed" : "is another at every run";
  }
  if (facts.conduct == Conduct::kUnknown) unknown = "is an op that nobody knows";
  if (facts.conduct == Conduct::kInPlace) unknown = "writes into what it reads";
  if (facts.own_state) unknown = "gives what follows from a state of its own";
  if (text.op == "SymbolicGradient") unknown = "is a gradient";
  labelled.label = classes_.label(KeyForm::kNode, key, unknown);
  if (labelled.commutes && commuting_.size() <= labelled.label) commuting_.resize(labelled.label + 1);
  if (labelled.commutes) commuting_[labelled.label] = true;
  return {facts.name, attrs, labelled};
}

const Labelled& Labels::find(const NodeText& text) {
  uint64_t hash = name_hash(text.op);
  for (const MapEntry& attr : attrs_) {
    hash = (hash ^ name_hash(attr.value)) * 0x9e3779b97f4a7c15 + attr.key.size();
  }
  const auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second.op == text.op && same_attrs(it->second.attrs, attrs_)) return it->second.labelled;
  }
  return known_.emplace(hash, make(text))->second.labelled;
}

const Labelled& Labels::of(std::string_view node_def, NodeText& text) {
  const std::string_view op = node_op(node_def), attrs = like_of(node_def).attrs;
  const Alike& alike = place_of(op, attrs);
  if (!alike.is(op, attrs)) return find_anew(node_def, attrs, text);
  text = {node_name(node_def), op, {}};
  return *alike.labelled;
}

LabelId Labels::label_of(std::string_view node_def, std::string_view op, std::string_view attrs,
                         NodeText& text) {
  const Alike& alike = place_of(op, attrs);
  return alike.is(op, attrs) ? alike.labelled->label : find_anew(node_def, attrs, text).label;
}

const Labelled& Labels::find_anew(std::string_view node_def, std::string_view attrs, NodeText& text) {
  take_apart(node_def, text);
  const Labelled& labelled = find(text);
  if (!attrs.empty() && !labelled.op->kinds.has(OpKind::kConst))
    place_of(text.op, attrs) = {text.op, attrs, &labelled};
  return labelled;
}

}  // namespace gedit
