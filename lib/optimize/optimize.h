// A graph reduced to what inference needs, and nothing that it computes changed
// (docs/rules.md#optimize).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edit/basis/changes.h"
#include "graph/index.h"
#include "model/model.h"
#include "ops/registry.h"
#include "optimize/strip.h"
#include "optimize/subject.h"
#include "optimize/transforms.h"
#include "prove/prove.h"

namespace gedit {

struct OptimizeResult;

struct OptimizeRequest {
  std::vector<std::string> outputs;         // tensors whose values stay; none: those of signatures
  std::vector<std::string> inputs;          // where it is cut; T or T:DTYPE[SHAPE]
  std::vector<std::string> signatures;      // keys; then: those of these alone
  std::vector<std::string> fixes;           // T=VALUE, or `auto`
  std::string keep;                         // a selector: nodes that stay under their names
  std::vector<std::string> bypass;          // selectors: nodes for which what they read first stands
  std::vector<std::string> bypass_nodes{};  // names of such nodes, of any number of inputs
  optimizing::Passes passes;
  bool inlined = false, lowered = false;  // calls, and If, Case and While, give way to what they call
  std::vector<std::string> reroutes;      // NODE:K=T
  optimizing::Strip strip;
  bool sort = false;
  bool fold_norms = false;                        // batch norms into weights: changes numbers
  bool reduce = true;                             // what nothing needs goes; outputs are asked for
  bool graph_alone = false;                       // nothing stays for what lies around
  std::vector<optimizing::Transform> transforms;  // instead of all passes, one after the other
  // Told what each of them made of what, but for the last, which is what `before` is made the input of.
  std::function<void(Model& before, Model& after, const OptimizeResult&)> step_made{};
  bool fold_larger = true;  // into constants that take more bytes than what goes for them, by 1 KiB at most
  bool want_changes = false;
  bool apart = false;  // what it is compared with is not the same model any more
  // Nodes that are only there while it is optimized (optimize/outside.h).
  std::map<std::string, std::string, std::less<>> stand_ins{};
};

struct OptimizeResult {
  Changes changes;
  optimizing::Counts counts;
  std::vector<std::string> outputs;  // whose values stayed, as they are called in both graphs
  std::vector<GivenValue> given;     // what was fixed
  std::vector<optimizing::Assumption> assumptions;
  std::vector<std::string> inexact;            // why numbers are others than they were; empty: they are not
  bool larger = false;                         // some constants take more bytes than what went for them
  uint64_t inlined_bytes = 0;                  // by which inlining made the graph larger
  std::shared_ptr<const GraphIndex> before{};  // of the graph that it is compared with, where it is known
};

// Bytes that its nodes and functions take; the graph is decoded.
uint64_t graph_bytes(const Graph& graph);

// Edits the selected MetaGraph. `before` is the model as it was read, for the proof, and is cut and reduced
// alike; the same as `model` as yet where the request does not say that they are apart. Throws Error (kUsage,
// kRefused).
OptimizeResult optimize(Model& model, Model& before, Registry& ops, const OptimizeRequest& request);

}  // namespace gedit
