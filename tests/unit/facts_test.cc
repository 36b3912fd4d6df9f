// What is derived from a graph: state and what belongs to it, loops, and that nothing is made before its
// time.
#include "edit/basis/facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "listed_model.h"

namespace gedit::facts_test {

// `v: v/Assign v/read`: each variable or table and its own nodes, `!` behind the initializer.
std::string state_of(const std::string& listing) {
  Model model = listed_model(listing);
  Registry ops;
  ops.add_builtin();
  const Facts facts(model, ops);
  std::map<std::string, std::string> lines;
  for (const auto& [index, state] : facts.state()) {
    std::vector<std::string> satellites;
    for (const NodeId id : state.satellites)
      satellites.push_back(std::string(model.graph().name(id)) + (id == state.initializer ? "!" : ""));
    std::sort(satellites.begin(), satellites.end());
    std::string& line = lines[std::string(model.graph().name(state.node)) + (state.table ? " (table)" : "")];
    for (const std::string& name : satellites) line += " " + name;
  }
  std::string text;
  for (const auto& [name, line] : lines) text += name + ":" + line + "\n";
  return text;
}

TEST(Facts, StateHasNodesOfItsOwn) {
  struct Case {
    std::string listing, state;
  };
  for (const auto& [listing, state] : std::vector<Case>{
           {"x = NoOp()\n", ""},
           {"v = VariableV2() {dtype: DT_FLOAT, shape: []}\n"
            "v/read = Identity(v) {T: DT_FLOAT}\n"
            "outside = Identity(v) {T: DT_FLOAT}\n"
            "c = Const() {dtype: DT_FLOAT}\n"
            "v/Assign = Assign(v, c) {T: DT_FLOAT}\n",
            "v: v/Assign! v/read\n"},
           {"v = VarHandleOp() {dtype: DT_FLOAT, shape: []}\n"
            "v/Read/ReadVariableOp = ReadVariableOp(v) {dtype: DT_FLOAT}\n"
            "v/IsInitialized/VarIsInitializedOp = VarIsInitializedOp(v)\n",
            "v: v/IsInitialized/VarIsInitializedOp v/Read/ReadVariableOp\n"},
           {"t = HashTableV2() {key_dtype: DT_STRING, value_dtype: DT_INT64}\n"
            "k = Const() {dtype: DT_STRING}\n"
            "fill = LookupTableImportV2(t, k, k) {Tin: DT_STRING, Tout: DT_INT64}\n"
            "init = InitializeTableV2(t, k, k) {Tkey: DT_STRING, Tval: DT_INT64}\n",
            "t (table): fill! init\n"},
       }) {
    EXPECT_EQ(state_of(listing), state) << listing;
  }
}

TEST(Facts, AreMadeWhenTheyAreAskedFor) {
  Model model = listed_model("a = NoOp()\nb = NoOp(^a)\n");
  Registry ops;
  const Facts facts(model, ops);
  EXPECT_FALSE(facts.has_names());
  EXPECT_FALSE(facts.frames().any());
  EXPECT_TRUE(facts.savers().empty());
  EXPECT_FALSE(facts.has_names());
  const NodeId a = facts.names().find("a"), b = facts.names().find("b");
  EXPECT_TRUE(facts.has_names());
  EXPECT_EQ(facts.producers().of(b).size(), 1U);
  ASSERT_EQ(facts.consumers().of(a).size(), 1U);
  EXPECT_EQ(facts.consumers().of(a)[0], b);
}

TEST(Facts, OfABodyKnowItsArguments) {
  Model model = listed_model(
      "function f(x: DT_FLOAT) -> (y: DT_FLOAT)\n"
      "  n = Identity(x) {T: DT_FLOAT}\n"
      "  return y = n:output:0\n"
      "end\n");
  Registry ops;
  ops.add_builtin();
  const Facts facts(model, ops, "f");
  EXPECT_TRUE(facts.in_body());
  EXPECT_TRUE(facts.tensors().is_argument("x"));
  EXPECT_NE(facts.names().find("n"), kNoNode);
  EXPECT_TRUE(facts.collections().empty());
}

}  // namespace gedit::facts_test
