// What says where and how a graph was made, and nothing of what it computes (docs/rules.md#optimize-strip).
#pragma once

#include <string_view>

#include "model/model.h"
#include "ops/registry.h"
#include "optimize/subject.h"

namespace gedit::optimizing {

struct Strip {
  bool device = false;     // of nodes
  bool classes = false;    // `_class`
  bool shapes = false;     // `_output_shapes`, `_input_shapes`
  bool debug = false;      // where nodes were made
  bool defaults = false;   // attributes that are what their op has without them
  bool functions = false;  // attributes that name functions of gradients
  bool any() const { return device || classes || shapes || debug || defaults || functions; }
};

// Of the selected graph and its functions. Adds to `counts` what went.
void strip(Model& model, Registry& ops, const Strip& what, Counts& counts);

}  // namespace gedit::optimizing
