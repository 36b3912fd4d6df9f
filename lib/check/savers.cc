// Save and restore nodes: their keys, and the checkpoint that these are in.
#include "model/savers.h"

#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "check/surroundings.h"
#include "checkpoint/list.h"
#include "checkpoint/slice_key.h"
#include "graph/string_const.h"
#include "model/saved_objects.h"
#include "model/summary.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr int kLongestWayToKeys = 16;  // nodes between a saver and the Const of its keys

std::vector<std::string_view> data_inputs(std::string_view node_def) {
  std::vector<std::string_view> inputs;
  each_input(node_def, [&](std::string_view input) {
    if (!input.starts_with('^')) inputs.push_back(input);
  });
  return inputs;
}

// The strings of the Const behind an input, as model/savers.h finds it in a main graph, in functions too.
std::optional<std::vector<std::string>> strings_behind(const CheckedGraph& in,
                                                       const std::vector<std::string_view>& inputs,
                                                       size_t slot) {
  if (slot >= inputs.size()) return std::nullopt;
  NodeId id = in.find(inputs[slot]);
  for (int step = 0; id != kNoNode && step < kLongestWayToKeys; ++step) {
    const std::string_view node_def = in.graph.bytes(id);
    if (!is_identity_op(node_op(node_def))) return string_const(node_def);
    const std::vector<std::string_view> next = data_inputs(node_def);
    id = next.empty() ? kNoNode : in.find(next[0]);
  }
  return std::nullopt;
}

// One restored tensor against the checkpoint.
void check_restored(const CheckedGraph& in, NodeId id, const std::string& key, const std::string& slice,
                    DType dtype, const Shape& variable, const Checkpoint& values, Report& report) {
  const auto wrong = [&](const std::string& what) {
    report.add(Rule::kCheckpoint, in.subject(id), quoted("key", key) + " " + what);
  };
  const Tensor* tensor = values.find(key);
  if (tensor == nullptr) return wrong("is not in the checkpoint");
  if (tensor->dtype != dtype && dtype != DType::kInvalid)
    return wrong("is " + dtype_name(tensor->dtype) + " in the checkpoint, " + dtype_name(dtype) + " here");
  std::vector<int64_t> wanted;
  if (!slice.empty()) {
    const std::optional<SliceSpec> spec = parse_slice_spec(slice);
    if (!spec) return wrong("has the slice '" + slice + "', which is none");
    wanted = spec->shape;
  } else if (variable) {
    wanted = *variable;
  } else {
    return;
  }
  const bool same =
      std::ranges::equal(wanted, tensor->shape, [](int64_t a, int64_t b) { return a < 0 || a == b; });
  if (!same) wrong("is " + shape_text(tensor->shape) + " in the checkpoint, " + shape_text(wanted) + " here");
}

// Shapes of the variables that the outputs of restore nodes end in, of a main graph.
std::vector<Shape> variable_shapes(const CheckedGraph& in, const SaverNode& restore, size_t keys) {
  std::vector<Shape> shapes(keys, std::nullopt);
  for (const SavedTensor& tensor : restore.tensors) {
    if (tensor.variable == kNoNode || tensor.slot >= keys) continue;
    // A Reshape on the way is there because shapes may differ.
    const bool reshaped =
        std::ranges::any_of(tensor.between, [&](NodeId id) { return in.graph.op(id) == "Reshape"; });
    const auto shape = find_attr(in.graph.bytes(tensor.variable), "shape");
    if (shape && !reshaped) shapes[tensor.slot] = parse_shape_proto(last_bytes(*shape, attr_field::kShape));
  }
  return shapes;
}

}  // namespace

