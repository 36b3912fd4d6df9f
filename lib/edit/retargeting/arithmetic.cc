// Replacements of element-wise ops, products and gathers.
#include "edit/retargeting/replacements.h"

#include <algorithm>

namespace gedit {
namespace {

bool is_scalar(const KnownShape& known) { return known.shape && known.shape->empty(); }

// The last dimensions alone.
KnownShape last_of(const KnownShape& known, size_t rank) {
  const auto from = static_cast<std::ptrdiff_t>(known.shape->size() - rank);
  KnownShape last{Shape(std::vector(known.shape->begin() + from, known.shape->end()))};
  if (known.symbols.size() == known.shape->size())
    last.symbols.assign(known.symbols.begin() + from, known.symbols.end());
  return last;
}

// Whether these are known to be broadcast to one shape.
bool fit_together(const KnownShape& a, const KnownShape& b) {
  if (!a.shape || !b.shape) return false;
  const size_t rank = std::min(a.shape->size(), b.shape->size());
  const KnownShape x = last_of(a, rank), y = last_of(b, rank);
  for (size_t i = 0; i < rank; ++i) {
    if ((*x.shape)[i] != 1 && (*y.shape)[i] != 1 && !x.equal_to(y, i, i + 1)) return false;
  }
  return true;
}

}  // namespace

std::string replace_batch_mat_mul(Site& site, std::vector<std::string>&) {
  const KnownShape x = site.shape(0), y = site.shape(1);
  if (!x.shape || !y.shape || x.shape->size() < 2 || x.shape->size() != y.shape->size() ||
      !x.equal_to(y, 0, x.shape->size() - 2))
    return "its batch dimensions are not known to be equal";
  if (site.op == "BatchMatMulV2") {
    site.rename_op("BatchMatMul", {});
    return {};
  }
  const DType type = site.type("Ta");
  if (type != site.type("Tb") || type != site.type("Tout")) return "it computes with more than one type";
  site.rename_op("BatchMatMul", {"Ta", "Tb", "Tout"}, {{"T", type_value(type)}});
  return {};
}

std::string replace_select_v2(Site& site, std::vector<std::string>&) {
  const KnownShape condition = site.shape(0), t = site.shape(1), e = site.shape(2);
  if (!t.equal_to(e) || !(is_scalar(condition) || condition.equal_to(t)))
    return "its shapes are not known to be equal, and Select does not broadcast as it does";
  site.rename_op("Select", {});
  return {};
}

// Of shapes that do not fit together it gives a scalar, where an older release fails.
std::string replace_equal(Site& site, std::vector<std::string>&) {
  if (site.flag("incompatible_shape_error", true)) return "nothing stands in for that";
  if (!fit_together(site.shape(0), site.shape(1))) return "its shapes are not known to fit together";
  site.rename_op(site.op, {"incompatible_shape_error"});
  return {};
}

std::string replace_leaky_relu(Site& site, std::vector<std::string>&) {
  const float alpha = site.number("alpha", 0.2F);
  const DType type = site.has("T") ? site.type("T") : DType::kFloat;
  if (type != DType::kFloat && type != DType::kDouble && type != DType::kHalf)
    return "it is " + dtype_name(type);
  const NodeAttrs typed{{"T", type_value(type)}};
  const auto part = [&](std::string_view word, std::string_view op, const std::vector<std::string>& inputs) {
    return site.add_tensor(word, op, inputs, typed);
  };
  const std::string& x = site.inputs[0];
  const std::string slope = site.add_const("alpha", type, scalar_proto(type, alpha));
  const std::string product = part("Mul", "Mul", {x, slope});
  if (alpha > 0 && alpha <= 1) {
    site.become({.op = "Maximum", .inputs = {x, product}, .attrs = typed});
    return {};
  }
  // At 0 the product of an infinity is no number, and Maximum may give the other.
  const std::string positive = part("Greater", "Greater", {x, part("zeros", "ZerosLike", {x})});
  site.become({.op = "Select", .inputs = {positive, x, product}, .attrs = typed});
  return {};
}

std::string replace_div_no_nan(Site& site, std::vector<std::string>&) {
  if (!site.shape(0).equal_to(site.shape(1))) return "its shapes are not known to be equal";
  const DType type = site.type("T");
  const std::vector<std::pair<std::string, std::string>> typed{{"T", type_value(type)}};
  const std::string zeros = site.add_tensor("zeros", "ZerosLike", {site.inputs[1]}, typed);
  const std::string is_zero = site.add_tensor("Equal", "Equal", {site.inputs[1], zeros}, typed);
  const std::string quotient = site.add_tensor("RealDiv", "RealDiv", {site.inputs[0], site.inputs[1]}, typed);
  site.become({.op = "Select", .inputs = {is_zero, zeros, quotient}, .attrs = typed});
  return {};
}

std::string replace_broadcast_to(Site& site, std::vector<std::string>&) {
  const DType type = site.type("T");
  switch (type) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kHalf:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
      break;
    default:
      return "it is " + dtype_name(type);
  }
  const std::string one = site.add_const("one", type, scalar_proto(type, 1));
  std::vector<std::pair<std::string, std::string>> attrs{{"T", type_value(type)}};
  if (site.has("Tidx") && site.type("Tidx") != DType::kInt32)
    attrs.emplace_back("index_type", type_value(site.type("Tidx")));
  const std::string ones = site.add_tensor("Fill", "Fill", {site.inputs[1], one}, attrs);
  site.become({.op = "Mul", .inputs = {site.inputs[0], ones}, .attrs = {{"T", type_value(type)}}});
  return {};
}

std::string replace_gather_v2(Site& site, std::vector<std::string>&) {
  const auto batch = int_attr(site.node_def, "batch_dims");
  if (batch && *batch != 0) return "its batch_dims is not 0";
  if (!site.all(2, 0)) return "its axis is not a Const 0";
  site.become({.op = "Gather",
               .inputs = {site.inputs[0], site.inputs[1]},
               .attrs = {{"Tparams", type_value(site.type("Tparams"))},
                         {"Tindices", type_value(site.type("Tindices"))}}});
  return {};
}

std::string replace_dense_bincount(Site& site, std::vector<std::string>&) {
  if (site.flag("binary_output", false)) return "it tells only whether there is one";
  const Shape counted = site.shape(0).shape;
  if (!counted || counted->size() != 1) return "what it counts is not known to be a vector";
  if (site.type("Tidx") != DType::kInt32) return "its Tidx is not int32";
  site.become({.op = "Bincount", .inputs = site.inputs, .attrs = {{"T", type_value(site.type("T"))}}});
  return {};
}

}  // namespace gedit
