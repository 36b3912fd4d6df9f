// One graph, the main one or a function's body, made into one that a release takes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fault.h"
#include "edit/functions/inline.h"
#include "edit/retargeting/replacements.h"
#include "edit/retargeting/site.h"
#include "graph/alike.h"
#include "model/release_fit.h"

namespace gedit {

// What was done, counted over all graphs of a model.
struct RetargetTally {
  using Counts = std::map<std::string, uint64_t>;  // `Cast.Truncate`, `AddV2 -> Add`
  Counts dropped, hints, replaced, removed, written, contrib, unknown;
  uint64_t casts = 0, shapes = 0;
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
  // Where anything was changed by then and `want_shaped`, `_output_shapes` are dropped; otherwise the nodes
  // that have them are given.
  std::vector<NodeId> run(Graph& graph, std::string_view function,
                          const std::set<std::string, std::less<>>* named_outside, ShapesOfGraph shapes);

  bool want_changes = false, want_shaped = false;

 private:
  // What is to be known of all nodes of an op.
  struct OpPlan {
    bool known = false;  // to some release, or a function
    const ReplacementRow* replacement = nullptr;
    bool differs = false;  // the release knows the op, and replaced it has to be all the same
    std::vector<std::pair<std::string_view, std::string_view>> defaults{};  // to write where absent
    bool ranked = false;  // what the release takes is about the ranks of tensors, too
    ReleaseFit::Plain plain = ReleaseFit::Plain::kNone;  // with nothing to write and nothing that differs
  };
  // The plans as OpsOf asks for them.
  struct Plans {
    GraphPass& pass;
    const OpPlan& of(std::string_view op) { return pass.plan(op); }
  };
  const OpPlan& plan(std::string_view op);

  // What became of a node by its op and attributes alone, and becomes of all that are like it.
  struct Became {
    bool changed = false;
    std::string op, attrs;  // in place of its own: the field of the op, empty for the same; all attributes
    std::vector<uint64_t*> counts;  // those of the tally that it raised
  };
  using BecamePtr = std::shared_ptr<const Became>;
  // Nodes that a look at op and dtypes does not let stay as they are, of one stretch of the graph, in order.
  // Of one group are those that have the same op, attributes and number of data inputs.
  struct Stretch {
    struct Node {
      NodeId id;
      uint32_t group;
      uint32_t front;  // bytes before its first attribute
      bool shaped;     // has `_output_shapes`
    };
    struct Group {
      NodeId looked_at = kNoNode;  // the first of them that was
      uint64_t times = 0;          // that what became of it became of another
      BecamePtr became{};          // null: each has to be looked at
    };
    std::vector<Node> nodes;
    std::vector<Group> groups;
    std::vector<NodeId> shaped;  // besides `nodes`, in order
    size_t bytes = 0;            // of all of them, which become fewer as a rule

    // Whether it becomes what another of its group became.
    bool repeats(const Node& node) const {
      const Group& group = groups[node.group];
      return group.became != nullptr && group.became->changed && group.looked_at != node.id;
    }
  };

  std::vector<Stretch> to_look_at(const Graph& graph);
  // Gives what all that are like the node become, where that is known.
  BecamePtr retarget(Rewriting& in, NodeId id, std::string_view function, bool added);
  BecamePtr became(const Graph& graph, NodeId id, std::string_view node_def) const;
  // All nodes of a group become what one of it became; with `unshaped` all others lose `_output_shapes`. The
  // number of these.
  static uint64_t repeat(Graph& graph, const std::vector<Stretch>& stretches, bool unshaped);
  static void append_repeated(std::string& records, const Graph& graph, const Stretch::Node& node,
                              const Became& became);
  void tell(std::string_view function, std::string_view name, std::string_view before, std::string_view now);
  void count(RetargetTally::Counts& counts, std::string what);
  bool mend(std::string& node_def, const Obstacle& obstacle);
  bool replace(Rewriting& in, std::string& node_def, const std::vector<Obstacle>& left, bool& removed,
               std::string& why);
  std::string_view default_of(std::string_view op, std::string_view key) const;

  ReleaseFit& fit_;
  ReleaseNumber release_;
  bool writer_known_;
  Registry& ops_;
  RetargetTally& tally_;
  std::unordered_map<std::string_view, OpPlan> plans_;
  std::vector<uint64_t*> counted_;  // of the node that is looked at
};

}  // namespace gedit
