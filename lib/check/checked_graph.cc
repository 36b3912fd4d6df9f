#include "check/checked_graph.h"

#include <algorithm>
#include <limits>

#include "graph/library.h"

namespace gedit {
namespace {

// So many are looked through faster than they are hashed; TensorFlow's own ops have up to 20.
constexpr size_t kFewAttrs = 32;

struct TypeField {
  std::string_view type;
  uint32_t field;    // of AttrValue
  uint32_t element;  // of AttrValue.ListValue
};
// attr_value.proto
constexpr TypeField kTypeFields[] = {
    {"string", attr_field::kString, attr_field::kString}, {"int", attr_field::kInt, attr_field::kInt},
    {"float", attr_field::kFloat, attr_field::kFloat},    {"bool", attr_field::kBool, attr_field::kBool},
    {"type", attr_field::kType, attr_field::kType},       {"shape", attr_field::kShape, attr_field::kShape},
    {"tensor", attr_field::kTensor, attr_field::kTensor}, {"func", attr_field::kFunc, attr_field::kListFunc},
};

AttrRule rule_of(const AttrDef& def) {
  AttrRule rule{.def = def};
  std::string_view type = def.type;
  const bool list = type.starts_with("list(") && type.ends_with(")");
  if (list) type = type.substr(5, type.size() - 6);
  for (const TypeField& known : kTypeFields) {
    if (known.type != type) continue;
    rule.field = list ? attr_field::kList : known.field;
    rule.element = list ? known.element : 0;
  }
  for (Fields list_fields(last_bytes(def.allowed_values, attr_field::kList)); list_fields.next();) {
    if (list_fields->bytes(attr_field::kString)) rule.allowed_strings.push_back(list_fields->value);
    if (list_fields->number == attr_field::kType) {
      each_varint(list_fields.field(),
                  [&](uint64_t number) { rule.allowed_types.push_back(static_cast<DType>(number)); });
    }
  }
  return rule;
}

// How many outputs attributes make it, at most; a hostile number must not become as many entries.
uint64_t repeated_outputs(const OpDef& op, std::string_view node_def) {
  uint64_t count = 0;
  for (const ArgDef& arg : op.outputs) {
    const auto number = arg.number_attr.empty() ? std::nullopt : int_attr(node_def, arg.number_attr);
    count += number && *number > 0 ? static_cast<uint64_t>(*number) : 0;
  }
  return count;
}

}  // namespace

const AttrRule* OpFacts::find(std::string_view key) const {
  if (attrs.size() > kFewAttrs) {
    const auto found = index.find(key);
    return found == index.end() ? nullptr : &attrs[found->second];
  }
  for (const AttrRule& rule : attrs) {
    if (rule.def.name == key) return &rule;
  }
  return nullptr;
}

const OpFacts& OpTable::of(std::string_view op) {
  const std::lock_guard lock(asking_);
  const auto found = facts_.find(op);
  if (found != facts_.end()) return *found->second;
  auto facts = std::make_unique<OpFacts>();
  const std::string_view op_def = ops_.find(op);
  if (!op_def.empty()) {
    facts->known = true;
    facts->def = parse_op_def(op_def);
    for (const AttrDef& attr : facts->def.attrs) {
      facts->attrs.push_back(rule_of(attr));
      facts->required += attr.has_default ? 0 : 1;
    }
    if (facts->attrs.size() > kFewAttrs) {
      for (size_t i = 0; i < facts->attrs.size(); ++i) facts->index.emplace(facts->attrs[i].def.name, i);
    }
    facts->repeats_outputs = std::any_of(facts->def.outputs.begin(), facts->def.outputs.end(),
                                         [](const ArgDef& arg) { return !arg.number_attr.empty(); });
  }
  return *facts_.emplace(op, std::move(facts)).first->second;
}

CheckedGraph::CheckedGraph(std::string_view function, const Graph& checked, OpTable& op_table)
    : graph(checked),
      ops(op_table),
      index(checked),
      names(index.names()),
      producers(index.producers()),
      like(checked),
      facts(checked, op_table),
      body(checked.is_body()) {
  type_outputs();
  if (!body) return;
  name_outputs();
  prefix_ = std::string(function) + "//";
  const OpDef signature = parse_op_def(function_signature(graph));
  for (const ArgDef& arg : signature.inputs) {
    const bool plain = arg.type_attr.empty() && arg.number_attr.empty() && arg.type_list_attr.empty();
    const DType type = plain ? DType{arg.type} : DType::kInvalid;
    arguments.emplace(arg.name, arg.is_ref ? reference_to(type) : type);
  }
}

void CheckedGraph::type_outputs() {
  const uint32_t size = graph.size();
  list_of_.assign(size, kUnknownList);
  list_ends_ = {0, 0};
  // Entries in all, so that numbers in attributes cannot ask for more than a file of this size may.
  uint64_t budget = uint64_t{size} * 16 + (1 << 20);
  struct Found {
    bool looked = false;
    uint32_t list = kUnknownList;
    uint64_t repeated = 0;
  };
  std::vector<Found> of_kind(like.size());
  std::vector<DType> types;
  const auto look = [&](NodeId id) {
    const OpFacts& op = facts.of(id);
    Found found{.looked = true};
    if (!op.known) return found;
    if (op.repeats_outputs) found.repeated = repeated_outputs(op.def, graph.bytes(id));
    if (found.repeated > budget || !output_types(op.def, graph.bytes(id), types)) return found;
    found.list = static_cast<uint32_t>(list_ends_.size() - 1);
    types_.insert(types_.end(), types.begin(), types.end());
    list_ends_.push_back(static_cast<uint32_t>(types_.size()));
    return found;
  };
  for (uint32_t i = 0; i < size; ++i) {
    const uint16_t number = like.of(NodeId{i});
    Found own;
    Found& found = number != LikeNodes::kNone ? of_kind[number] : own;
    if (!found.looked) found = look(NodeId{i});
    if (found.repeated > budget) continue;
    budget -= found.repeated;
    list_of_[i] = found.list;
  }
}

void CheckedGraph::name_outputs() {
  std::vector<OutputName> tensors;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    output_begins_.push_back(static_cast<uint32_t>(tensor_begins_.size()));
    if (!outputs_known(NodeId{i})) continue;
    const OpDef& def = facts.of(NodeId{i}).def;
    output_names(def, graph.bytes(NodeId{i}), tensors);
    size_t next = 0;
    for (const ArgDef& output : def.outputs) {
      tensor_begins_.push_back(static_cast<uint32_t>(next));
      // Outputs come in order, each counted from 0.
      const size_t first = next;
      while (next < tensors.size() && tensors[next].index == next - first && tensors[next].arg == output.name)
        ++next;
    }
  }
}

