// A graph, a main one or a function's body, while calls in it give way to nodes.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/first_free.h"
#include "graph/graph.h"
#include "graph/names.h"

namespace gedit {

// A control input, or tie, is written without its `^` here.
class InlinedGraph {
 public:
  // Decoded; outlives this. Nodes are removed, and readers learn of it, in finish().
  explicit InlinedGraph(Graph& graph);

  Graph& graph() const { return graph_; }
  bool is_body() const { return graph_.is_body(); }

  std::string free_name(std::string_view base);
  std::string free_frame(std::string_view base);
  NodeId add(std::string_view node_def);
  uint64_t added() const { return added_.size(); }

  // Output `number` of `output`, which is output `index` of all, as this graph's inputs write it.
  std::string text(std::string_view node, std::string_view output, uint32_t number, uint32_t index) const;
  std::string text(std::string_view node, std::string_view output = "output") const {
    return text(node, output, 0, 0);
  }

  NodeId find(std::string_view node) const;  // kNoNode where there is none
  // The node that gives a tensor; kNoNode for an argument of the body.
  NodeId producer(std::string_view tensor) const;

  // Whoever reads tensor `from` reads `to` from now on. `to` itself is not redirected where it is of the node
  // that stands in for its own call, whose tensors go by other names now.
  void redirect(std::string_view from, std::string to, bool of_stand_in = false);
  // What is read where `tensor` is written.
  std::string resolved(std::string_view tensor);
  void remove(NodeId id) { removed_.push_back(id); }

  void finish();

 private:
  std::string canonical(std::string_view tensor) const;
  std::string_view node_of(std::string_view tensor) const;
  void rewire(NodeId id);
  void rewire_returns();

  Graph& graph_;
  Names names_;
  std::unordered_set<std::string> given_;  // names, and arguments of the body
  FreeNames free_names_;
  std::unordered_map<std::string_view, NodeId> added_;
  struct Redirect {
    std::string to;
    bool last;
  };
  std::unordered_map<std::string, Redirect> redirects_;  // by canonical text
  std::unordered_set<std::string> redirected_;           // nodes of which some tensor is
  std::set<std::string, std::less<>> frames_;
  FreeNames free_frames_;
  bool frames_known_ = false;
  std::vector<NodeId> removed_;
};

}  // namespace gedit
