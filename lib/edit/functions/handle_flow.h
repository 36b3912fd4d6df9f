// Where the handles and references of variables go in a graph or in a function's body, and what is done with
// them there: docs/rules.md#freeze-readers, docs/rules.md#freeze-functions, docs/rules.md#freeze-writers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/by_text.h"
#include "graph/graph.h"
#include "graph/op_defs.h"
#include "graph/types.h"

namespace gedit {

// A tensor that is a variable's handle or a reference to it.
struct Carried {
  DType dtype = DType::kInvalid;  // of the variable, without reference
  Shape shape;                    // of the variable
  std::string variable;           // the first one, where branches meet
  bool reference = false;         // else a resource handle
  bool switched = false;          // came through a Switch: only some runs see it
};

// What a node does with it.
enum class Use : uint8_t {
  kPass,   // hands it on: Switch, Merge, Enter, ...
  kRead,   // ReadVariableOp, ResourceGather, ...: becomes an op on the value
  kCall,   // passes it to functions
  kWrite,  // Assign*, Scatter*, Apply*; all that is not known, too
  kValue,  // takes a reference's value like any tensor: nothing is to be done
};

// How an op takes its handle apart from an ordinary one's: inputs that become a function's arguments.
struct CallForm {
  std::string_view types;                   // list(type) attribute, empty: none (a legacy call)
  std::vector<std::string_view> functions;  // attributes that hold a function, or a list of them
  uint32_t first = 0;                       // input of the first argument
  bool loop = false;                        // what the function returns goes in again
};
// Nothing where a node of this op calls no function; legacy calls are for the caller to know.
std::optional<CallForm> call_form(std::string_view op);

// A tensor is written as the graph's inputs write it: `n`, `n:1`; in a body `argument`, `n:out:0`.
class HandleFlow {
 public:
  // `readers` gives the nodes that read any output of the node (or argument) of that name; nodes for which
  // `regards` is false are not looked at.
  // `is_function`: whether an op is the name of a library function, called the older way.
  using Readers = std::function<std::vector<NodeId>(std::string_view)>;
  struct Questions {
    Readers readers;
    std::function<bool(NodeId)> regards;
    std::function<bool(std::string_view)> is_function;
  };
  HandleFlow(const Graph& graph, Registry& ops, Questions questions);

  void seed(const std::string& tensor, const Carried& carried) { add(tensor, carried); }
  void run();  // goes on from what was added

  const Carried* find(std::string_view input) const;
  // Nodes that read a handle or reference as such, in the order of the graph.
  const std::map<uint32_t, Use>& users() const { return users_; }

  // Nodes that take the value of a reference as if it were any tensor, and stay as they are.
  const std::set<uint32_t>& value_readers() const { return value_readers_; }

  // The carried inputs of a node by slot; they stay, and are as what run() finds makes them.
  std::map<uint32_t, const Carried*> carried_inputs(NodeId id) const;

  // As find() wants it: `n:0` of a main graph is `n`. A view of `input`.
  std::string_view canonical(std::string_view input) const;
  // Output `index` of a node that hands on, as an input writes it.
  std::string output_of(NodeId id, uint32_t index) const;

  // An output of a call that turned out to be a handle.
  void add(const std::string& tensor, const Carried& carried) { add(carried_, tensor, carried); }
  // The calls that run() came by since the last time, each once.
  std::set<NodeId> take_calls() { return std::exchange(calls_, {}); }

 private:
  void visit(NodeId id);
  using Types = std::optional<std::vector<DType>>;  // nothing where the op is unknown
  Types types_of(std::string_view node_def, bool outputs);
  Use use_of(std::string_view op, uint32_t slot, const Carried& carried, const Types& types) const;
  using Tensors = ByText<Carried>;
  void add(Tensors& tensors, const std::string& name, const Carried& carried);

  const Graph& graph_;
  OpDefs ops_;
  Questions ask_;
  Tensors carried_;
  Tensors switches_;  // by name: nodes of which every output carries the same
  std::map<uint32_t, Use> users_;
  std::set<uint32_t> value_readers_;
  std::set<NodeId> calls_;
  std::vector<std::string> fresh_;
};

}  // namespace gedit
