// Calls, conds and loops give way to what they call: small graphs before and after, as listings.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "edit/functions/inline.h"
#include "graph/listing.h"
#include "graph/node.h"
#include "listed_model.h"

namespace gedit::inline_test {

std::string nodes_of(const Graph& graph) {
  std::string text;
  graph.each_node([&](std::string_view node_def) {
    // Without attributes, which most lines need not tell.
    std::string line;
    print_node(line, node_def, true);
    text += line.substr(0, line.find(" {"));
    text += '\n';
  });
  return text;
}

struct Inlined {
  std::string nodes;
  InlineResult result;
  Model model;
};

Inlined inlined(const std::string& listing, InlineRequest request = {}) {
  Model model = listed_model(listing);
  Registry ops;
  ops.add_builtin();
  ops.add_library([&] { return model.graph().part(graph_field::kLibrary); });
  InlineResult result = inline_functions(model.meta(), ops, request);
  std::string nodes = nodes_of(model.graph());
  return {std::move(nodes), std::move(result), std::move(model)};
}

const std::string kTwice = R"(
function twice(a: DT_FLOAT) -> (b: DT_FLOAT)
  two = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 2.0)}
  mul = Mul(a, two:output:0) {T: DT_FLOAT}
  return b = mul:z:0
end
)";
const std::string kCall = "PartitionedCall(x) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), f: func twice}\n";
const std::string kInput = "x = Placeholder() {dtype: DT_FLOAT, shape: []}\n";

TEST(Inline, ReadersReadWhatIsReturned) {
  const Inlined made = inlined(kInput + "c = " + kCall + "y = Neg(c) {T: DT_FLOAT}\n" + kTwice);
  EXPECT_EQ(made.nodes,
            "x = Placeholder()\n"
            "y = Neg(c/mul)\n"
            "c/two = Const()\n"
            "c/mul = Mul(x, c/two)\n");
  EXPECT_EQ(made.result.calls, 1);
  EXPECT_EQ(made.result.functions, 1);
}

TEST(Inline, NamesAreMadeFree) {
  const Inlined made = inlined(kInput + "c = " + kCall + "c/mul = Neg(c) {T: DT_FLOAT}\n" + kTwice);
  EXPECT_EQ(made.nodes,
            "x = Placeholder()\n"
            "c/mul = Neg(c/mul_1)\n"
            "c/two = Const()\n"
            "c/mul_1 = Mul(x, c/two)\n");
}

TEST(Inline, WhatNobodyReadsKeepsItsName) {
  const Inlined made = inlined(kInput + "c = " + kCall + kTwice);
  EXPECT_TRUE(made.nodes.starts_with("x = Placeholder()\nc = Identity(c/mul)\n")) << made.nodes;
}

TEST(Inline, WhatIsNamedOutsideKeepsItsName) {
  const std::set<std::string, std::less<>> named{"c:0"};
  InlineRequest request;
  request.named = &named;
  const Inlined made = inlined(kInput + "c = " + kCall + "y = Neg(c) {T: DT_FLOAT}\n" + kTwice, request);
  EXPECT_TRUE(made.nodes.starts_with("x = Placeholder()\nc = Identity(c/mul)\ny = Neg(c)\n")) << made.nodes;
}

TEST(Inline, ControlInputsReachWhatHasNone) {
  const Inlined made = inlined(
      kInput +
      "g = NoOp()\nc = PartitionedCall(x, ^g) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), f: func twice}\n"
      "y = Neg(c) {T: DT_FLOAT}\n" +
      kTwice);
  EXPECT_EQ(made.nodes,
            "x = Placeholder()\n"
            "g = NoOp()\n"
            "c = Identity(c/mul, ^g)\n"
            "y = Neg(c)\n"
            "c/two = Const(^g)\n"
            "c/mul = Mul(x, c/two)\n");
}

TEST(Inline, CallsByNameBindAttributesAndLists) {
  const Inlined made = inlined(R"(
x = Placeholder() {dtype: DT_FLOAT, shape: []}
c = sum(x, x, x) {N: 3, T: DT_FLOAT}
y = Neg(c) {T: DT_FLOAT}

function sum(a: N*T) -> (b: T) | signature { attr { name: "N" type: "int" } attr { name: "T" type: "type" } }
  one = Identity(a:1) {T: placeholder "T"}
  all = AddN(a, one:output:0) {N: 4, T: placeholder "T"}
  return b = all:sum:0
end
)");
  EXPECT_EQ(made.nodes,
            "x = Placeholder()\n"
            "y = Neg(c/all)\n"
            "c/one = Identity(x)\n"
            "c/all = AddN(x, x, x, c/one)\n");
}

