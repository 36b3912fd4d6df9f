// What tensorflow/tools/graph_transforms/transform_graph takes as --transforms, as far as it is followed
// (docs/rules.md#optimize-transforms).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.h"
#include "ops/registry.h"
#include "optimize/subject.h"

namespace gedit::optimizing {

struct Transform {
  std::string name;
  std::vector<std::pair<std::string, std::string>> values;  // parameters, in their order

  bool has(std::string_view key) const;
  // The last of that name; `otherwise` where there is none.
  std::string value(std::string_view key, std::string_view otherwise = {}) const;
  std::vector<std::string> all(std::string_view key) const;
};

// `fold_constants(ignore_errors=true) remove_nodes(op=Identity, op="CheckNumerics")`. Throws Error (kUsage)
// for what is no such text, and for what is not followed.
std::vector<Transform> parse_transforms(std::string_view text);

// What a transform does to nodes one by one, whatever they compute.
struct NodeTransformed {
  uint64_t nodes = 0;  // that changed
  std::string why;     // values may be others now; empty: they are not
};
// Whether it is one of these; edits the selected graph. `kept`: nodes that stay under their names, of
// obfuscate_names. Throws Error (kUsage, kRefused).
bool transform_nodes(Model& model, const Transform& transform, const std::vector<bool>& kept,
                     NodeTransformed& done);

}  // namespace gedit::optimizing
