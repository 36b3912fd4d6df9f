#include "cli/signatures.h"

#include <nlohmann/json.hpp>

namespace gedit {
namespace {

using Json = nlohmann::ordered_json;

Json side_json(const std::map<std::string, TensorSummary>& side) {
  Json object = Json::object();
  for (const auto& [key, tensor] : side) {
    object[key] = {
        {"tensor", tensor.tensor}, {"dtype", dtype_json(tensor.dtype)}, {"shape", shape_json(tensor.shape)}};
  }
  return object;
}

}  // namespace

nlohmann::ordered_json shape_json(const Shape& shape) { return shape ? Json(*shape) : Json(nullptr); }
nlohmann::ordered_json dtype_json(const std::optional<DType>& dtype) {
  return dtype ? Json(dtype_name(*dtype)) : Json(nullptr);
}

std::string type_text(const std::optional<DType>& dtype, const Shape& shape) {
  return (dtype ? dtype_name(*dtype) : std::string("?")) + shape_text(shape);
}

nlohmann::ordered_json signatures_json(const std::vector<SignatureSummary>& signatures) {
  Json object = Json::object();
  for (const SignatureSummary& signature : signatures) {
    object[signature.key] = {{"method", signature.method},
                             {"inputs", side_json(signature.inputs)},
                             {"outputs", side_json(signature.outputs)}};
  }
  return object;
}

}  // namespace gedit
