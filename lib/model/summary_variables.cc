// Variables of a summary, with their sizes.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/collections.h"
#include "model/saved_objects.h"
#include "model/summary_parts.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// In a TF2 SavedModel the variables are objects, whose keys are their paths; where one of version 1 was
// merged into it, those of that one are in collections alone.
void describe_objects(const SummarizedGraph& of, GraphSummary& summary) {
  const SavedObjects saved = read_saved_objects(of.meta.part(meta_field::kObjectGraph));
  const bool any = std::any_of(
      saved.objects.begin(), saved.objects.end(),
      [](const SavedObjects::Object& object) { return object.kind == SavedObjects::Kind::kVariable; });
  if (!any) return;
  const std::vector<std::string> keys = variable_keys(saved);
  const std::vector<VariableSummary> of_graph = std::exchange(summary.variables, {});
  std::unordered_map<std::string_view, const VariableSummary*> by_name;
  for (const VariableSummary& variable : of_graph) by_name[variable.name] = &variable;
  std::unordered_set<std::string_view> objects;
  for (size_t i = 0; i < saved.objects.size(); ++i) {
    if (saved.objects[i].kind != SavedObjects::Kind::kVariable) continue;
    const std::string_view definition = saved.objects[i].content;
    VariableSummary variable;
    variable.name = last_bytes(definition, 6);
    objects.insert(last_bytes(definition, 6));
    variable.dtype = static_cast<DType>(last_varint(definition, 1));
    variable.shape = parse_shape_proto(last_bytes(definition, 2));
    variable.trainable = last_varint(definition, 3) != 0;
    if (!keys[i].empty()) variable.key = keys[i];
    if (const auto found = by_name.find(variable.name); found != by_name.end())
      variable.collections = found->second->collections;
    summary.variables.push_back(std::move(variable));
  }
  for (const VariableSummary& variable : of_graph) {
    if (!variable.collections.empty() && !objects.contains(variable.name))
      summary.variables.push_back(variable);
  }
}

}  // namespace

uint64_t shape_elements(const Shape& shape) {
  if (!shape) return 0;
  uint64_t count = 1;
  for (const int64_t size : *shape) {
    if (size < 0) return 0;
    count *= static_cast<uint64_t>(size);
  }
  return count;
}

ConstantSize constant_size(std::string_view node_def) {
  DType type = DType::kInvalid;
  std::string_view tensor;
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    if (key == "dtype") type = static_cast<DType>(last_varint(value, attr_field::kType));
    if (key == "value") tensor = last_bytes(value, attr_field::kTensor);
  });
  const Shape shape = tensor.empty() ? std::nullopt : parse_shape_proto(last_bytes(tensor, 2));
  if (type == DType::kString || !shape || shape->empty()) return {};
  const bool trained =
      type == DType::kFloat || type == DType::kHalf || type == DType::kDouble || type == DType::kBfloat16;
  return {shape_elements(shape), trained && shape->size() > 1};
}

void summarize_variables(const SummarizedGraph& of, GraphSummary& summary) {
  std::unordered_map<uint32_t, VariableSummary> found;
  for (const Collection& collection : collections(of.meta)) {
    if (collection.kind != collection_kind::kBytesList && collection.kind != collection_kind::kNodeList)
      continue;
    const bool definitions =
        collection.kind == collection_kind::kBytesList && holds_variables(collection.key);
    for (const std::string_view item : collection.items) {
      if (!definitions && collection.kind != collection_kind::kNodeList) break;
      const VariableNames named = definitions ? variable_names(item) : VariableNames();
      const NodeId id = of.names.find(node_of(definitions ? named.variable : item));
      if (id == kNoNode || !of.graph.is(id, OpKind::kVariable)) continue;
      VariableSummary& variable = found[index_of(id)];
      if (variable.collections.empty() || variable.collections.back() != collection.key) {
        variable.collections.emplace_back(collection.key);
      }
      if (definitions && variable.initializer.empty()) {
        variable.initializer = named.initializer;
        variable.snapshot = named.snapshot;
        variable.initial_value = named.initial_value;
      }
      variable.trainable = variable.trainable || collection.key == collection_key::kTrainableVariables;
    }
  }
  const auto keys = variable_keys(of.savers);
  of.graph.each_of(OpKind::kVariable, [&](NodeId id) {
    const std::string_view node_def = of.graph.bytes(id);
    VariableSummary& variable = found[index_of(id)];
    variable.name = of.graph.name(id);
    variable.dtype = type_attr(node_def, "dtype").value_or(DType::kInvalid);
    if (const auto shape = find_attr(node_def, "shape"))
      variable.shape = parse_shape_proto(last_bytes(*shape, attr_field::kShape));
    // The first Variable says [] where it does not know (ops/state_ops.cc).
    if (of.graph.is(id, OpKind::kUnknownShapeIsEmpty) && variable.shape && variable.shape->empty())
      variable.shape.reset();
    if (const auto key = keys.find(index_of(id)); key != keys.end()) variable.key = key->second;
    std::sort(variable.collections.begin(), variable.collections.end());
    summary.variables.push_back(variable);
  });
  describe_objects(of, summary);
  for (const VariableSummary& variable : summary.variables) {
    summary.parameters += shape_elements(variable.shape);
    summary.parameter_bytes += shape_elements(variable.shape) * dtype_width(variable.dtype);
  }
  if (summary.variables.empty()) summary.constants = of.constants;
}

}  // namespace gedit
