// What is to be known of functions before their bodies can stand in the place of calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/library.h"
#include "graph/op_defs.h"

namespace gedit {

// Nodes of a body, in its order, and where each stands among them.
struct BodyNodes {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<uint32_t> nodes;
  std::vector<uint32_t> place;  // by node; kNone: it is none of them

  bool has(uint32_t node) const { return place[node] != kNone; }
};

// A function as any call sees it.
struct CalledFunction {
  std::string_view name;
  Graph* body = nullptr;
  OpDef op;  // its signature
  std::unordered_map<std::string_view, uint32_t> nodes;
  std::unordered_map<std::string_view, std::string_view> returns;  // by output: what it is in the body
  std::unordered_set<std::string_view> reads;                      // arguments, by nodes and returns
  std::unordered_set<std::string_view> needs;                      // the same, by what is needed
  // Nodes whose running the function's end waits for: control_ret, or behind a cond or loop of the body what
  // tells that it is over.
  std::vector<uint32_t> waits;
  std::vector<uint32_t> loose;  // the same of nodes with effects on which nothing of that rests
  // Of each the first in a cond or loop of which nothing tells that it is over.
  std::optional<uint32_t> lost_wait, lost_loose;
  BodyNodes needed;           // for returns and waits
  BodyNodes all;              // and for what is loose
  std::vector<bool> effects;  // by node: its order, and whether it runs, counts
  std::vector<bool> held;     // by node: others wait for it or stand where it does
  std::vector<bool> flow;     // by node: may be dead, or in a loop, where the body alone decides it
  bool binds = false;         // attributes stand for the call's
  bool has_effects = false;   // it, or what it calls
  bool recursive = false;
  bool has_gradient = false;
  bool stays = false;  // asks not to be inlined
};

class CalledFunctions {
 public:
  // Both outlive it.
  CalledFunctions(Library& library, Registry& ops);

  bool has(std::string_view function) const { return by_name_.contains(function); }
  const CalledFunction* find(std::string_view function);  // null where there is none

  // Whether the node does, or depends on, more than its inputs say. Handles of variables and tables do not.
  bool has_effects(std::string_view node_def);
  // Whether it may leave something behind that another run, or who waits for it, finds.
  bool writes(std::string_view node_def);

  Registry& ops() const { return ops_; }
  OpDefs& op_defs() { return op_defs_; }

 private:
  void find_calls();
  void find_effects();
  void find_recursive();
  bool op_has_effects(std::string_view op);
  CalledFunction make(Function& function);

  Library& library_;
  Registry& ops_;
  OpDefs op_defs_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::vector<std::vector<size_t>> calls_;  // functions that each names
  std::unordered_map<std::string_view, CalledFunction> made_;
  std::unordered_set<std::string_view> with_effects_, with_gradient_, recursive_;
};

// What asks that XLA compiles a function: true as an attribute of it, or of a call.
constexpr std::string_view kMustCompile = "_XlaMustCompile";
// By place in the library: whether XLA compiles it, since it or a call asks for that, or such a one calls it
// (docs/tensorflow.md#functions-at-run-time). The main graph is decoded.
std::vector<bool> compiled_functions(const Graph& main, const Library& library);

// `flow` of all nodes of a graph: what Switch, Enter and what is behind them decide.
std::vector<bool> behind_control_flow(const Graph& graph);

// An AttrValue in which what stands for an attribute of the function is that attribute's value in `attrs`, a
// NodeDef with the attributes of the call.
std::string bound_attr(std::string_view attr_value, std::string_view attrs);

}  // namespace gedit
