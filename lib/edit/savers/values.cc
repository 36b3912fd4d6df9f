#include "edit/savers/values.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/number.h"
#include "checkpoint/edit.h"
#include "checkpoint/objects.h"
#include "edit/savers/entries.h"
#include "graph/types.h"
#include "model/object_nodes.h"
#include "model/saver_calls.h"
#include "model/saver_def.h"
#include "ops/kinds.h"
#include "weights/casting.h"

namespace gedit {
namespace {

std::string type_text(DType dtype, const Shape& shape) { return dtype_name(dtype) + shape_text(shape); }

// SaveSliceInfoDef (tensorflow/core/framework/variable.proto) as a saver writes it.
std::string slice_spec(std::string_view info) {
  std::vector<std::vector<uint64_t>> numbers(5);
  for (Fields fields(info); fields.next();) {
    if (fields->number >= 2 && fields->number <= 4)
      each_varint(fields.field(), [&](uint64_t number) { numbers[fields->number].push_back(number); });
  }
  if (numbers[2].empty() || numbers[3].size() != numbers[2].size() || numbers[4].size() != numbers[2].size())
    return {};
  std::string text;
  for (const uint64_t size : numbers[2]) text += std::to_string(size) + " ";
  for (size_t i = 0; i < numbers[3].size(); ++i) {
    text += (i > 0 ? ":" : "") + std::to_string(numbers[3][i]) + "," + std::to_string(numbers[4][i]);
  }
  return text;
}

}  // namespace

VariableValues::VariableValues(Facts& facts, std::shared_ptr<ValueSource> source, std::string named)
    : facts_(facts), graph_(facts.graph()), source_(std::move(source)), named_(std::move(named)) {
  read_savers();
  read_computed();
  read_slice_infos();
  for (auto& [variable, key] :
       keys_in_functions(facts_.model.meta(), facts_.names(), facts_.selecting().library()))
    known_.try_emplace(variable, Where{key, ""});
  if (!source_->checkpoint.object_based()) return;
  if (facts_.model.meta().has(meta_field::kObjectGraph)) {
    read_objects();
    return;
  }
  // Names that several objects have say nothing.
  std::unordered_map<std::string, size_t> seen;
  for (const ObjectGraph::Object& object :
       parse_object_graph(load_object_graph(source_->checkpoint)).objects) {
    for (const ObjectGraph::Attribute& attribute : object.attributes) {
      const std::string& full_name = attribute.full_name;
      if (full_name.empty()) continue;
      by_full_name_[full_name] = attribute.key;
      ++seen[full_name];
    }
  }
  for (const auto& [name, count] : seen) {
    if (count > 1) by_full_name_.erase(name);
  }
}

// Names say nothing where objects tell: layers of one name have variables `a/w` and `a/w`, nodes `a/w` and
// `a/w_1`.
void VariableValues::read_objects() {
  const SavedObjects objects = read_saved_objects(facts_.model.meta().part(meta_field::kObjectGraph));
  const std::vector<std::string> keys = variable_keys(objects);
  for (const auto& [node, object] : object_nodes(facts_.model.meta(), facts_.names(), objects)) {
    if (!keys[object].empty() && source_->checkpoint.find(keys[object]) != nullptr)
      known_.try_emplace(node, Where{keys[object], ""});
  }
}

void VariableValues::read_savers() {
  struct Ranked {
    const SaverNode* node;
    int rank = 0;
  };
  std::vector<Ranked> savers;
  for (const auto* nodes : {&facts_.savers().saves, &facts_.savers().restores}) {
    for (const SaverNode& node : *nodes) savers.push_back({&node, 0});
  }
  // A graph may have a saver for each part of a model, with keys of its own. The one that wrote the
  // checkpoint finds all of its keys in it; of several, the one that saver_def names.
  NodeSet named(graph_.size());
  const SaverDefNodes def = saver_def_nodes(facts_.model.meta().part(meta_field::kSaver), facts_.names());
  for (const NodeId id : {def.save, def.restore}) {
    if (id != kNoNode) named.add(id);
  }
  const NodeSet below = reach(named, facts_.producers(), kAnyDistance);
  for (Ranked& saver : savers) {
    const std::vector<SavedTensor>& tensors = saver.node->tensors;
    const bool complete = std::all_of(tensors.begin(), tensors.end(), [&](const SavedTensor& tensor) {
      return tensor.variable == kNoNode || source_->checkpoint.find(tensor.key) != nullptr;
    });
    saver.rank = (complete ? 0 : 2) + (below.has(saver.node->node) ? 0 : 1);
  }
  std::stable_sort(savers.begin(), savers.end(),
                   [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  for (const Ranked& saver : savers) {
    const std::vector<DType> types = saver_types(graph_.bytes(saver.node->node));
    // A replica is given what the variable is whose key this is.
    for (const auto* tensors : {&saver.node->tensors, &saver.node->more_ends}) {
      for (const SavedTensor& tensor : *tensors) {
        if (tensor.variable == kNoNode) continue;
        const Where where{tensor.key, tensor.slice,
                          tensor.slot < types.size() ? base_type(types[tensor.slot]) : DType::kInvalid};
        const auto [known, fresh] = known_.try_emplace(index_of(tensor.variable), where);
        const bool better = !fresh && source_->checkpoint.find(known->second.key) == nullptr &&
                            source_->checkpoint.find(where.key) != nullptr;
        if (better) known->second = where;
      }
    }
  }
}

void VariableValues::read_computed() {
  for (const SaverNode& restore : facts_.savers().restores) {
    for (const FilledState& filled : restore.filled) computed_.emplace(index_of(filled.state), &filled);
  }
  for (const SaverNode& restore : facts_.savers().restores) {
    for (const auto* tensors : {&restore.tensors, &restore.more_ends}) {
      for (const SavedTensor& tensor : *tensors) computed_.erase(index_of(tensor.variable));
    }
  }
}

void VariableValues::read_slice_infos() {
  for (const Collection& collection : facts_.collections()) {
    if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
    for (const std::string_view def : collection.items) {
      const std::string_view info = last_bytes(def, 4);
      const NodeId node = facts_.names().find(node_of(variable_names(def).variable));
      if (node == kNoNode || info.empty()) continue;
      std::string spec = slice_spec(info);
      if (!spec.empty())
        known_.try_emplace(index_of(node), Where{std::string(last_bytes(info, 1)), std::move(spec)});
    }
  }
}

// `w/part_2` of a graph that says nothing of slices: the third slice of `w`.
std::optional<VariableValues::Where> VariableValues::numbered_part(std::string_view name) const {
  constexpr std::string_view kPart = "/part_";
  const size_t at = name.rfind(kPart);
  if (at == std::string_view::npos) return std::nullopt;
  const std::optional<size_t> number = read_number<size_t>(name.substr(at + kPart.size()));
  const Tensor* tensor = source_->checkpoint.find(name.substr(0, at));
  if (!number || tensor == nullptr || *number >= tensor->slices.size()) return std::nullopt;
  std::vector<Extents> slices;
  for (const Slice& slice : tensor->slices)
    slices.push_back(settle_extents(slice.extents, tensor->shape).value_or(slice.extents));
  std::sort(slices.begin(), slices.end(), [](const Extents& a, const Extents& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](const Extent& x, const Extent& y) { return x.start < y.start; });
  });
  std::string spec;
  for (const int64_t size : tensor->shape) spec += std::to_string(size) + " ";
  return Where{tensor->name, spec + slice_text(slices[*number])};
}

VariableValues::Where VariableValues::find(NodeId variable) const {
  const Checkpoint& checkpoint = source_->checkpoint;
  const std::string name(graph_.name(variable));
  const auto known = known_.find(index_of(variable));
  if (known != known_.end() && checkpoint.find(known->second.key) != nullptr) return known->second;
  const std::string shared(string_attr(graph_.bytes(variable), "shared_name").value_or(""));
  for (const std::string& full_name : {shared, name}) {
    const auto found = by_full_name_.find(full_name);
    if (found != by_full_name_.end()) return {found->second, ""};
  }
  if (known != known_.end()) return known->second;
  if (checkpoint.find(name) == nullptr) {
    if (std::optional<Where> part = numbered_part(name)) return *part;
  }
  return {name, ""};
}

std::string VariableValues::key_of(NodeId variable) const { return find(variable).key; }

void VariableValues::check(std::string_view node_def, const Tensor& tensor,
                           const std::optional<Extents>& part, DType saved) const {
  const DType dtype = type_attr(node_def, "dtype").value_or(DType::kInvalid);
  Shape shape;
  if (const auto value = find_attr(node_def, "shape"))
    shape = parse_shape_proto(last_bytes(*value, attr_field::kShape));
  // The first variables could not tell a scalar from an unknown shape.
  if (shape && shape->empty() && is(node_op(node_def), OpKind::kUnknownShapeIsEmpty)) shape = std::nullopt;
  std::vector<int64_t> stored = tensor.shape;
  if (part) {
    for (size_t i = 0; i < stored.size(); ++i) stored[i] = (*part)[i].length;
  }
  bool same = dtype == DType::kInvalid || base_type(dtype) == tensor.dtype ||
              (saved == tensor.dtype && becomes_narrower(base_type(dtype), saved));
  if (shape) {
    same = same && shape->size() == stored.size();
    for (size_t i = 0; same && i < stored.size(); ++i) same = (*shape)[i] < 0 || (*shape)[i] == stored[i];
  }
  if (same) return;
  throw Error(Cause::kRefused, type_text(base_type(dtype), shape) + ", but '" + printable(tensor.name) +
                                   "' in checkpoint '" + printable(named_) + "' is " +
                                   type_text(tensor.dtype, stored))
      .of(quoted("variable", node_name(node_def)));
}

ConstantValue VariableValues::value(NodeId variable) {
  if (const auto computed = computed_.find(index_of(variable)); computed != computed_.end()) {
    const FilledState& filled = *computed->second;
    throw refused("its saver computes what it restores, with '" +
                  printable(graph_.name(filled.way->empty() ? filled.end : filled.way->back())) + "'")
        .of(quoted("variable", graph_.name(variable)))
        .hint("--keep '" + printable(graph_.name(variable)) + "'");
  }
  return value_at(find(variable), graph_.bytes(variable));
}

std::string VariableValues::value_of_own(std::string_view node_def) {
  const std::string shared(string_attr(node_def, "shared_name").value_or(node_name(node_def)));
  Where where{shared, ""};
  bool known = false;
  for (const auto& [index, state] : facts_.state()) {
    const std::string_view other = graph_.bytes(state.node);
    if (!is_var_handle_op(node_op(other)) || string_attr(other, "shared_name") != shared) continue;
    where = find(state.node);
    where.saved = DType::kInvalid;
    known = true;
  }
  const auto object = by_full_name_.find(shared);
  if (!known && object != by_full_name_.end()) where.key = object->second;
  ConstantValue value = value_at(where, node_def);
  if (value.content == nullptr) return std::move(value.tensor_proto);
  constexpr uint32_t kTensorContent = 4;
  StringSink content;
  value.content->write(content);
  append_bytes_field(value.tensor_proto, kTensorContent, content.text);
  return std::move(value.tensor_proto);
}

std::optional<Extents> VariableValues::part_of(const Where& where, const Tensor& tensor,
                                               std::string_view node_def) const {
  std::optional<Extents> part;
  if (!where.slice.empty()) {
    const std::optional<SliceSpec> spec = parse_slice_spec(where.slice);
    if (spec) part = settle_extents(spec->extents, tensor.shape);
    if (!part || spec->shape != tensor.shape) {
      throw Error(Cause::kRefused, "slice '" + printable(where.slice) + "' does not fit '" +
                                       printable(tensor.name) + "' in checkpoint '" + printable(named_) +
                                       "', which is " + type_text(tensor.dtype, tensor.shape))
          .of(quoted("variable", node_name(node_def)));
    }
  }
  return part;
}

std::optional<KnownValue> VariableValues::stored(NodeId variable) const {
  if (computed_.contains(index_of(variable))) return std::nullopt;
  const Where where = find(variable);
  const Tensor* tensor = source_->checkpoint.find(where.key);
  if (tensor == nullptr) return std::nullopt;
  std::optional<Extents> part;
  try {
    part = part_of(where, *tensor, graph_.bytes(variable));
    check(graph_.bytes(variable), *tensor, part, DType::kInvalid);
  } catch (const Error&) {
    return std::nullopt;  // it is not the value of this variable
  }
  KnownValue value;
  value.dtype = tensor->dtype;
  value.shape = tensor->shape;
  if (part) {
    value.shape.clear();
    for (const Extent& extent : *part) value.shape.push_back(extent.length);
  }
  const bool whole = !part && !tensor->partitioned() && !in_table(source_->checkpoint, tensor->place) &&
                     source_->checkpoint.shards[tensor->place.shard].form == Shard::Form::kData;
  if (whole) value.crc32c = unmasked(tensor->place.crc32c);
  value.value = [source = source_, tensor, part] { return constant_value(source, *tensor, part); };
  return value;
}

ConstantValue VariableValues::value_at(const Where& where, std::string_view node_def) const {
  const Tensor* tensor = source_->checkpoint.find(where.key);
  if (tensor == nullptr) {
    throw Error(Cause::kRefused,
                "key '" + printable(where.key) + "' is not in checkpoint '" + printable(named_) + "'")
        .of(quoted("variable", node_name(node_def)))
        .hint(name_hint(source_->checkpoint, where.key));
  }
  const std::optional<Extents> part = part_of(where, *tensor, node_def);
  check(node_def, *tensor, part, where.saved);
  return constant_value(source_, *tensor, part);
}

}  // namespace gedit
