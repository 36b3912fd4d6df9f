#include "edit/functions/unfolded_size.h"

#include <limits>
#include <string>

#include "base/error.h"
#include "graph/function_names.h"
#include "graph/library.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

uint64_t sum(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max() : a + b;
}

}  // namespace

UnfoldedSizes::UnfoldedSizes(std::string_view library, Arena& arena, const InlineRequest& request)
    : request_(request) {
  std::vector<std::string_view> defs;
  for (Fields fields(library); fields.next();) {
    if (!fields->bytes(library_field::kFunction)) continue;
    const std::string_view name = function_name(fields->value);
    if (!by_name_.emplace(name, static_cast<uint32_t>(functions_.size())).second) continue;
    functions_.push_back({.name = name, .unfolded = {}});
    defs.push_back(fields->value);
  }
  for (size_t i = 0; i < defs.size(); ++i) {
    Function& function = functions_[i];
    each_node_in(defs[i], arena, [&](std::string_view node_def) {
      ++function.nodes;
      each_unfolded(node_def, [&](uint32_t called) { function.unfolded.push_back(called); });
    });
  }
  add_up();
}

template <typename Use>
void UnfoldedSizes::each_unfolded(std::string_view node_def, Use use) const {
  const std::string_view op = node_op(node_def);
  const OpKinds kinds = kinds_of(op);
  const bool branches = kinds.has_any(kFunctionalFlow);
  if (branches ? !request_.lower : !kinds.has(OpKind::kLocalCall) && !by_name_.contains(op)) return;
  if (request_.wanted != nullptr && !request_.wanted(node_def)) return;
  each_function_named(node_def, [&](std::string_view name) {
    if (const auto found = by_name_.find(name); found != by_name_.end()) use(found->second);
  });
}

// Each function behind those that it calls; a call back into one that is not done, which stays a call, adds
// nothing.
void UnfoldedSizes::add_up() {
  struct Step {
    uint32_t function;
    size_t next = 0;
  };
  enum class State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(functions_.size(), State::kNew);
  std::vector<Step> open;
  for (uint32_t first = 0; first < functions_.size(); ++first) {
    if (states[first] == State::kNew) open.push_back({first});
    while (!open.empty()) {
      Step& step = open.back();
      Function& function = functions_[step.function];
      states[step.function] = State::kOpen;
      if (step.next == function.unfolded.size()) {
        states[step.function] = State::kDone;
        open.pop_back();
        continue;
      }
      const uint32_t called = function.unfolded[step.next];
      if (states[called] == State::kNew) {
        open.push_back({called});
        continue;
      }
      if (states[called] == State::kDone) function.nodes = sum(function.nodes, functions_[called].nodes);
      ++step.next;
    }
  }
}

uint64_t UnfoldedSizes::of(const Graph& graph) const {
  uint64_t nodes = 0;
  graph.each_record([&](std::string_view node_def) {
    nodes = sum(nodes, 1);
    each_unfolded(node_def, [&](uint32_t called) { nodes = sum(nodes, functions_[called].nodes); });
  });
  return nodes;
}

void UnfoldedSizes::refuse_endless(const Graph& graph) const {
  uint64_t nodes = 0;
  graph.each_record([&](std::string_view node_def) {
    ++nodes;
    each_unfolded(node_def, [&](uint32_t called) {
      nodes = sum(nodes, functions_[called].nodes);
      if (nodes > kMostUnfolded)
        throw refused("its calls unfold to more than " + std::to_string(kMostUnfolded) + " nodes")
            .of(quoted("function", functions_[called].name));
    });
  });
}

}  // namespace gedit
