// A tensor inside a library function brought out to the main graph: every function on the way gains an
// output.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "edit/basis/changes.h"
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

// Functions of which copies stand on the ways of tensors that were exposed before, by name: what lies in one
// of them is looked for in its copy. One map serves all tensors of an edit.
using ExposedCopies = std::map<std::string, std::string, std::less<>>;

// `written` is `FUNCTION//node:1`. The calls on the way must be ones that hand outputs on (PartitionedCall
// and its kind, a function called by its name), and one alone may lead from the main graph there; of several
// of the main graph that in `preferred`. A function that is called from elsewhere too, or that the object
// graph names (`objects`, null where there is none), stays as it is, and a copy of it takes its place on the
// way. Throws Error (kRefused): no such tensor, no way to it, several, or one through a branch or a loop.
Exposed expose(Model& model, Registry& ops, Library& library, SavedObjects* objects, std::string_view written,
               const NodeSet& preferred, ExposedCopies& copies);

// For an edit that keeps what some outputs need: those inside functions (`FUNCTION//node`) are brought out,
// and become outputs of calls, by name; the others stay as they are written. Throws as expose(), and for an
// input inside a function, which cannot be fed.
std::vector<std::string> expose_outputs(Model& model, Registry& ops, std::vector<std::string> outputs,
                                        const std::vector<std::string>& inputs, Changes& changes);

}  // namespace gedit
