// One of the two graphs of a proof: its ops, its functions, and what its sources are called.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fold/fold.h"
#include "graph/edges.h"
#include "graph/frames.h"
#include "graph/index.h"
#include "graph/library.h"
#include "graph/names.h"
#include "prove/labels.h"
#include "prove/prove.h"
#include "prove/state.h"
#include "prove/table_contents.h"

namespace gedit {

// What a tensor of A is taken for: another one, or what has this class.
struct Assumed {
  NodeId node = kNoNode;  // kNoNode with `argument`, or with a class
  uint32_t index = 0;
  bool argument = false;
  ClassId what = kDeadClass;
};
using AssumedTensors = std::unordered_map<uint64_t, Assumed>;  // by node and output

// A function's body, made ready when it is first called.
struct CalledBody {
  CalledBody(std::string_view function, Graph& graph) : function(function), graph(graph), names(graph) {}
  std::string_view function;
  Graph& graph;
  Names names;
  std::unordered_map<std::string_view, uint32_t> arguments;  // by name
  std::vector<std::string_view> results;  // as inputs in the body are written, in the order of the signature
  std::string_view odd;                   // why it cannot be seen through; empty where it can
  AssumedTensors assumed;
  std::optional<ClassId> lambda;  // what it is as a value
  bool open = false;              // that is being made
  std::optional<bool> effects;    // known once somebody asked
  std::optional<Frames> frames;   // found when they are first asked for
};

// Where a function is called: how deep in others, and by which calls from the main graph on, where that
// counts.
struct CallPlace {
  int depth = 0;
  uint32_t path = kAnywhere;
  static constexpr uint32_t kMain = 0, kAnywhere = UINT32_MAX;
};

// A variable of a While that is compared with loops of version 1: what it is first, and after an iteration.
struct WhileVariable {
  uint32_t part = 0;  // of the partition
  bool unknown = false;
  bool stays = true;  // as far as is known, it is in every iteration what it was in the one before
  ClassId begin = kDeadClass, next = kDeadClass;
  ClassId unchanged = kDeadClass;  // what would be next of one that stays
};

// What the state of a node goes by: its container and its shared_name, else its own name, but for a
// VarHandleOp, of which all without one are one variable (docs/tensorflow.md#shared-names), and of a variable
// of one run its var_name. Nothing: it is the node's alone.
std::optional<std::string> name_of_state(std::string_view node_def);

class Side {
 public:
  // `name_in_a`: a name of this graph as A has it.
  Side(const ProofSide& side, ProofState& state, std::function<std::string(std::string_view)> name_in_a);

  const Graph& graph() const { return side_.model.graph(); }
  Model& model() const { return side_.model; }
  Registry& ops() const { return side_.ops; }
  AssetDigests& assets() const { return *side_.assets; }
  const Names& names() const { return side_.index != nullptr ? side_.index->names() : *names_; }
  // Of the main graph; found when they are first asked for.
  const Edges& producers();
  const Frames& frames();
  Labels& labels() { return labels_; }
  // Of a node of the main graph, without a look at its record.
  const ProofOp& op(NodeId id);

  std::string name_in_a(std::string_view name) const { return name_in_a_(name); }
  // Whether the other graph has a node that A calls so, or would.
  std::function<bool(std::string_view name_in_a)> other_has;
  // Whether the other graph has a variable that A calls so, or would, of which no value is known.
  std::function<bool(std::string_view name_in_a)> other_lacks_value;
  // What fills a table of the main graph when it is loaded, as far as that is known of it in both graphs and
  // not the same; empty else.
  std::string filled_otherwise(NodeId table);
  // What fills the table of the other graph that is this one there: by its node's name, else by its state's.
  std::function<std::optional<std::string>(std::string_view node_def)> other_contents;
  // `state`: as TableContents::state_of() has it.
  std::optional<std::string> contents_of_table(const std::string& state);
  std::optional<KnownValue> stored(NodeId variable) const {
    return side_.values == nullptr ? std::nullopt : side_.values->find(variable);
  }

  folding::NodeFolder& folder() { return folder_; }
  // Of the main graph; found when they are first asked for.
  const GraphShapes& shapes();
  // Of a body: what holds in all calls of the function that the graph makes; null where nothing does.
  const GraphShapes* shapes(std::string_view function);

  bool has_functions() const { return !functions_.empty(); }
  // Null where there is no such function.
  CalledBody* body(std::string_view function);

  // Tensors of the main graph that are known, by node and output.
  std::unordered_map<uint64_t, ProofTensor> given;
  AssumedTensors assumed;  // of the main graph
  // Takes what is said of a tensor; what names something that is not there says nothing.
  void assume(const AssumedTensor& assumed);
  // Of nodes that are never the same as another: their number among those that are built alike.
  std::unordered_map<uint32_t, uint32_t> ordinals;
  struct Own {
    ClassId built;
    ConditionId when;
  };
  std::unordered_map<uint32_t, Own> owns;  // by node: as it was last numbered
  // Results of functions, by function and arguments.
  std::unordered_map<std::string, std::vector<ProofTensor>> calls;
  // The same of calls by their paths, up to the next round of settle_loops().
  std::unordered_map<std::string, std::vector<ProofTensor>> calls_of_round;
  uint32_t path_of_call(uint32_t from, NodeId node, uint32_t function);
  std::vector<WhileVariable> while_variables;
  // Where those of a While stand.
  size_t first_while_variable(uint32_t path, NodeId node, size_t count);
  int open_lambdas = 0;  // how many are being made
  // Whether two nodes of the main graph hold the state that goes by this name.
  bool shared_by_two(const std::optional<std::string>& name) {
    const Holders* found = holders(name);
    return found != nullptr && found->nodes.size() > 1;
  }
  // By which node's name, as A has it, state is known that two hold, of which this is one: of those that the
  // other graph has, too, the first by name; its own where that is none.
  std::string known_by(NodeId id);

 private:
  struct Holders {  // of the main graph, of one state
    std::vector<NodeId> nodes;
    std::optional<std::string> known_by{};  // once somebody asked: empty where the other graph has none
  };
  Holders* holders(const std::optional<std::string>& name);
  Labels::FunctionText function_text(std::string_view function);

  const ProofSide& side_;
  ProofState& state_;
  std::function<std::string(std::string_view)> name_in_a_;
  std::optional<Names> names_;  // where no index is known
  Library library_;
  std::unordered_map<std::string_view, size_t> functions_;
  std::optional<std::unordered_map<std::string, Holders>> holders_;  // by name of state
  std::unordered_map<std::string_view, std::unique_ptr<CalledBody>> bodies_;
  Labels labels_;
  struct OpsByName {
    Labels& labels;
    const ProofOp& of(std::string_view op) const { return labels.op(op); }
  };
  const OpsByName ops_by_name_{labels_};
  std::optional<OpsOf<const OpsByName>> ops_of_;
  folding::NodeFolder folder_;
  std::optional<Inference> inference_;
  std::optional<Edges> producers_;
  std::optional<Frames> frames_;
  std::map<std::array<uint32_t, 3>, uint32_t> paths_;          // by what they lead on from, node and function
  std::map<std::pair<uint32_t, uint32_t>, size_t> of_whiles_;  // by path and node: in while_variables
  std::optional<TableContents> tables_;
};

// The class of a function as a value: of what it gives for arguments that are only known by their place.
ClassId lambda_of(Side& side, ProofState& state, std::string_view function, int depth = 0);

}  // namespace gedit