void check_saver_nodes(const CheckedGraph& in, const Checkpoint* values, const NodeSet* only,
                       const NodeSet* restoring, Report& report) {
  std::optional<Savers> savers;
  for (uint32_t i = 0; i < in.graph.size(); ++i) {
    const NodeId id{i};
    const bool save = in.graph.is(id, OpKind::kSave), restore = in.graph.is(id, OpKind::kRestore);
    if ((!save && !restore) || (only != nullptr && !only->has(id))) continue;
    const std::string_view node_def = in.graph.bytes(id);
    const std::string_view op = node_op(node_def);
    const auto wrong = [&](const std::string& what) { report.add(Rule::kSaver, in.subject(id), what); };
    const std::vector<std::string_view> inputs = data_inputs(node_def);
    const bool sliced = is(op, OpKind::kTakesSlices);
    const auto keys = strings_behind(in, inputs, 1);
    const auto slices = sliced ? strings_behind(in, inputs, 2) : std::nullopt;
    if (!keys) continue;
    if (slices && slices->size() != keys->size())
      wrong(counted(keys->size(), "key") + " and " + counted(slices->size(), "slice"));
    const bool many = save || is_restore_v2_op(op);
    const std::vector<DType> dtypes =
        many ? type_list(find_attr(node_def, is_save_v2_op(op) || is_restore_v2_op(op) ? "dtypes" : "T")
                             .value_or(""))
             : std::vector{type_attr(node_def, "dt").value_or(DType::kInvalid)};
    if (dtypes.size() != keys->size())
      wrong(counted(keys->size(), "key") + " and " + counted(dtypes.size(), "dtype"));
    if (!restore || values == nullptr || (restoring != nullptr && !restoring->has(id))) continue;
    std::vector<Shape> shapes(keys->size(), std::nullopt);
    if (!in.body) {
      if (!savers) savers = find_savers(in.graph, in.names, in.consumers());
      for (const SaverNode& found : savers->restores) {
        if (found.node == id) shapes = variable_shapes(in, found, keys->size());
      }
    }
    for (size_t k = 0; k < keys->size(); ++k) {
      check_restored(in, id, (*keys)[k], slices && k < slices->size() ? (*slices)[k] : "",
                     k < dtypes.size() ? dtypes[k] : DType::kInvalid, shapes[k], *values, report);
    }
  }
}

namespace {

// Whether a variable of this shape holds a part of the tensor, as partitioned ones do: which one, and whether
// it is all of it, the slices of the restore nodes say.
bool is_slice(const Tensor& tensor, const Shape& variable) {
  return variable && std::ranges::any_of(tensor.slices, [&](const Slice& slice) {
           const auto extents = settle_extents(slice.extents, tensor.shape);
           return extents && std::ranges::equal(*extents, *variable, {}, &Extent::length);
         });
}

}  // namespace

size_t saved_variables(const MetaGraph& meta) {
  const SavedObjects saved = read_saved_objects(meta.part(meta_field::kObjectGraph));
  return static_cast<size_t>(
      std::ranges::count(saved.objects, ObjectKind::kVariable, &SavedObjects::Object::kind));
}

void check_saved_variables(Model& model, size_t meta, Registry& ops, const Checkpoint& values,
                           Report& report) {
  if (saved_variables(model.meta_graphs[meta]) == 0) return;
  for (const VariableSummary& variable : summarize(model, meta, ops).variables) {
    const Tensor* tensor = variable.key ? values.find(*variable.key) : nullptr;
    if (tensor == nullptr) continue;  // saved otherwise, or not at all: the restore nodes tell
    if (is_slice(*tensor, variable.shape)) continue;
    const auto wrong = [&](const std::string& there, const std::string& here) {
      report.add(Rule::kCheckpoint, variable.name,
                 quoted("key", *variable.key) + " is " + there + " in the checkpoint, " + here + " here");
    };
    if (tensor->dtype != variable.dtype) {
      wrong(dtype_name(tensor->dtype), dtype_name(variable.dtype));
    } else if (variable.shape && !std::ranges::equal(*variable.shape, tensor->shape,
                                                     [](int64_t a, int64_t b) { return a < 0 || a == b; })) {
      wrong(shape_text(tensor->shape), shape_text(variable.shape));
    }
  }
}

}  // namespace gedit
