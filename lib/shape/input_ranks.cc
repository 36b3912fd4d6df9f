#include "shape/input_ranks.h"

namespace gedit {

std::optional<size_t> InputRanks::first(std::string_view function, std::string_view node) {
  if (!inference_) inference_ = std::make_unique<Inference>(graph_, ops_);
  auto found = places_.find(function);
  if (found == places_.end()) {
    Place place{function.empty() ? &inference_->main() : inference_->function(function)};
    const Graph* graph = function.empty() ? &graph_ : inference_->body(function);
    if (place.shapes != nullptr) place.names = std::make_unique<Names>(*graph);
    found = places_.emplace(std::string(function), std::move(place)).first;
  }
  const Place& place = found->second;
  if (place.shapes == nullptr) return std::nullopt;
  const NodeId id = place.names->find(node);
  if (id == kNoNode) return std::nullopt;
  const std::vector<Shape> inputs = place.shapes->input_shapes(id);
  return !inputs.empty() && inputs[0] ? std::optional<size_t>(inputs[0]->size()) : std::nullopt;
}

}  // namespace gedit
