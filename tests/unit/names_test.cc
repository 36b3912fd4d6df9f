// Names that an edit gives: scopes, new nodes, what identifies something at run time.
#include "edit/basis/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "edit/basis/runtime_names.h"
#include "listed_model.h"

namespace gedit::names_test {

TEST(ScopeNames, WhatANameBecomesAndWhatCanBecomeIt) {
  struct Case {
    std::string_view from, to, name, becomes;
  };
  for (const auto& [from, to, name, becomes] : std::vector<Case>{
           {"", "b", "x", "b/x"},
           {"", "b/", "a/x", "b/a/x"},
           {"a", "b", "a/x", "b/x"},
           {"a/", "b/", "a", "b"},
           {"a", "b", "ab/x", "b/ab/x"},
           {"a", "", "a/x", "x"},
           {"a", "", "c/x", "c/x"},
           {"a/c", "b", "a/c/x", "b/x"},
       }) {
    const ScopeNames scope(from, !from.empty(), to);
    EXPECT_EQ(scope.of(name), becomes) << name;
    const std::vector<std::string> origins = scope.origins(becomes);
    EXPECT_NE(std::find(origins.begin(), origins.end(), name), origins.end()) << name;
  }
}

TEST(FreshNames, TheSameForTheSameAndNeverOneThatIsTaken) {
  const ScopeNames scope("", false, "b");
  FreshNames names(scope);
  names.take("b/x");
  names.take("b/x_1");
  EXPECT_EQ(names.of("x"), "b/x_2");
  EXPECT_EQ(names.of("x"), "b/x_2");
  EXPECT_EQ(names.of("y"), "b/y");
}

TEST(NewNames, FreeExactlyAndReserved) {
  const Model model = listed_model("a = NoOp()\na_1 = NoOp()\n");
  const Names nodes(model.graph());
  NewNames names(nodes);
  EXPECT_EQ(names.free("a"), "a_2");
  EXPECT_EQ(names.free("a"), "a_3");
  EXPECT_EQ(names.free("b"), "b");
  names.reserve("c");
  EXPECT_EQ(names.free("c"), "c_1");
  EXPECT_EQ(names.exactly("d", ""), "d");
  EXPECT_THROW(names.exactly("d", ""), Error);
  EXPECT_THROW(names.exactly("a", ""), Error);
  EXPECT_THROW(names.exactly("in it", ""), Error);
}

TEST(Identities, EachKindHasNamesOfItsOwn) {
  const auto frame = [](std::string_view name) {
    return NodeBuilder("e", "Enter").attr("frame_name", string_value(name)).take();
  };
  const auto queue = [](std::string_view name) {
    return NodeBuilder("q", "FIFOQueueV2").attr("shared_name", string_value(name)).take();
  };
  const ScopeNames scope("", false, "");
  Identities identities(scope);
  identities.take(frame("loop"));
  identities.want(frame("loop"));
  identities.want(queue("loop"));
  identities.want(queue(""));
  const auto now = [&](Role role, std::string_view value) {
    std::string out;
    identities.append(role, value, out);
    return out;
  };
  EXPECT_EQ(now(Role::kFrame, "loop"), "loop_1");
  EXPECT_EQ(now(Role::kSharedName, "loop"), "loop");
  EXPECT_EQ(now(Role::kSharedName, ""), "");
  EXPECT_TRUE(identities.any_changed());
}

}  // namespace gedit::names_test
