// What commands print as JSON. json.cc alone sees nlohmann's headers.
#pragma once

#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/state.h"
#include "edit/retargeting/retarget.h"
#include "model/model.h"
#include "model/summary.h"
#include "shape/flops.h"

namespace gedit {

// `inspect -j`: docs/inspect.schema.json. `scopes`: with those of each graph.
std::string model_json(const Model& model, const std::vector<GraphSummary>& graphs, bool scopes);
std::string checkpoint_state_json(const std::string& path, const CheckpointState& state);

// `signature -j`: {"file", "kind", "meta_graphs": [{"tags", "signatures"}]}.
struct SignaturesOfGraph {
  std::vector<std::string> tags;
  std::vector<SignatureSummary> signatures;
};
std::string signatures_json(const Model& model, const std::vector<SignaturesOfGraph>& graphs);

// `list -j`: {"name", "op", "inputs", "device", "attrs"}, `prefix` before the name. Without `full` the
// serialized tensors above 1 KiB are elided, as in the listing.
std::string node_json(const std::string& prefix, std::string_view node_def, bool full);

// `select -j`: [{"name", "op"}], of pairs of both.
std::string nodes_json(const std::vector<std::pair<std::string, std::string>>& nodes);

// `shapes -j`, an element of the array: {"tensor", "dtype", "shape", "symbols"}; a symbol is 0 where there is
// none.
struct TensorShape {
  std::string tensor;
  std::optional<DType> dtype;
  Shape shape;
  std::vector<uint32_t> symbols;
};
// `shapes --flops -j`: {"total", "rows": [{"scope", "flops", ...}], "not_counted": {OP: nodes}}.
std::string flops_json(const Flops& flops);
std::string shapes_json_item(const TensorShape& tensor);

// `copy --map-out`: {KIND: {OLD: NEW}}.
std::string maps_json(
    const std::vector<std::pair<std::string, const std::map<std::string, std::string>*>>& maps);

// `optimize -j`: {"before", "after", "steps": {STEP: {WORD: number}}, "proof": {"verdict", "outputs", "why"},
// "left_out", "notes", "warnings"}.
struct OptimizeReport {
  struct Size {
    uint64_t nodes = 0, variables = 0, functions = 0, bytes = 0;
  };
  Size before, after;
  const std::map<std::string, std::map<std::string, uint64_t>>* steps = nullptr;
  std::string verdict;
  uint64_t proved = 0;
  const std::vector<std::string>*why = nullptr, *left_out = nullptr, *notes = nullptr, *warnings = nullptr;
};
std::string optimize_json(const OptimizeReport& report);

// `retarget -j`: {"release", "done": {KIND: {WHAT: number}}, "obstacles": [{"level", "rule", "subject",
// "message"}], "notes", "warnings"}.
std::string retarget_json(const std::string& release, const RetargetResult& result);

// An error for programs (GEDIT_ERRORS=json): {"line", "file", "subject", "message", "hint"}, on one line.
std::string error_json(const std::string& line, const std::exception& error);

}  // namespace gedit
