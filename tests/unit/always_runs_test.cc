// Which nodes run once in each call, and what is waited for instead of one that may not.
#include "edit/functions/always_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/names.h"
#include "listed_model.h"

namespace gedit::always_runs_test {

struct Row {
  const char* what;
  std::string nodes;
  std::vector<std::string> asked, behind;
  std::string lost;  // empty: none
};

const std::string kSources =
    "x = Placeholder() {dtype: DT_FLOAT, shape: []}\n"
    "p = Placeholder() {dtype: DT_BOOL, shape: []}\n"
    "q = Placeholder() {dtype: DT_BOOL, shape: []}\n";

TEST(AlwaysRuns, WhatIsBehind) {
  const std::string sides =
      "s = Switch(x, p) {T: DT_FLOAT}\n"
      "off = Neg(s) {T: DT_FLOAT}\n"
      "on = Exp(s:1) {T: DT_FLOAT}\n";
  const std::string loop =
      "e = Enter(x) {T: DT_FLOAT, frame_name: \"f\", is_constant: false, parallel_iterations: 10}\n"
      "m = Merge(e, n) {N: 2, T: DT_FLOAT}\n"
      "c = LoopCond(p_in)\n"
      "p_in = Enter(p) {T: DT_BOOL, frame_name: \"f\", is_constant: true, parallel_iterations: 10}\n"
      "s = Switch(m, c) {T: DT_FLOAT}\n"
      "body = Neg(s:1) {T: DT_FLOAT}\n"
      "n = NextIteration(body) {T: DT_FLOAT}\n"
      "out = Exit(s) {T: DT_FLOAT}\n";
  for (const Row& row : std::vector<Row>{
           {"neither branch nor loop", "a = Neg(x) {T: DT_FLOAT}\n", {"a"}, {"a"}, ""},
           {"a branch of which nothing is merged", sides, {"off"}, {}, "off"},
           {"a branch, by its Merge",
            sides + "y = Merge(off, on) {N: 2, T: DT_FLOAT}\n",
            {"off", "on"},
            {"y"},
            ""},
           {"by an Identity of the predicate",
            sides + "id = Identity(p) {T: DT_BOOL}\nt = Switch(x, id) {T: DT_FLOAT}\n"
                    "b = Add(off, t) {T: DT_FLOAT}\ny = Merge(b, on) {N: 2, T: DT_FLOAT}\n",
            {"off"},
            {"y"},
            ""},
           {"sides of two predicates may both be dead",
            sides + "t = Switch(x, q) {T: DT_FLOAT}\ny = Merge(off, t:1) {N: 2, T: DT_FLOAT}\n",
            {"off"},
            {},
            "off"},
           {"a branch in a branch",
            sides + "t = Switch(on, q) {T: DT_FLOAT}\nu = Neg(t) {T: DT_FLOAT}\n"
                    "inner = Merge(u, t:1) {N: 2, T: DT_FLOAT}\ny = Merge(off, inner) {N: 2, T: DT_FLOAT}\n",
            {"u"},
            {"y"},
            ""},
           {"three branches, pair by pair",
            sides + "t = Switch(on, q) {T: DT_FLOAT}\ny = Merge(off, t, t:1) {N: 3, T: DT_FLOAT}\n",
            {"on"},
            {"y"},
            ""},
           {"a Merge waits for a dead node, too",
            sides + "y = Merge(off, on, ^off) {N: 2, T: DT_FLOAT}\n",
            {"off"},
            {"y"},
            ""},
           {"a loop, by what comes out of it", loop, {"body"}, {"out"}, ""},
           {"what in a loop nothing reads", loop + "a = Exp(s:1) {T: DT_FLOAT}\n", {"a"}, {}, "a"},
       }) {
    Model model = listed_model(kSources + row.nodes);
    const Graph& graph = model.graph();
    const Names names(graph);
    std::vector<uint32_t> asked;
    for (const std::string& name : row.asked) asked.push_back(index_of(names.find(name)));
    std::optional<uint32_t> lost;
    std::vector<std::string> behind;
    for (const uint32_t node : AlwaysRuns(graph).behind(asked, lost))
      behind.emplace_back(graph.name(NodeId{node}));
    std::ranges::sort(behind);
    EXPECT_EQ(behind, row.behind) << row.what;
    EXPECT_EQ(lost ? std::string(graph.name(NodeId{*lost})) : "", row.lost) << row.what;
  }
}

}  // namespace gedit::always_runs_test
