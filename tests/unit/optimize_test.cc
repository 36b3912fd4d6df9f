// The rules of optimize, a row each: what is left of a graph, as one expression, and that the prover agrees.
// tests/interop/optimize.py compares with TensorFlow itself.
#include "optimize/optimize.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "graph/listing.h"
#include "graph/names.h"
#include "listed_model.h"
#include "optimize/certify.h"
#include "optimize/order.h"
#include "optimize/reroute.h"
#include "optimize/transforms.h"

namespace gedit::optimize_test {

OptimizeRequest everything() {
  OptimizeRequest request;
  request.outputs = {"y"};
  request.passes.branches = request.passes.algebra = request.passes.dropout = true;
  request.passes.fold = request.passes.share = request.passes.controls = true;
  request.passes.drops = {true, true, true, true};
  request.graph_alone = true;
  return request;
}

// `Add(x, 2.0)`: a Const is its value, a Placeholder its name; control inputs are names.
std::string expression(const Graph& graph, const Names& names, std::string_view input) {
  if (input.starts_with('^')) return std::string(input);
  const Input in = parse_input(input);
  const NodeId id = names.find(in.node);
  if (id == kNoNode) return "?";
  std::string text;
  if (graph.op(id) == "Const") {
    print_node(text, graph.bytes(id), true);
    const size_t begin = text.find("], ") + 3;
    text = text.substr(begin, text.find(")}", begin) - begin);
  } else if (graph.op(id) == "Placeholder") {
    text = in.node;
  } else {
    text = std::string(graph.op(id)) + "(";
    bool first = true;
    each_input(graph.bytes(id), [&](std::string_view one) {
      text += (first ? "" : ", ") + expression(graph, names, one);
      first = false;
    });
    text += ")";
  }
  if (in.index() > 0) text += ":" + std::to_string(in.index());
  return text;
}

std::string result_of(const std::string& listing, const OptimizeRequest& request) {
  const Model model = listed_model(listing);
  Registry ops;
  ops.add_builtin();
  try {
    Optimized made = optimize_proved(model, ops, request, true);
    Graph& graph = made.model.graph();
    graph.decode();
    std::string text = expression(graph, Names(graph), "y");
    if (!made.result.inexact.empty()) {
      text += " not equal";
    } else if (made.proved == 0 || !made.unknown.empty()) {
      text += " unknown";
    }
    for (const std::string& step : made.left_out) text += " without " + step;
    return text;
  } catch (const Error& error) {
    return error.what();
  }
}

const std::string kGiven =
    "x = Placeholder() {dtype: DT_FLOAT, shape: [?,4]}\n"
    "n = Placeholder() {dtype: DT_INT32, shape: []}\n"
    "p = Placeholder() {dtype: DT_BOOL, shape: []}\n"
    "fed = Placeholder() {dtype: DT_FLOAT, shape: [2,3]}\n"
    "one = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 1.0)}\n"
    "zero = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 0.0)}\n"
    "two = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 2.0)}\n"
    "axis = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [], 0)}\n"
    "true = Const() {dtype: DT_BOOL, value: tensor(DT_BOOL [], true)}\n"
    "false = Const() {dtype: DT_BOOL, value: tensor(DT_BOOL [], false)}\n";

struct Row {
  const char* rule;
  std::string lines, left;
};

void expect(const std::vector<Row>& rows, const OptimizeRequest& request = everything()) {
  for (const Row& row : rows) EXPECT_EQ(result_of(kGiven + row.lines, request), row.left) << row.rule;
}

TEST(Optimize, Algebra) {
  expect({
      {"x * 1", "m = Mul(x, one) {T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n", "Neg(x)"},
      {"1 * x", "m = Mul(one, x) {T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n", "Neg(x)"},
      {"x / 1", "m = RealDiv(x, one) {T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n", "Neg(x)"},
      {"1 / x stays", "m = RealDiv(one, x) {T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(RealDiv(1.0, x))"},
      {"x - 0", "m = Sub(x, zero) {T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n", "Neg(x)"},
      {"x + 0 of floats stays: -0 + 0 is 0", "m = Add(x, zero) {T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(Add(x, 0.0))"},
      {"of integers it goes", "m = Add(n, axis) {T: DT_INT32}\ny = Neg(m) {T: DT_INT32}\n", "Neg(n)"},
      {"-(-x) of floats stays", "m = Neg(x) {T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n", "Neg(Neg(x))"},
      {"of integers it goes",
       "a = Neg(n) {T: DT_INT32}\nm = Neg(a) {T: DT_INT32}\ny = Abs(m) {T: DT_INT32}\n", "Abs(n)"},
      {"not not", "a = LogicalNot(p)\nm = LogicalNot(a)\ny = LogicalAnd(p, m)\n", "LogicalAnd(p, p)"},
      {"a cast to its own type", "m = Cast(x) {SrcT: DT_FLOAT, DstT: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(x)"},
      {"a sum of one", "m = AddN(x) {T: DT_FLOAT, N: 1}\ny = Neg(m) {T: DT_FLOAT}\n", "Neg(x)"},
      {"a concatenation of one",
       "m = ConcatV2(x, axis) {T: DT_FLOAT, N: 1, Tidx: DT_INT32}\ny = Neg(m) {T: DT_FLOAT}\n", "Neg(x)"},
      {"a split into one", "m = Split(axis, x) {T: DT_FLOAT, num_split: 1}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(x)"},
      {"a split into two stays",
       "m = Split(axis, x) {T: DT_FLOAT, num_split: 2}\ny = Neg(m:1) {T: DT_FLOAT}\n", "Neg(Split(0, x):1)"},
  });
}

TEST(Optimize, MovesThatMoveNothing) {
  const std::string perms =
      "a = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [3], 1, 2, 0)}\n"
      "b = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [3], 2, 0, -2)}\n"
      "cube = Placeholder() {dtype: DT_FLOAT, shape: [2,3,4]}\n"
      "t = Transpose(cube, a) {T: DT_FLOAT, Tperm: DT_INT32}\n";
  const std::string sizes =
      "six = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [1], 6)}\n"
      "both = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [2], -1, 3)}\n"
      "other = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [2], 3, 2)}\n"
      "flat = Reshape(fed, six) {T: DT_FLOAT, Tshape: DT_INT32}\n";
  expect({
      {"two transposes back",
       perms + "m = Transpose(t, b) {T: DT_FLOAT, Tperm: DT_INT32}\ny = Neg(m) {T: DT_FLOAT}\n", "Neg(cube)"},
      {"and not back",
       perms + "m = Transpose(t, a) {T: DT_FLOAT, Tperm: DT_INT32}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(Transpose(Transpose(cube, 1, 2, 0), 1, 2, 0))"},
      {"a reshape to its own shape",
       sizes + "m = Reshape(fed, both) {T: DT_FLOAT, Tshape: DT_INT32}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(fed)"},
      {"a reshape of a reshape",
       sizes + "m = Reshape(flat, other) {T: DT_FLOAT, Tshape: DT_INT32}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(Reshape(fed, 3, 2))"},
      {"which is back where it was",
       sizes + "m = Reshape(flat, both) {T: DT_FLOAT, Tshape: DT_INT32}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(fed)"},
      {"one that others read, too",
       sizes + "m = Reshape(flat, other) {T: DT_FLOAT, Tshape: DT_INT32}\ns = Sum(flat, axis) {T: DT_FLOAT, "
               "Tidx: "
               "DT_INT32, keep_dims: false}\ny = Add(m, s) {T: DT_FLOAT}\n",
       "Add(Reshape(Reshape(fed, 6), 3, 2), Sum(Reshape(fed, 6), 0))"},
      {"nothing to squeeze",
       "m = Squeeze(fed) {T: DT_FLOAT, squeeze_dims: list()}\ny = Neg(m) {T: DT_FLOAT}\n", "Neg(fed)"},
  });
}

TEST(Optimize, Branches) {
  const std::string fork =
      "a = Exp(s) {T: DT_FLOAT}\nb = Tanh(s:1) {T: DT_FLOAT}\nm = Merge(a, b) {T: DT_FLOAT, N: 2}\n"
      "y = Neg(m) {T: DT_FLOAT}\n";
  expect({
      {"taken", "s = Switch(x, true) {T: DT_FLOAT}\n" + fork, "Neg(Tanh(x))"},
      {"not taken", "s = Switch(x, false) {T: DT_FLOAT}\n" + fork, "Neg(Exp(x))"},
      {"by what not gives", "not = LogicalNot(true)\ns = Switch(x, not) {T: DT_FLOAT}\n" + fork,
       "Neg(Exp(x))"},
      {"not known", "s = Switch(x, p) {T: DT_FLOAT}\n" + fork,
       "Neg(Merge(Exp(Switch(x, p)), Tanh(Switch(x, p):1)))"},
      {"a chosen one",
       "a = Exp(x) {T: DT_FLOAT}\nm = Select(true, a, x) {T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(Exp(x))"},
      {"a tensor that never comes", "s = Switch(x, false) {T: DT_FLOAT}\ny = Neg(s:1) {T: DT_FLOAT}\n",
       "tensor 'y': lies in a branch that is not taken"},
  });
}

TEST(Optimize, WhatPassesOn) {
  expect({
      {"identities",
       "a = Identity(x) {T: DT_FLOAT}\nb = StopGradient(a) {T: DT_FLOAT}\ny = Neg(b) {T: DT_FLOAT}\n",
       "Neg(x)"},
      {"of several", "a = IdentityN(x, fed) {T: list(DT_FLOAT, DT_FLOAT)}\ny = Sub(a:1, a) {T: DT_FLOAT}\n",
       "Sub(fed, x)"},
      {"checks", "a = CheckNumerics(x) {T: DT_FLOAT, message: \"m\"}\ny = Neg(a) {T: DT_FLOAT}\n", "Neg(x)"},
      {"what waits for nothing that counts", "a = Exp(x) {T: DT_FLOAT}\ny = Neg(x, ^a) {T: DT_FLOAT}\n",
       "Neg(x)"},
      {"the kept name of what passes on", "y = Identity(x) {T: DT_FLOAT}\n", "Identity(x)"},
      {"the kept name of what is elsewhere", "y = Mul(x, one) {T: DT_FLOAT}\n", "Identity(x)"},
  });
}

TEST(Optimize, Folding) {
  const std::string shape = "shape = Shape(fed) {T: DT_FLOAT, out_type: DT_INT32}\n";
  expect({
      {"constants", "m = Add(one, two) {T: DT_FLOAT}\ny = Mul(x, m) {T: DT_FLOAT}\n", "Mul(x, 3.0)"},
      {"a constant in a branch",
       "s = Switch(x, p) {T: DT_FLOAT}\ni = Identity(s:1) {T: DT_FLOAT}\n"
       "c = Const(^i) {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 5.0)}\nm = Add(c, two) {T: DT_FLOAT}\n"
       "y = Merge(s, m) {T: DT_FLOAT, N: 2}\n",
       "Merge(Switch(x, p), 7.0)"},
      {"what machines compute otherwise", "m = Exp(two) {T: DT_FLOAT}\ny = Mul(x, m) {T: DT_FLOAT}\n",
       "Mul(x, Exp(2.0))"},
      {"shapes", shape + "y = Neg(shape) {T: DT_INT32}\n", "content(-2, -3)"},
      {"sizes", "m = Size(fed) {T: DT_FLOAT, out_type: DT_INT32}\ny = Sub(m, n) {T: DT_INT32}\n",
       "Sub(6, n)"},
      {"ranks", "m = Rank(x) {T: DT_FLOAT}\ny = Sub(m, n) {T: DT_INT32}\n", "Sub(2, n)"},
      {"shapes that are not known", "y = Shape(x) {T: DT_FLOAT, out_type: DT_INT32}\n", "Shape(x)"},
      {"what is known of them",
       "m = Shape(x) {T: DT_FLOAT, out_type: DT_INT32}\n"
       "begin = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [1], 1)}\n"
       "end = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [1], 2)}\n"
       "step = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [1], 1)}\n"
       "c = StridedSlice(m, begin, end, step) {T: DT_INT32, Index: DT_INT32, shrink_axis_mask: 1, "
       "begin_mask: 0, "
       "end_mask: 0, ellipsis_mask: 0, new_axis_mask: 0}\ny = Sub(c, n) {T: DT_INT32}\n",
       "Sub(4, n)"},
  });
}

TEST(Optimize, Sharing) {
  expect({
      {"equal nodes", "a = Exp(x) {T: DT_FLOAT}\nb = Exp(x) {T: DT_FLOAT}\ny = Sub(a, b) {T: DT_FLOAT}\n",
       "Sub(Exp(x), Exp(x))"},
  });
  const Model model = listed_model(
      kGiven + "a = Exp(x) {T: DT_FLOAT}\nb = Exp(x) {T: DT_FLOAT}\ny = Sub(a, b) {T: DT_FLOAT}\n");
  Registry ops;
  ops.add_builtin();
  const Optimized made = optimize_proved(model, ops, everything(), true);
  EXPECT_EQ(made.model.graph().op_counts().at("Exp"), 1U);
  EXPECT_EQ(made.proved, 1U);
}

TEST(Optimize, Dropout) {
  const std::string random =
      "shape = Shape(x) {T: DT_FLOAT, out_type: DT_INT32}\n"
      "r = RandomUniform(shape) {T: DT_INT32, dtype: DT_FLOAT, seed: 1, seed2: 2}\n";
  const std::string half = "half = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 0.5)}\n";
  expect({
      {"that keeps all",
       random + "k = GreaterEqual(r, zero) {T: DT_FLOAT}\nc = Cast(k) {SrcT: DT_BOOL, DstT: "
                "DT_FLOAT}\nm = Mul(x, c) {T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(x)"},
      {"floor of one and more",
       random + "a = Add(one, r) {T: DT_FLOAT}\nf = Floor(a) {T: DT_FLOAT}\nm = Mul(x, f) "
                "{T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n",
       "Neg(x)"},
  });
  OptimizeRequest any = everything();
  any.passes.any_dropout = true;
  const std::string drops = random + half + "a = Add(half, r) {T: DT_FLOAT}\nf = Floor(a) {T: DT_FLOAT}\n";
  expect(
      {
          {"that drops, x / keep",
           drops + "d = RealDiv(x, half) {T: DT_FLOAT}\nm = Mul(d, f) {T: DT_FLOAT}\ny = "
                   "Neg(m) {T: DT_FLOAT}\n",
           "Neg(x) not equal"},
          {"x * (1 / keep)",
           drops + "d = Mul(two, x) {T: DT_FLOAT}\nm = Mul(f, d) {T: DT_FLOAT}\ny = Neg(m) {T: "
                   "DT_FLOAT}\n",
           "Neg(x) not equal"},
          {"without anything to make up for it",
           drops + "m = Mul(x, f) {T: DT_FLOAT}\ny = Neg(m) {T: DT_FLOAT}\n",
           "Neg(Mul(x, Floor(Add(0.5, RandomUniform(Shape(x))))))"},
      },
      any);
}

TEST(Optimize, Bypass) {
  OptimizeRequest request = everything();
  request.bypass = {"a"};
  expect(
      {
          {"of what computes", "a = Exp(x) {T: DT_FLOAT}\ny = Neg(a) {T: DT_FLOAT}\n", "Neg(x) not equal"},
          {"of another type", "a = Cast(x) {SrcT: DT_FLOAT, DstT: DT_INT32}\ny = Neg(a) {T: DT_INT32}\n",
           "node 'a': gives int32 and reads float32, so that its readers cannot read what it reads"},
          {"of two inputs", "a = Add(x, fed) {T: DT_FLOAT}\ny = Neg(a) {T: DT_FLOAT}\n",
           "node 'a': has not one input and one output"},
      },
      request);
}

TEST(Optimize, ManyControlInputsAndOutputs) {
  constexpr int kMany = 2000;
  std::string listing = kGiven, types, inputs, waits;
  for (int i = 0; i < kMany; ++i) {
    const std::string name = "c" + std::to_string(i);
    listing += name + " = NoOp(^x)\n";
    waits += ", ^" + name;
    inputs += "x, ";
    types += i == 0 ? "DT_FLOAT" : ", DT_FLOAT";
  }
  inputs.resize(inputs.size() - 2);
  listing +=
      "many = IdentityN(" + inputs + waits + ") {T: list(" + types + ")}\ny = Neg(many:7) {T: DT_FLOAT}\n";
  EXPECT_EQ(result_of(listing, everything()), "Neg(x)");
}

// Shapes that are known, each of which takes more bytes as a Const.
size_t folded_shapes(size_t many) {
  std::string listing =
      "x = Placeholder() {dtype: DT_FLOAT, shape: [2,3]}\np = Placeholder() {dtype: DT_FLOAT, shape: [?]}\n";
  std::string sum;
  for (size_t i = 0; i < many; ++i) {
    const std::string n = std::to_string(i);
    listing += "s" + n + " = Shape(x) {T: DT_FLOAT, out_type: DT_INT32}\n";
    listing += "r" + n + " = Reshape(p, s" + n + ") {T: DT_FLOAT, Tshape: DT_INT32}\n";
    sum += (i > 0 ? ", r" : "r") + n;
  }
  listing += "y = AddN(" + sum + ") {T: DT_FLOAT, N: " + std::to_string(many) + "}\n";
  OptimizeRequest request = everything();
  request.passes.share = false;
  Registry ops;
  ops.add_builtin();
  const auto optimized = [&](const Model& model) {
    Optimized made = optimize_proved(model, ops, request, true);
    made.model.graph().decode();
    return std::move(made.model);
  };
  const Model model = listed_model(listing);
  const Model once = optimized(model), twice = optimized(once);
  EXPECT_EQ(graph_bytes(once.graph()), graph_bytes(twice.graph()));
  EXPECT_EQ(once.graph().op_counts(), twice.graph().op_counts());
  EXPECT_LE(graph_bytes(once.graph()), graph_bytes(model.graph()) + 1024);
  return many - once.graph().op_counts()["Shape"];
}

TEST(Fold, AllOrNothingThatTakesMoreBytes) {
  EXPECT_EQ(folded_shapes(10), 10U);
  EXPECT_EQ(folded_shapes(400), 0U);
}

TEST(Transforms, Language) {
  const auto all = optimizing::parse_transforms(
      "strip_unused_nodes(type=float, shape=\"1,2\")\n remove_nodes(op=Identity, op=\"CheckNumerics\") "
      "fold_constants");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].value("shape"), "1,2");
  EXPECT_EQ(all[1].all("op"), (std::vector<std::string>{"Identity", "CheckNumerics"}));
  EXPECT_TRUE(all[2].values.empty());
  for (const char* wrong :
       {"", "quantize_weights", "remove_nodes(op)", "remove_nodes(op=a", "remove_nodes(op=\"a)"})
    EXPECT_THROW(optimizing::parse_transforms(wrong), Error) << wrong;
}