NodeId CheckedGraph::find(std::string_view input) const {
  return names.find(body ? parse_body_input(input).node : parse_input(input).node);
}

namespace {

constexpr DType kNoType = DType::kInvalid;

}  // namespace

Source CheckedGraph::source(std::string_view text, NodeId producer) const {
  if (body) {
    const Input input = parse_body_input(text);
    return producer == kNoNode ? argument_source(input) : body_source(input, producer);
  }
  Source source{.node = producer};
  if (producer == kNoNode) return source;
  source.counted = true;
  source.found = true;
  source.types = {&kNoType, 1};
  if (!outputs_known(producer)) return source;
  const Input input = parse_input(text);
  const std::span<const DType> types = outputs(producer);
  source.found = input.index() < types.size();
  if (source.found) source.types = types.subspan(input.index(), 1);
  return source;
}

// `argument`, `argument:0` (framework/function.cc, BuildInputArgIndex).
Source CheckedGraph::argument_source(const Input& input) const {
  Source source;
  const auto argument = arguments.find(input.node);
  if (argument == arguments.end()) return source;
  source.found = true;
  source.counted = argument->second != DType::kInvalid || !input.port.empty();
  source.types = {&argument->second, 1};
  return source;
}

// `node:output:0`, `node:output` for all tensors of it (framework/function.cc, BuildNodeOutputIndex).
Source CheckedGraph::body_source(const Input& input, NodeId producer) const {
  Source source{.node = producer};
  if (!outputs_known(producer)) {
    source.found = true;
    return source;
  }
  const std::vector<ArgDef>& outputs = facts.of(producer).def.outputs;
  const size_t colon = input.port.find(':');
  const auto output = std::ranges::find(outputs, input.port.substr(0, colon), &ArgDef::name);
  if (output == outputs.end()) return source;
  const auto k = static_cast<size_t>(output - outputs.begin());
  const uint32_t* begins = tensor_begins_.data() + output_begins_[index_of(producer)];
  const std::span<const DType> all = this->outputs(producer);
  source.types = all.subspan(begins[k], (k + 1 < outputs.size() ? begins[k + 1] : all.size()) - begins[k]);
  source.counted = true;
  source.found = true;
  if (colon == std::string_view::npos) return source;
  const Input port = parse_input(input.port);
  source.found = !port.port.empty() && port.index() < source.types.size();
  source.types = source.found ? source.types.subspan(port.index(), 1) : std::span<const DType>();
  return source;
}

}  // namespace gedit
