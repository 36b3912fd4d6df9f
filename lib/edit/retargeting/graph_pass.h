// One graph, the main one or a function's body, made into one that a release takes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/by_text.h"
#include "base/fault.h"
#include "edit/functions/inline.h"
#include "edit/retargeting/limits.h"
#include "edit/retargeting/repeats.h"
#include "edit/retargeting/replacements.h"
#include "edit/retargeting/site.h"
#include "model/release_fit.h"

namespace gedit {

// What was done, counted over all graphs of a model.
struct RetargetTally {
  using Counts = std::map<std::string, uint64_t>;  // `Cast.Truncate`, `AddV2 -> Add`
  Counts dropped, hints, replaced, removed, written, contrib, unknown;
  uint64_t casts = 0, shapes = 0;
  uint64_t filled = 0;      // attributes in functions
  uint64_t arrays = 0;      // TensorArrays of which reads of what was not written rest on a hint
  std::string first_array;  // the name of one
  InlineResult inlined;
  std::set<std::string> notes;
  std::vector<Fault> obstacles;
  std::vector<std::pair<std::string, std::string>> changed;  // node, what became of it

  // All of them that are not 0, by the words of docs/rules.md#retarget-report.
  std::map<std::string, Counts> by_kind() const;
  bool changed_nodes() const {
    return !dropped.empty() || !hints.empty() || !replaced.empty() || !removed.empty() || !written.empty() ||
           casts > 0 || inlined.any();
  }
};

class GraphPass {
 public:
  // `fit` knows the writer's release; its functions are those of the graph. All outlive this.
  GraphPass(ReleaseFit& fit, ReleaseNumber release, bool writer_known, Registry& ops, RetargetTally& tally)
      : fit_(fit), release_(release), writer_known_(writer_known), ops_(ops), tally_(tally) {}

  // `function` is empty for the main graph; `shapes` are of the graph as it is before. Linear; what no node
  // is in need of is found on all cores.
  // What is given is still to be applied to the graph; it knows who has `_output_shapes` that are wanted.
  std::shared_ptr<Repeats> run(Graph& graph, std::string_view function,
                               const std::set<std::string, std::less<>>* named_outside, ShapesOfGraph shapes);

  // Every attribute of the nodes in a body that has a default and is not there
  // (docs/rules.md#retarget-attributes).
  void write_defaults(Graph& body);

  bool want_changes = false;
  bool want_all_shaped = false;  // `_output_shapes` of all ops are wanted, not only of kShapedOtherwise
  bool until_obstacle = false;   // run() ends with the first

 private:
  // What is to be known of all nodes of an op.
  struct OpPlan {
    bool known = false;       // to some release, or a function
    size_t least_inputs = 0;  // that each of them has by its place, whichever release wrote it
    const ReplacementRow* replacement = nullptr;
    bool differs = false;  // the release knows the op, and replaced it has to be all the same
    std::vector<std::pair<std::string_view, std::string_view>> defaults{};  // to write where absent
    bool shaped = false;                                                    // its `_output_shapes` are wanted
    bool ranked = false;  // what the release takes is about the ranks of tensors, too
    std::vector<const LimitRow*> limits{};
    std::vector<const SpoilingRow*> spoiling{};
    ReleaseFit::Plain plain = ReleaseFit::Plain::kNone;  // with nothing to write and nothing that differs
  };
  // The plans as OpsOf asks for them.
  struct Plans {
    GraphPass& pass;
    const OpPlan& of(std::string_view op) { return pass.plan(op); }
  };
  const OpPlan& plan(std::string_view op);

  // The nodes that a look at op and dtypes does not let stay as they are, and those with `_output_shapes`.
  std::shared_ptr<Repeats> to_look_at(const Graph& graph);
  // Gives what all that are like the node become, where that is known.
  std::shared_ptr<const Became> retarget(Rewriting& in, NodeId id, std::string_view function, bool added);
  std::shared_ptr<const Became> became(const Graph& graph, NodeId id, std::string_view node_def,
                                       bool shaped) const;
  void tell(std::string_view function, std::string_view name, std::string_view before, std::string_view now);
  void count(RetargetTally::Counts& counts, std::string what);
  void count(uint64_t& number);
  // Why no rule can look at its inputs by their places: some are not there. Empty where they are.
  std::string lacking_inputs(const Site& site);
  // What the release does otherwise with a node that it takes: the node becomes one of which it does not, or
  // messages tell what it is.
  std::vector<std::string> limit(Rewriting& in, std::string& node_def, const OpPlan& planned);
  bool mend(std::string& node_def, const Obstacle& obstacle);
  bool replace(Rewriting& in, std::string& node_def, const std::vector<Obstacle>& left, bool& removed,
               std::string& why);
  std::string_view default_of(std::string_view op, std::string_view key) const;

  ReleaseFit& fit_;
  ReleaseNumber release_;
  bool writer_known_;
  Registry& ops_;
  RetargetTally& tally_;
  ByText<OpPlan> plans_;
  std::vector<uint64_t*> counted_;  // of the node that is looked at
};

}  // namespace gedit
