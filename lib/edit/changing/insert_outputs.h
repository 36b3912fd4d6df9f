// What is given out of a graph or a function, where a node is inserted behind it: returns of functions and
// outputs of signatures follow (docs/rules.md#insert).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/map_entry.h"
#include "edit/basis/changes.h"
#include "edit/changing/insert_place.h"

namespace gedit {

class InsertOutputs {
 public:
  // Decides what every output becomes. Throws Error (kRefused) where one has another type.
  InsertOutputs(const Model& model, const InsertPlace& place);

  void apply(Model& model, Changes& changes);

 private:
  void map_returns();
  void map_signatures(const Model& model);
  std::string mapped_signature(const MapEntry& entry);

  const InsertPlace& place_;
  std::optional<std::vector<std::string>> returns_, signatures_;
  std::vector<std::pair<std::string, std::string>> said_;
};

}  // namespace gedit
