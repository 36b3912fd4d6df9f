// How many floating point operations a graph takes, by TensorFlow's own table
// (tensorflow/python/profiler/internal/flops_registry.py, python/ops/nn_ops.py; docs/rules.md#shapes-flops).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "shape/infer.h"
#include "shape/unknown_sources.h"

namespace gedit {

struct ScopeFlops {
  std::string scope;
  uint64_t flops = 0, parameters = 0, bytes = 0;
  Shape largest;  // of what its ops give the one with the most elements
  uint64_t largest_elements = 0;
};

struct Flops {
  uint64_t total = 0;
  std::vector<ScopeFlops> scopes;  // most first; of those with neither operations nor parameters none
  // How many nodes of an op count as 0: it is not in the table, or shapes are not known, or NCHW, which the
  // table has not. What only moves data is not among them.
  std::map<std::string, uint64_t> not_counted;
  std::map<std::string, uint64_t> unknown;  // of these, those whose shapes are not known
  std::vector<UnknownSource> unknown_from;  // which shapes would make them known
  bool loops = false;                       // what stands in a loop is counted once, as for one step
  std::string recursive;                    // a function that calls itself, which is counted once
};

// `depth`: how many parts of a node's name its scope has; 0: the whole graph is one. What a called function
// takes counts where it is called, below the call's name; of branches the one that takes most. Time in
// proportion to the graph and to every body that was looked into.
Flops count_flops(const Graph& graph, Inference& inference, int depth);

}  // namespace gedit
