// Tensors inside library functions brought out to the main graph: every function on the way gains an output.
#pragma once

#include <cstdint>
#include <memory>
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
  NodeId call = kNoNode;  // of the main graph, whose last output it is in the end
  uint32_t index = 0;
  DType type = DType::kInvalid;
  Shape shape;
};

// All such tensors of one edit: their ways are found one by one, functions and calls change once.
//   Exposing exposing(model, ops, library, objects); exposing.expose("f//node:1", preferred);
//   exposing.store();
// The calls on a way must be ones that hand outputs on (PartitionedCall and its kind, a function called by
// its name). A function that is called from elsewhere too, or that the object graph names, stays as it is,
// and a copy of it takes its place on the way. The first tensor of a function costs what calls it, directly
// or not; the next ones nothing but themselves.
class Exposing {
 public:
  // `objects` is the object graph, null where there is none. All outlive this; nobody else changes functions
  // or calls before store().
  Exposing(Model& model, Registry& ops, Library& library, SavedObjects* objects);
  ~Exposing();

  // `written` is `FUNCTION//node:1`. One call alone may lead there from the main graph; of several that in
  // `preferred`. Throws Error (kRefused): no such tensor, no way to it, several, or one through a branch or a
  // loop.
  Exposed expose(std::string_view written, const NodeSet& preferred);

  // Functions and calls get the outputs that expose() told of.
  void store();

 private:
  class Ways;
  std::unique_ptr<Ways> ways_;
};

// For an edit that keeps what some outputs need: those inside functions (`FUNCTION//node`) are brought out,
// and become outputs of calls, by name; the others stay as they are written. Throws as expose(), and for an
// input inside a function, which cannot be fed.
std::vector<std::string> expose_outputs(Model& model, Registry& ops, std::vector<std::string> outputs,
                                        const std::vector<std::string>& inputs, Changes& changes);

}  // namespace gedit
