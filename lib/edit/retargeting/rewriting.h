// A graph in which nodes are replaced, while others take their place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "edit/basis/names.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "ops/registry.h"
#include "shape/infer.h"

namespace gedit {

// What is known of a tensor's shape: dimensions are -1 where they are unknown, and equal to each other where
// they have one symbol, which is not 0.
struct KnownShape {
  Shape shape;
  std::vector<uint32_t> symbols{};

  bool equal_to(const KnownShape& other, size_t first, size_t last) const;  // dimensions [first, last)
  bool equal_to(const KnownShape& other) const;
};

// What follows for the tensors of a graph, and the graph for whose nodes it does.
struct ShapesOfGraph {
  const GraphShapes* shapes = nullptr;
  const Graph* graph = nullptr;
  std::unordered_map<std::string, Shape> arguments{};  // of a function, by name
};

class SeedKeys;

// A graph, the main one or a function's body, in which nodes are replaced. What it knows of the graph is of
// before the first change, and made when it is first asked for.
class Rewriting {
 public:
  // `named_outside`: tensors and nodes of the main graph that a signature or a collection names; null: none.
  // `takes`: whether the release has the op. The graph is decoded; all outlive this.
  // `shapes`: what is known of the nodes of before, by their numbers; may be nothing.
  Rewriting(Graph& graph, Registry& ops, const std::set<std::string, std::less<>>* named_outside,
            ShapesOfGraph shapes, std::function<bool(std::string_view)> takes);

  Graph& graph() const { return graph_; }
  Registry& ops() const { return ops_; }
  bool takes(std::string_view op) const { return takes_(op); }
  const Names& names();

  // A tensor in the one way in which it is written here: `a:0` for `a`, `a:y:0` for `a:y`; an argument alone.
  std::string canonical(std::string_view input) const;
  // The node that an input reads; kNoNode for an argument.
  NodeId producer(std::string_view input);
  KnownShape shape(std::string_view input);
  bool named(const std::string& canonical);   // by what lies around the main graph
  bool leaves(const std::string& canonical);  // or is what the function returns
  // Whether a node, a signature, a collection or a function's return reads the tensor.
  bool read(const std::string& canonical);
  // Output `index` of a node of this op, in which no output before it is a list.
  std::string output(std::string_view node, std::string_view op, uint32_t index);

  const SeedKeys& seed_keys();

  std::string free_name(std::string_view base);
  void add(std::string node_def) { added_.push_back(std::move(node_def)); }
  // Nodes added since this was last asked, which may be in need of replacing themselves.
  std::vector<NodeId> take_added();

  // Whoever reads tensor `from` (canonical) reads `to` from now on.
  void redirect(const std::string& from, const std::string& to);
  // The node is gone, and whoever waited for it waits for these (`^a`).
  void remove(NodeId id, std::vector<std::string> waits);

  // Rewires all readers. Behind it nothing more is asked.
  void finish();

 private:
  std::string redirected(const std::string& input) const;
  // The nodes, and in place of those that are gone what they waited for; no arguments.
  std::vector<std::string> what_stays(const std::vector<std::string>& nodes) const;
  std::string rewired(std::string_view node_def) const;

  Graph& graph_;
  Registry& ops_;
  const std::set<std::string, std::less<>>* named_outside_;
  ShapesOfGraph shapes_;
  std::function<bool(std::string_view)> takes_;
  std::optional<Names> names_;
  std::optional<NewNames> new_names_;
  std::optional<std::unordered_set<std::string>> read_;  // by nodes
  std::optional<std::unordered_set<std::string>> leaving_;
  std::shared_ptr<const SeedKeys> seed_keys_;
  std::vector<std::string> added_;
  std::unordered_map<std::string, std::string> redirects_;
  std::unordered_multimap<std::string, std::string>
      redirected_to_;  // canonical: by the tensor that is read now
  std::unordered_map<std::string, std::vector<std::string>> removed_;
  std::unordered_set<std::string> arguments_;  // of a function: nobody has to wait for them
};

}  // namespace gedit
