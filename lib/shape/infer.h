// The shape of every tensor of a graph: what follows from the shapes of its inputs
// (docs/rules.md#shapes).
//
//   Inference inference(graph, ops);
//   inference.main().shape(node, 0);
//
// Graph and registry outlive it, and the graph stays as it is; nodes are read where they lie.
// Whatever the graph is, it takes time in proportion to it: loops are gone around 16
// times, at most 10,000 combinations of function and argument shapes are looked at, 100 calls deep; beyond
// that a shape counts as unknown.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/index.h"
#include "graph/types.h"
#include "ops/registry.h"

namespace gedit {

class LikeNodes;

// A shape that a tensor of the main graph is to have, whatever the file says of it.
struct StatedShape {
  NodeId node = kNoNode;
  uint32_t output = 0;
  Shape shape;
};

struct InferRequest {
  std::vector<StatedShape> inputs;
  // Whether `_output_shapes` and the like of the file count: where nothing else is known, and nothing
  // upstream has another shape than it had.
  bool file_shapes = true;
  // Of the graph, where somebody has it; outlives the inference.
  const LikeNodes* like = nullptr;
};

// Something that TensorFlow would refuse whatever is fed.
struct ShapeContradiction {
  std::string function;  // empty: the main graph
  std::string node, op, message;
};

// What is known of a tensor, as GraphShapes says it one by one.
struct TensorFacts {
  Shape shape;
  std::vector<uint32_t> symbols;
  std::optional<std::vector<std::optional<int64_t>>> elements;
};

// Of the tensors of one graph, the main one or a function's body. Dimensions are -1 where they are unknown.
class GraphShapes {
 public:
  virtual ~GraphShapes() = default;
  virtual uint32_t outputs(NodeId id) const = 0;
  // Nothing where the rank is unknown, and for an output that there is not.
  virtual Shape shape(NodeId id, uint32_t output = 0) const = 0;
  // For every dimension of shape(): 0 where it is known or equal to no other, else a number that stands for
  // its size: dimensions with the same number are equal.
  virtual std::vector<uint32_t> symbols(NodeId id, uint32_t output = 0) const = 0;
  // The elements of a small integer tensor, those that are known; nothing where none is.
  virtual std::optional<std::vector<std::optional<int64_t>>> elements(NodeId id,
                                                                      uint32_t output = 0) const = 0;
  // The shape of what a handle stands for: of a variable, of a list's or array's elements.
  virtual Shape behind(NodeId id, uint32_t output = 0) const = 0;
  // What the inputs of a node are, data inputs alone, in their order.
  virtual std::vector<Shape> input_shapes(NodeId id) const = 0;
  virtual std::vector<TensorFacts> inputs(NodeId id) const = 0;
};

class Inference {
 public:
  Inference(const Graph& graph, Registry& ops, const InferRequest& request = {});
  // The same by somebody's index, which outlives it.
  Inference(const GraphIndex& index, Registry& ops, const InferRequest& request = {});
  ~Inference();
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  const GraphShapes& main() const;
  // Of a function's body: what holds in all calls of it; by its node's position there. Null where there is no
  // such function. The ids are those of `body(function)`.
  const GraphShapes* function(std::string_view name);
  const Graph* body(std::string_view name);
  // Of the function's arguments and of what it returns, where each is one tensor; else, and where nothing is
  // known of how it is called, nothing.
  std::vector<Shape> arguments(std::string_view name);
  std::vector<Shape> results(std::string_view name);
  // Of the bodies of the functions that a node calls, as they are in this call: branches, or condition and
  // body, as far as all before were looked into. Costs what the node takes and names.
  struct Called {
    std::string_view function;
    const GraphShapes* shapes;
  };
  std::vector<Called> called(const GraphShapes& caller, NodeId id);

  // By graph, in the order of its nodes.
  const std::vector<ShapeContradiction>& contradictions() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gedit
