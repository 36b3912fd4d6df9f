// Replacements of what detectors, matrices, strings, examples and tensor lists are made of.
#include "base/wire.h"
#include "edit/retargeting/replacements.h"

namespace gedit {
namespace {

// What savers ask of a file's name; it is of no use where there is no op to ask it.
constexpr std::string_view kSaverPattern = "^s3://.*";

std::string main_diagonal(const Site& site, size_t slot) {
  const auto diagonal = site.constant(slot);
  if (!diagonal || diagonal->size() != 1 || diagonal->front() != 0) return "its k is not a Const 0";
  return {};
}

NodeAttrs typed(const Site& site) { return {{"T", type_value(site.type("T"))}}; }

std::string never_matches(Site& site, std::vector<std::string>& notes) {
  notes.emplace_back("savers take paths that begin with s3:// for paths of their machine");
  site.become({.op = "Const",
               .attrs = {{"dtype", type_value(DType::kBool)},
                         {"value", tensor_value(scalar_proto(DType::kBool, 0))}}});
  return {};
}

}  // namespace

std::string replace_suppression_v5(Site& site, std::vector<std::string>&) {
  if (!site.all(5, 0)) return "its soft_nms_sigma is not a Const 0";
  if (site.read(1)) return "its output 1, selected_scores, is read";
  if (site.in.named(site.in.canonical(site.in.output(site.name, site.op, 2))))
    return "a signature names its output 2";
  const DType type = site.has("T") ? site.type("T") : DType::kFloat;
  NodeAttrs attrs{{"T", type_value(type)}, {"T_threshold", type_value(type)}};
  attrs.emplace_back("pad_to_max_output_size", bool_value(site.flag("pad_to_max_output_size", false)));
  site.become({.op = "NonMaxSuppressionV4",
               .inputs = {site.inputs.begin(), site.inputs.begin() + 5},
               .attrs = attrs,
               .same_outputs = false});
  site.move_output(2, 1);
  return {};
}

std::string replace_suppression_v4(Site& site, std::vector<std::string>&) {
  if (site.flag("pad_to_max_output_size", false)) return "it pads to max_output_size";
  if (site.read(1)) return "its output 1, valid_outputs, is read";
  site.rename_op("NonMaxSuppressionV3", {"pad_to_max_output_size", "_output_shapes"});
  return {};
}

std::string replace_matrix_diag(Site& site, std::vector<std::string>&) {
  if (std::string why = main_diagonal(site, 1); !why.empty()) return why;
  if (!site.all(2, -1) || !site.all(3, -1)) return "its num_rows and num_cols are not Consts -1";
  if (!site.all(4, 0)) return "its padding_value is not a Const 0";
  site.become({.op = "MatrixDiag", .inputs = {site.inputs[0]}, .attrs = typed(site)});
  return {};
}

std::string replace_matrix_set_diag(Site& site, std::vector<std::string>&) {
  if (std::string why = main_diagonal(site, 2); !why.empty()) return why;
  site.become({.op = "MatrixSetDiag", .inputs = {site.inputs[0], site.inputs[1]}, .attrs = typed(site)});
  return {};
}

std::string replace_matrix_diag_part(Site& site, std::vector<std::string>&) {
  if (std::string why = main_diagonal(site, 1); !why.empty()) return why;
  if (!site.all(2, 0)) return "its padding_value is not a Const 0";
  site.become({.op = "MatrixDiagPart", .inputs = {site.inputs[0]}, .attrs = typed(site)});
  return {};
}

std::string replace_static_regex(Site& site, std::vector<std::string>& notes) {
  const std::string pattern = site.text("pattern", "");
  if (!site.in.takes("RegexFullMatch")) {
    return pattern == kSaverPattern ? never_matches(site, notes) : "its pattern is not that of a saver";
  }
  const std::string constant = site.add_const("pattern", DType::kString, string_proto(pattern));
  site.become({.op = "RegexFullMatch", .inputs = {site.inputs[0], constant}});
  return {};
}

std::string replace_regex(Site& site, std::vector<std::string>& notes) {
  const auto pattern = site.string_constant(1);
  if (!pattern || pattern->size() != 1 || pattern->front() != kSaverPattern)
    return "its pattern is not that of a saver";
  return never_matches(site, notes);
}

std::string replace_parse_example_v2(Site& site, std::vector<std::string>&) {
  const auto count = [&](std::string_view key) {
    const auto value = find_attr(site.node_def, key);
    return value ? type_list(*value).size() : 0;
  };
  if (count("ragged_value_types") > 0 || count("ragged_split_types") > 0) return "it has ragged keys";
  const auto sparse = site.string_constant(2), dense = site.string_constant(3);
  if (!sparse || !dense || sparse->size() != count("sparse_types") || dense->size() != count("Tdense"))
    return "its keys are not Consts";
  const Shape serialized = site.shape(0).shape;
  if (!serialized || serialized->size() != 1) return "its input is not known to be a vector";
  std::vector<std::string> inputs{site.inputs[0], site.inputs[1]};
  for (const std::string& key : *sparse)
    inputs.push_back(site.add_const("sparse_keys", DType::kString, string_proto(key)));
  for (const std::string& key : *dense)
    inputs.push_back(site.add_const("dense_keys", DType::kString, string_proto(key)));
  inputs.insert(inputs.end(), site.inputs.begin() + 5, site.inputs.end());
  NodeAttrs attrs{{"Nsparse", int_value(static_cast<int64_t>(sparse->size()))},
                  {"Ndense", int_value(static_cast<int64_t>(dense->size()))}};
  for (const std::string_view key : {"sparse_types", "Tdense", "dense_shapes"}) {
    if (const auto value = find_attr(site.node_def, key)) attrs.emplace_back(key, *value);
  }
  site.become({.op = "ParseExample", .inputs = inputs, .attrs = attrs});
  return {};
}

std::string replace_list_shape(Site& site, std::vector<std::string>&) {
  if (!site.in.takes(site.op)) return "nothing stands in for that";
  if (site.inputs.size() < 2 || !site.constant(site.inputs.size() - 1))
    return "its element_shape is not a Const";
  site.take_inputs({site.inputs.begin(), site.inputs.end() - 1});
  return {};
}

std::string replace_list_growth(Site& site, std::vector<std::string>&) {
  if (!site.flag("resize_if_index_out_of_bounds", false)) return "nothing stands in for that";
  if (!site.in.takes("TensorListResize")) return "TensorListResize is not known either";
  const std::string &list = site.inputs[0], &index = site.inputs[1];
  const NodeAttrs of_sizes{{"T", type_value(DType::kInt32)}};
  const std::string one = site.add_const("one", DType::kInt32, scalar_proto(DType::kInt32, 1));
  const std::string needed = site.add_tensor("Add", "Add", {index, one}, of_sizes);
  const std::string length = site.add_tensor("TensorListLength", "TensorListLength", {list}, {});
  const std::string size = site.add_tensor("Maximum", "Maximum", {needed, length}, of_sizes);
  const std::string grown = site.add_tensor("TensorListResize", "TensorListResize", {list, size}, {});
  site.take_inputs({grown, index, site.inputs[2]}, "resize_if_index_out_of_bounds");
  return {};
}

std::string replace_disable_copy(Site& site, std::vector<std::string>&) {
  site.remove();
  return {};
}

std::string cast_indices(Site& site, std::string_view key, bool keep) {
  const OpDef op = parse_op_def(site.in.ops().find(site.op));
  for (const ArgDef& output : op.outputs) {
    if (output.type_attr == key) return "an output of it is int64, too";
  }
  std::vector<std::string> inputs;
  for (size_t i = 0; i < site.inputs.size(); ++i) {
    if (i >= op.inputs.size() || !op.inputs[i].number_attr.empty() || !op.inputs[i].type_list_attr.empty())
      return "its inputs are not known";
    if (op.inputs[i].type_attr != key) {
      inputs.push_back(site.inputs[i]);
      continue;
    }
    inputs.push_back(
        site.add_tensor("Cast", "Cast", {site.inputs[i]},
                        {{"SrcT", type_value(DType::kInt64)}, {"DstT", type_value(DType::kInt32)}}));
  }
  site.take_inputs(std::move(inputs), keep ? std::string_view() : key,
                   {{std::string(key), type_value(DType::kInt32)}});
  return {};
}

}  // namespace gedit