TEST(Transforms, EachIsToldOfWhatItWasMade) {
  OptimizeRequest request;
  request.outputs = {"y"};
  request.transforms = optimizing::parse_transforms(
      "fold_constants rename_node(old_node_name=z, new_node_name=w) merge_duplicate_nodes "
      "sort_by_execution_order");
  request.passes.fold = request.passes.share = true;
  const std::string listing =
      "x = Placeholder() {dtype: DT_FLOAT}\n"
      "a = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 1.0)}\n"
      "z = Neg(a) {T: DT_FLOAT}\n"
      "b = Exp(x) {T: DT_FLOAT}\nc = Exp(x) {T: DT_FLOAT}\n"
      "d = Add(b, c) {T: DT_FLOAT}\ny = Add(d, z) {T: DT_FLOAT}\n";
  const auto ops_of = [](const Graph& graph) {
    std::string ops;
    for (const auto& [op, count] : graph.op_counts())
      ops.append(ops.empty() ? "" : " ").append(op).append(" ").append(std::to_string(count));
    return ops;
  };
  std::vector<std::string> told;  // of each but the last
  request.step_made = [&](Model& before, Model& after, const OptimizeResult& result) {
    EXPECT_EQ(result.outputs, request.outputs);
    told.push_back(ops_of(before.graph()));
    told.push_back(ops_of(after.graph()));
  };
  Model model = listed_model(listing), before = model;
  Registry ops;
  ops.add_builtin();
  optimize(model, before, ops, request);
  const std::string folded = "Add 2 Const 1 Exp 2 Placeholder 1";
  EXPECT_EQ(told, (std::vector<std::string>{"Add 2 Const 1 Exp 2 Neg 1 Placeholder 1", folded, folded,
                                            "Add 2 Const 1 Exp 1 Placeholder 1"}));
}

TEST(Sort, BehindWhatTheyReadElseInTheirOrder) {
  Model model = listed_model(
      "y = Add(b, a) {T: DT_FLOAT}\nb = Neg(x) {T: DT_FLOAT}\na = Exp(x) {T: DT_FLOAT}\n"
      "x = Placeholder() {dtype: DT_FLOAT}\n");
  EXPECT_TRUE(optimizing::sort_nodes(model));
  std::string order;
  for (uint32_t i = 0; i < model.graph().size(); ++i) order += model.graph().name(NodeId{i});
  EXPECT_EQ(order, "xbay");
  EXPECT_FALSE(optimizing::sort_nodes(model));
}

}  // namespace gedit::optimize_test
