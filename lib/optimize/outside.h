// What of a main graph has to stay under its name, for whoever uses it: outputs, what signatures name, state,
// init ops and savers, what a user wants to keep (docs/rules.md#optimize-names).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimize/optimize.h"
#include "optimize/subject.h"

namespace gedit::optimizing {

// The tensors that are asked for: outputs, else those of signatures, whose inputs stay as well.
struct Wanted {
  std::vector<std::string> outputs, inputs, kept;
  std::vector<std::string> fetched() const;  // or fed: no node of a loop can be
  std::vector<std::string> all() const;
};
// Throws Error (kUsage) where there are none.
Wanted wanted_by(const Model& model, const OptimizeRequest& request);

// Nodes that --keep hits. Throws Error (kUsage, kRefused).
std::vector<NodeId> nodes_to_keep(Model& model, Registry& ops, const OptimizeRequest& request);

// Keeps what fills an iterator that is needed, with groups of nothing else: a run of it needs that. `ends`:
// tensors behind which nothing is needed.
void keep_fillers(Model& model, Registry& ops, const std::vector<std::string>& ends, Wanted& wanted);

// Fills in what of the graph is asked for, kept and untouched. `reduced`: the graph holds what the wanted
// tensors need, and what its state needs to be initialized and saved.
// `known`: the index of the graph, or of an equal one, where there is one. Whether it is seen that the wanted
// tensors need all that is there.
bool protect(Model& model, Registry& ops, const OptimizeRequest& request, const Wanted& wanted,
             Subject& subject, const GraphIndex* known = nullptr);

using StandIns = std::map<std::string, std::string, std::less<>>;  // by name: the tensor
// Puts a PlaceholderWithDefault between each tensor that a signature feeds and the graph computes, and all
// that read it: nothing follows from what is computed there, since another value may be fed. But for tensors
// that are to be `fixed`, T=VALUE. The names of these nodes; the same for the same graph.
StandIns stand_in_for_inputs(Model& model, Registry& ops, const std::vector<std::string>& fixed);
// Takes them out again.
void remove_stand_ins(Graph& graph, const StandIns& names);

// Contexts of conds and loops, which describe what is no longer there.
void drop_contexts(MetaGraph& meta);

}  // namespace gedit::optimizing
