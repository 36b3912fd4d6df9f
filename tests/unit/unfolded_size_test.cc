// How many nodes there would be if calls gave way to what they call.
#include "edit/functions/unfolded_size.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "listed_model.h"

namespace gedit::unfolded_size_test {

std::string call(const std::string& name, const std::string& function) {
  return name + " = PartitionedCall() {Tin: list(), Tout: list(), f: func " + function + "}\n";
}

std::string function_of(const std::string& name, const std::string& nodes) {
  return "function " + name + "() -> ()\n" + nodes + "return\nend\n";
}

// f0 calls f1 twice, f1 f2, and so on.
std::string twice(int depth) {
  std::string text = call("y", "f0");
  for (int i = 0; i < depth; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    text += function_of("f" + std::to_string(i), call("a", next) + call("b", next));
  }
  return text + function_of("f" + std::to_string(depth), "n = NoOp()\n");
}

struct Case {
  const char* rule;
  std::string listing;
  uint64_t calls, branches;  // nodes where calls unfold, and where If, Case and While do, too
};

TEST(UnfoldedSizes, CountWhatTakesTheirPlace) {
  const std::string f = function_of("f", "n = NoOp()\nm = NoOp()\n");
  const std::string branch =
      "c = StatelessIf(p) {Tcond: DT_BOOL, Tin: list(), Tout: list(), else_branch: func f, then_branch: func "
      "f}\n";
  const Case cases[] = {
      {"nodes", "a = NoOp()\nb = NoOp()\n", 2, 2},
      {"a call is a node and those of its function", call("a", "f") + f, 3, 3},
      {"each call has its own", call("a", "f") + call("b", "f") + f, 6, 6},
      {"a node whose op is a function", "a = f()\n" + f, 3, 3},
      {"functions that nothing calls do not count", "a = NoOp()\n" + f, 1, 1},
      {"branches count where they are asked for", "p = Placeholder() {dtype: DT_BOOL}\n" + branch + f, 2, 6},
      {"a call of itself stays a call", call("a", "f") + function_of("f", call("b", "f") + "n = NoOp()\n"), 3,
       3},
      {"two to the power of three", twice(3), 23, 23},
      {"what is no function's name", "a = PartitionedCall() {Tin: list(), Tout: list(), f: func gone}\n" + f,
       1, 1},
  };
  for (const Case& one : cases) {
    const Model model = listed_model(one.listing);
    const std::string_view library = model.graph().part(graph_field::kLibrary);
    InlineRequest request;
    EXPECT_EQ(UnfoldedSizes(library, *model.arena, request).of(model.graph()), one.calls) << one.rule;
    request.lower = true;
    EXPECT_EQ(UnfoldedSizes(library, *model.arena, request).of(model.graph()), one.branches) << one.rule;
  }
}

TEST(UnfoldedSizes, WhatHasNoEndIsRefused) {
  const InlineRequest request;
  for (const int depth : {5, 30, 200}) {
    const Model model = listed_model(twice(depth));
    const UnfoldedSizes sizes(model.graph().part(graph_field::kLibrary), *model.arena, request);
    if (depth < 20) {
      EXPECT_NO_THROW(sizes.refuse_endless(model.graph())) << depth;
    } else {
      EXPECT_THROW(sizes.refuse_endless(model.graph()), Error) << depth;
    }
  }
}

TEST(UnfoldedSizes, WhatIsNotWantedStays) {
  const Model model = listed_model(twice(30));
  InlineRequest request;
  request.wanted = [](std::string_view node_def) { return node_name(node_def) != "b"; };
  const UnfoldedSizes sizes(model.graph().part(graph_field::kLibrary), *model.arena, request);
  EXPECT_EQ(sizes.of(model.graph()), 62U);
}

}  // namespace gedit::unfolded_size_test
