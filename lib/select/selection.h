// What a selector hits in a model.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "graph/edges.h"
#include "model/model.h"
#include "ops/registry.h"
#include "select/selector.h"

namespace gedit {

class Inference;
class Names;
struct Library;

// Nodes of the main graph, and of library functions by their index in the library.
struct Selection {
  NodeSet nodes;
  std::map<size_t, NodeSet> in_functions;

  bool empty() const { return count() == 0; }
  size_t count() const;
};

// Evaluates selectors over one model; what it derives (names, edges, library) is made when it is first needed
// and shared by all selectors asked. The model is not edited meanwhile, but for what an editor says.
class Selecting {
 public:
  Selecting(Model& model, Registry& ops);
  ~Selecting();
  Selecting(const Selecting&) = delete;
  Selecting& operator=(const Selecting&) = delete;

  Selection evaluate(const Selector& selector);

  // The same, refusing what hits nothing with the nearest names (an edit's selector).
  Selection require(std::string_view text);

  // `matches nothing` as an error with the nearest names.
  Error nothing(std::string_view text);

  // Attributes of nodes changed, of shapes among them: what was inferred is so no longer. `make` infers anew
  // when a selector asks for it; without it the graph as it lies.
  void forget_shapes();
  void infer_shapes_by(std::function<std::unique_ptr<Inference>()> make);

  const Names& names();      // of the main graph
  const Edges& producers();  // of the main graph
  Library& library();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gedit
