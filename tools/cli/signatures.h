// Signatures as text and JSON, the same in every command that shows them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/kind.h"
#include "model/summary.h"

namespace gedit {

nlohmann::ordered_json shape_json(const Shape& shape);                         // null for unknown rank
nlohmann::ordered_json dtype_json(const std::optional<DType>& dtype);          // null where it is not known
std::string type_text(const std::optional<DType>& dtype, const Shape& shape);  // float32[?,3]

// {KEY: {"method", "inputs": {K: {"tensor", "dtype", "shape"}}, "outputs": {the same}}}
nlohmann::ordered_json signatures_json(const std::vector<SignatureSummary>& signatures);

}  // namespace gedit