const std::string kCount = R"(
function count(v: DT_RESOURCE, a: DT_FLOAT) -> (b: DT_FLOAT) | signature { is_stateful: true }
  add = AssignAddVariableOp(v, a) {dtype: DT_FLOAT}
  read = ReadVariableOp(v, ^add) {dtype: DT_FLOAT}
  idle = ReadVariableOp(v) {dtype: DT_FLOAT}
  same = Identity(a) {T: DT_FLOAT}
  return b = same:output:0, ^done = read
end
)";

TEST(Inline, EffectsKeepTheirOrder) {
  const Inlined made = inlined(R"(
v = VarHandleOp() {dtype: DT_FLOAT, shape: [], shared_name: "v"}
x = Placeholder() {dtype: DT_FLOAT, shape: []}
n = Neg(x) {T: DT_FLOAT}
c = StatefulPartitionedCall(v, n) {Tin: list(DT_RESOURCE, DT_FLOAT), Tout: list(DT_FLOAT), f: func count}
y = ReadVariableOp(v, ^c) {dtype: DT_FLOAT}
)" + kCount);
  EXPECT_EQ(made.nodes,
            "v = VarHandleOp()\n"
            "x = Placeholder()\n"
            "n = Neg(x)\n"
            "c = Identity(c/same, ^c/read, ^n)\n"
            "y = ReadVariableOp(v, ^c)\n"
            "c/add = AssignAddVariableOp(v, n, ^n)\n"
            "c/read = ReadVariableOp(v, ^c/add, ^n)\n"
            "c/same = Identity(n)\n");
}

TEST(Inline, OfACallByNameAllEffectsRun) {
  const Inlined made = inlined(R"(
v = VarHandleOp() {dtype: DT_FLOAT, shape: [], shared_name: "v"}
x = Placeholder() {dtype: DT_FLOAT, shape: []}
c = count(v, x)
y = Neg(c) {T: DT_FLOAT}
)" + kCount);
  EXPECT_EQ(made.nodes,
            "v = VarHandleOp()\n"
            "x = Placeholder()\n"
            "c = Identity(c/same, ^c/read, ^c/idle)\n"
            "y = Neg(c)\n"
            "c/add = AssignAddVariableOp(v, x)\n"
            "c/read = ReadVariableOp(v, ^c/add)\n"
            "c/idle = ReadVariableOp(v)\n"
            "c/same = Identity(x)\n");
}

TEST(Inline, RecursionStays) {
  const Inlined made = inlined(kInput + "c = again(x)\ny = Neg(c) {T: DT_FLOAT}\n" + R"(
function again(a: DT_FLOAT) -> (b: DT_FLOAT)
  more = again(a)
  return b = more:b:0
end
)");
  EXPECT_FALSE(made.result.any());
  ASSERT_EQ(made.result.kept.size(), 2);
  EXPECT_EQ(made.result.kept[0].second, "function again calls itself");
}

TEST(Inline, WhatAsksToStayStays) {
  const std::string noinline_twice = R"(
function twice(a: DT_FLOAT) -> (b: DT_FLOAT) {_noinline: true}
  mul = Mul(a, a) {T: DT_FLOAT}
  return b = mul:z:0
end
)";
  EXPECT_FALSE(inlined(kInput + "c = " + kCall + noinline_twice).result.any());
  InlineRequest request;
  request.insistent = true;
  EXPECT_TRUE(inlined(kInput + "c = " + kCall + noinline_twice, request).result.any());
}

TEST(Inline, BodiesFollow) {
  const Inlined made = inlined(kInput + R"(
o = outer(x) {_noinline: true}
y = Neg(o) {T: DT_FLOAT}

function outer(a: DT_FLOAT) -> (b: DT_FLOAT)
  c = PartitionedCall(a) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), f: func twice}
  return b = c:output:0
