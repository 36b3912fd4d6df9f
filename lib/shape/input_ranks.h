// Ranks of what nodes read, inferred when one is first asked for.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "graph/names.h"
#include "shape/infer.h"

namespace gedit {

class InputRanks {
 public:
  // Both outlive it, and the graph stays as it is.
  InputRanks(const Graph& graph, Registry& ops) : graph_(graph), ops_(ops) {}

  // Of the first input of a node of this function, whose name is empty for the main graph; nothing where it
  // is not known, or not the same in all calls.
  std::optional<size_t> first(std::string_view function, std::string_view node);

 private:
  struct Place {
    const GraphShapes* shapes = nullptr;  // null: there is no such function
    std::unique_ptr<Names> names{};
  };

  const Graph& graph_;
  Registry& ops_;
  std::unique_ptr<Inference> inference_;
  std::map<std::string, Place, std::less<>> places_;  // by function
};

}  // namespace gedit
