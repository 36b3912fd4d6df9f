// A tensor inside a library function brought out to the main graph: every function on the way gains an
// output.
#pragma once

#include <string>
#include <string_view>

#include "graph/edges.h"
#include "graph/library.h"
#include "graph/types.h"
#include "model/model.h"
#include "model/saved_objects.h"
#include "ops/registry.h"

namespace gedit {

struct Exposed {
  NodeId call = kNoNode;  // of the main graph, whose last output it now is
  uint32_t index = 0;
  DType type = DType::kInvalid;
  Shape shape;
};

// `written` is `FUNCTION//node:1`. The calls on the way must be ones that hand outputs on (PartitionedCall
// and its kind, a function called by its name), and one alone may lead from the main graph there; of several
// of the main graph that in `preferred`. A function that is called from elsewhere too, or that the object
// graph names (`objects`, null where there is none), stays as it is, and a copy of it takes its place on the
// way. Throws Error (kRefused): no such tensor, no way to it, several, or one through a branch or a loop.
Exposed expose(Model& model, Registry& ops, Library& library, SavedObjects* objects, std::string_view written,
               const NodeSet& preferred);

}  // namespace gedit