end
)" + kTwice);
  EXPECT_EQ(made.nodes, "x = Placeholder()\no = outer(x)\ny = Neg(o)\n");
  Library library = Library::decode(made.model.graph().part(graph_field::kLibrary), made.model.arena);
  ASSERT_EQ(library.functions.size(), 1);
  std::string text;
  ASSERT_TRUE(print_function(text, library.functions[0].body.message(), true));
  EXPECT_NE(text.find("c/mul = Mul(a, c/two:output:0)"), std::string::npos) << text;
  EXPECT_NE(text.find("return b = c/mul:z:0"), std::string::npos) << text;
}

TEST(Inline, DeadCallsAreDeadAsAWhole) {
  const Inlined made = inlined(R"(
x = Placeholder() {dtype: DT_FLOAT, shape: []}
p = Placeholder() {dtype: DT_BOOL, shape: []}
s = Switch(x, p) {T: DT_FLOAT}
c = PartitionedCall(s:1) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), f: func twice}
m = Merge(s, c) {N: 2, T: DT_FLOAT}
)" + kTwice);
  EXPECT_EQ(made.nodes,
            "x = Placeholder()\n"
            "p = Placeholder()\n"
            "s = Switch(x, p)\n"
            "c = Identity(c/mul, ^c/input)\n"
            "m = Merge(s, c)\n"
            "c/input = Identity(s:1)\n"
            "c/two = Const(^c/input)\n"
            "c/mul = Mul(c/input, c/two)\n");
}

TEST(Lower, IfBecomesSwitchAndMerge) {
  InlineRequest request;
  request.lower = true;
  const Inlined made = inlined(R"(
x = Placeholder() {dtype: DT_FLOAT, shape: []}
p = Placeholder() {dtype: DT_BOOL, shape: []}
c = StatelessIf(p, x) {Tcond: DT_BOOL, Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), else_branch: func same, then_branch: func twice}
y = Neg(c) {T: DT_FLOAT}

function same(a: DT_FLOAT) -> (b: DT_FLOAT)
  return b = a
end
)" + kTwice,
                               request);
  EXPECT_EQ(made.nodes,
            "x = Placeholder()\n"
            "p = Placeholder()\n"
            "y = Neg(c/merge)\n"
            "c/switch = Switch(p, p)\n"
            "c/switch_1 = Switch(x, p)\n"
            "c/pivot = Identity(c/switch)\n"
            "c/input = Identity(c/switch_1)\n"
            "c/pivot_1 = Identity(c/switch:1)\n"
            "c/input_1 = Identity(c/switch_1:1)\n"
            "c/merge = Merge(c/input, c/then/mul)\n"
            "c/then/two = Const(^c/pivot_1)\n"
            "c/then/mul = Mul(c/input_1, c/then/two)\n");
  EXPECT_EQ(made.result.conds, 1);
}

TEST(Lower, WhileBecomesALoop) {
  InlineRequest request;
  request.lower = true;
  const Inlined made = inlined(R"(
x = Placeholder() {dtype: DT_FLOAT, shape: []}
c = StatelessWhile(x) {T: list(DT_FLOAT), body: func twice, cond: func small}
y = Neg(c) {T: DT_FLOAT}

function small(a: DT_FLOAT) -> (b: DT_BOOL)
  most = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 9.0)}
  less = Less(a, most:output:0) {T: DT_FLOAT}
  return b = less:z:0
end
)" + kTwice,
                               request);
  EXPECT_EQ(made.nodes,
            "x = Placeholder()\n"
            "y = Neg(c/exit)\n"
            "c/enter = Enter(x)\n"
            "c/merge = Merge(c/enter, c/next)\n"
            "c/loop_cond = LoopCond(c/cond/less)\n"
            "c/switch = Switch(c/merge, c/loop_cond)\n"
            "c/pivot = Identity(c/switch:1)\n"
            "c/next = NextIteration(c/body/mul)\n"
            "c/exit = Exit(c/switch)\n"
            "c/cond/most = Const(^c/merge)\n"
            "c/cond/less = Less(c/merge, c/cond/most)\n"
            "c/body/two = Const(^c/pivot)\n"
            "c/body/mul = Mul(c/pivot, c/body/two)\n");
  EXPECT_EQ(made.result.loops, 1);
}

