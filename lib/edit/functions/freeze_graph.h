// A graph, or a function's body, in which the handles and references of variables become their values:
// docs/rules.md#freeze-readers, docs/rules.md#freeze-writers. What becomes of the variables themselves is
// the caller's business.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "edit/basis/cond_pivots.h"
#include "edit/basis/names.h"
#include "edit/functions/handle_flow.h"
#include "graph/frames.h"
#include "graph/names.h"

namespace gedit {

// A function for constants in place of handles.
struct FrozenFunction {
  std::string name;
  std::map<uint32_t, Carried> results;  // what it returns that was a handle, by output
  std::set<uint32_t> written{};         // arguments that the original writes
};

// What freezing a graph asks of its surroundings.
struct FreezeContext {
  Registry& ops;
  NewNames& names;
  Pivots& pivots;
  const Frames* frames = nullptr;  // of a main graph with loops
  // The function with constants for these arguments.
  std::function<FrozenFunction(std::string_view function, const std::map<uint32_t, Carried>& arguments)>
      specialise;
  std::string function{};           // whose body it is; empty: the main graph
  const Names* nodes = nullptr;     // of the graph with `frames`
  const NodeSet* moving = nullptr;  // of it, where there are loops: moving_nodes()
};

class GraphFreezing {
 public:
  GraphFreezing(Graph& graph, HandleFlow& flow, FreezeContext context);

  // Follows the handles, through calls as well. Throws Error (kRefused).
  void settle();

  // The nodes that write variables.
  std::vector<NodeId> writers() const;
  bool writes(NodeId id) const;
  // The variables that a node writes, by itself or, which settle() has found out, in the functions that it
  // calls.
  std::set<std::string> written_by(NodeId id) const;
  // What stands for the value of a writer's output 0: the variable's, as an input writes it. Throws Error
  // (kRefused) where the variable does not come through a Switch: then the outputs hang on what is written.
  std::string bypass(NodeId writer) const;

  // The tensor, as an input writes it, that `reader` waits for instead of the writer that goes; nothing where
  // it has an input of its own that tells when to run, or runs always.
  std::optional<std::string> waits_for(NodeId reader, NodeId writer) const;

  // Rewrites every node that uses a handle, but writers.
  void convert();
  // Of a node that asks whether a variable is initialized: it is.
  void answer(NodeId id);

  // Texts of inputs that are called otherwise after convert(): `x:value:0` of a body.
  const std::map<std::string, std::string>& renamed() const { return renamed_; }

 private:
  std::string subject(NodeId id) const;  // `node 'FUNCTION//NODE'`
  bool moves(std::string_view input) const;
  bool tells_when(NodeId reader) const;
  bool in_loop(NodeId id) const { return context_.frames != nullptr && context_.frames->of(id) != 0; }
  void pass(NodeId id);
  void select(NodeId id, const std::string& node_def, DType dtype);
  void read(NodeId id);
  void call(NodeId id);
  void read_attributes(NodeId id);
  std::string axis_of(NodeId id, const std::string& indices, int64_t axis);
  std::string output_text(const std::string& node, std::string_view arg) const;
  std::map<uint32_t, Carried> arguments_of(NodeId id, const CallForm& form) const;
  CallForm form_of(NodeId id) const;

  Graph& graph_;
  HandleFlow& flow_;
  FreezeContext context_;
  struct Call {
    std::map<uint32_t, Carried> arguments;
    std::vector<std::vector<FrozenFunction>> functions;  // by attribute, each a function or a list of them
    std::map<uint32_t, Carried> results;
  };
  std::map<uint32_t, Call> calls_;
  std::map<std::string, std::string> renamed_;
};

// The refusal of a node that is read although it writes the variable, or does with it what no constant can.
Error outright_write(const Graph& graph, NodeId writer, const std::string& variable,
                     std::string_view function = {});

}  // namespace gedit
