// Batch norms folded into weights: what the nodes become. tests/interop/fold_batch_norm.py compares what they
// give.
#include "fold/batch_norm.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "graph/listing.h"
#include "listed_model.h"

namespace gedit::folding::batch_norm_test {

// The nodes that are other ones or new, one a line, `-NAME` for one that nobody reads any more.
std::string folded(const std::string& listing, const std::set<std::string, std::less<>>& kept = {}) {
  const Model model = listed_model(listing);
  const Graph& graph = model.graph();
  const Names names(graph);
  const Edges consumers = reversed(producers(graph, names));
  std::string text;
  for (const FoldedNorm& norm :
       find_batch_norms({graph, names, consumers, [&](NodeId id) { return kept.contains(graph.name(id)); },
                         [](std::string_view name) { return std::string(name).append("_1"); }})) {
    for (const auto& [id, node] : norm.replaced) {
      print_node(text, node, true);
      if (!text.ends_with('\n')) text += '\n';
    }
    for (const std::string& node : norm.added) {
      print_node(text, node, true);
      if (!text.ends_with('\n')) text += '\n';
    }
    for (const NodeId id : norm.passed) text.append("-").append(graph.name(id)).append("\n");
  }
  return text;
}

const std::string kProduct =
    "x = Placeholder() {dtype: DT_FLOAT}\n"
    "w = Const(^x) @ /cpu:0 {dtype: DT_FLOAT, value: tensor(DT_FLOAT [1,2], 1.0, 2.0)}\n"
    "y = MatMul(x, w) {T: DT_FLOAT, transpose_a: false, transpose_b: false}\n"
    "s = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [2], 4.0, 0.25)}\n"
    "r = Rsqrt(s) {T: DT_FLOAT}\n"
    "b = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [2], 3.0, 5.0)}\n";

TEST(FoldBatchNorm, OwnWeightsKeepTheirName) {
  EXPECT_EQ(folded(kProduct + "bias = BiasAdd(y, b) {T: DT_FLOAT}\n"
                              "mul = Mul(r, bias) {T: DT_FLOAT}\n"
                              "norm = Sub(mul, b) {T: DT_FLOAT}\n"
                              "out = Relu(norm) {T: DT_FLOAT}\n"),
            "w = Const(^x) @ /cpu:0 {dtype: DT_FLOAT, value: tensor(DT_FLOAT [1,2], content(0.5, 4.0))}\n"
            "norm = BiasAdd(y, norm/bias_1) {T: DT_FLOAT, data_format: \"NHWC\"}\n"
            "norm/bias_1 = Const(^x) {dtype: DT_FLOAT, value: tensor(DT_FLOAT [2], content(-1.5, 5.0))}\n"
            "-bias\n-mul\n");
}

TEST(FoldBatchNorm, WeightsThatOthersReadAreAddedOnceMore) {
  EXPECT_EQ(folded(kProduct + "norm = Mul(y, r) {T: DT_FLOAT}\n", {"w"}),
            "y = MatMul(x, w_1) {T: DT_FLOAT, transpose_a: false, transpose_b: false}\n"
            "norm = Identity(y) {T: DT_FLOAT}\n"
            "w_1 = Const(^x) @ /cpu:0 {dtype: DT_FLOAT, value: tensor(DT_FLOAT [1,2], content(0.5, 4.0))}\n");
}

TEST(FoldBatchNorm, WhatSomebodyElseReadsStays) {
  EXPECT_EQ(folded(kProduct + "norm = Mul(y, r) {T: DT_FLOAT}\n", {"y"}), "");
  EXPECT_EQ(folded(kProduct + "norm = Mul(y, r) {T: DT_FLOAT}\nother = Relu(y) {T: DT_FLOAT}\n"), "");
  EXPECT_EQ(folded(kProduct + "norm = Mul(y, r) {T: DT_FLOAT}\nother = NoOp(^y)\n"), "");
  EXPECT_EQ(folded(kProduct + "norm = Mul(y, y) {T: DT_FLOAT}\n"), "");
  EXPECT_EQ(folded(kProduct + "norm = Mul(y, r, ^b) {T: DT_FLOAT}\n"), "");
  EXPECT_EQ(folded(kProduct + "norm = BiasAdd(y, b) {T: DT_FLOAT}\n"), "");
}

}  // namespace gedit::folding::batch_norm_test