TEST(Lower, WhatItsFunctionsDoNotGiveStays) {
  InlineRequest request;
  request.lower = true;
  const auto why = [&](const std::string& tout, const std::string& branch) {
    const Inlined made = inlined(R"(
x = Placeholder() {dtype: DT_FLOAT, shape: []}
p = Placeholder() {dtype: DT_BOOL, shape: []}
c = StatelessIf(p, x) {Tcond: DT_BOOL, Tin: list(DT_FLOAT), Tout: )" +
                                     tout +
                                     R"(, else_branch: func other, then_branch: func twice}

)" + branch + kTwice,
                                 request);
    return made.result.conds == 0 && made.result.kept.size() == 1 ? made.result.kept[0].second : "";
  };
  const std::string same = "function other(a: DT_FLOAT) -> (b: DT_FLOAT)\n  return b = a\nend\n";
  EXPECT_EQ(why("list(DT_FLOAT)", same), "");
  EXPECT_EQ(why("list(DT_FLOAT, DT_FLOAT)", same), "its function has 1 results, and Tout says 2");
  EXPECT_EQ(why("list(DT_FLOAT)",
                "function other(a: DT_FLOAT) -> (b: DT_INT32)\n"
                "  i = Cast(a) {SrcT: DT_FLOAT, DstT: DT_INT32}\n  return b = i:y:0\nend\n"),
            "number 0 of the results of its function is int32, and Tout says float32");
  EXPECT_EQ(why("list(DT_FLOAT)",
                "function other(a: DT_INT32) -> (b: DT_FLOAT)\n"
                "  i = Cast(a) {SrcT: DT_INT32, DstT: DT_FLOAT}\n  return b = i:y:0\nend\n"),
            "number 0 of the arguments of its function is int32, and Tin says float32");
}

TEST(Inline, ACallThatSaysMoreThanItsFunctionGivesStays) {
  const Inlined made = inlined(
      kInput +
      "c = PartitionedCall(x) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT, DT_FLOAT), f: func twice}\n" +
      kTwice);
  EXPECT_EQ(made.result.calls, 0);
  ASSERT_EQ(made.result.kept.size(), 1);
  EXPECT_EQ(made.result.kept[0].second, "its function has 1 results, and Tout says 2");
}

TEST(Inline, NamesOfNestedCallsHaveAnEnd) {
  constexpr int kDepth = 300;
  std::string library;
  for (int i = 0; i < kDepth; ++i) {
    const std::string next = i + 1 < kDepth ? "f" + std::to_string(i + 1) : "twice";
    library +=
        "function f" + std::to_string(i) +
        "(a: DT_FLOAT) -> (b: DT_FLOAT)\n  a_call_deep_down = PartitionedCall(a) {Tin: list(DT_FLOAT), Tout: "
        "list(DT_FLOAT), f: func " +
        next + "}\n  return b = a_call_deep_down:output:0\nend\n\n";
  }
  const Inlined made = inlined(
      kInput +
      "c = PartitionedCall(x) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), f: func f0}\ny = Neg(c) {T: "
      "DT_FLOAT}\n\n" +
      library + kTwice);
  EXPECT_EQ(made.result.calls, kDepth + 1);
  EXPECT_LT(made.nodes.size(), 6000);
}

TEST(Inline, FramesOfTheSameFunctionAreNotOne) {
  const std::string loop = R"(
function loop(a: DT_FLOAT) -> (b: DT_FLOAT)
  enter = Enter(a) {T: DT_FLOAT, frame_name: "w", is_constant: false, parallel_iterations: 10}
  exit = Exit(enter:output:0) {T: DT_FLOAT}
  return b = exit:output:0
end
)";
  const std::string call = "PartitionedCall(x) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), f: func loop}\n";
  const Inlined made = inlined(
      kInput +
      "e = Enter(x) {T: DT_FLOAT, frame_name: \"c/w\", is_constant: true, parallel_iterations: 10}\n" +
      "c = " + call + "d = " + call + "y = Add(c, d) {T: DT_FLOAT}\n" + loop);
  std::set<std::string> frames;
  made.model.graph().each_node([&](std::string_view node_def) {
    if (const auto frame = string_attr(node_def, "frame_name")) frames.emplace(*frame);
  });
  EXPECT_EQ(frames, (std::set<std::string>{"c/w", "c/w_1", "d/w"}));
}

}  // namespace gedit::inline_test
