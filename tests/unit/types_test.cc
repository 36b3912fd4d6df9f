// The types of a node's outputs: all, one, and how many they are.
#include "graph/types.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "corpus_files.h"
#include "listed_model.h"

namespace gedit::types_test {

using Types = std::optional<std::vector<DType>>;

// One output and their number are found without the list of all, and say what it says.
void expect_same(Registry& ops, std::string_view node_def, const std::string& where) {
  const Types types = output_types(ops, node_def);
  const std::optional<size_t> count = output_count(ops, node_def);
  ASSERT_EQ(count.has_value(), types.has_value()) << where;
  if (types) {
    ASSERT_EQ(*count, types->size()) << where;
    for (size_t i = 0; i < types->size(); ++i)
      ASSERT_EQ(output_type(ops, node_def, i), (*types)[i]) << where << ":" << i;
  }
  ASSERT_EQ(output_type(ops, node_def, count.value_or(0)), DType::kInvalid) << where;
}

TEST(Types, OfOutputs) {
  using enum DType;
  std::string many = "DT_130";  // of two bytes
  std::vector<DType> these{DType{130}};
  for (int i = 0; i < 20; ++i) {
    many += i % 2 == 0 ? ", DT_FLOAT" : ", DT_INT64_REF";
    these.push_back(i % 2 == 0 ? kFloat : reference_to(kInt64));
  }
  const std::vector<std::pair<std::string, Types>> table = {
      {"Split(x, x) {T: DT_FLOAT, num_split: 3}", Types{{kFloat, kFloat, kFloat}}},
      {"Split(x, x) {T: DT_FLOAT}", std::nullopt},
      {"Split(x, x) {num_split: 2}", Types{{kInvalid, kInvalid}}},
      {"Split(x, x) {T: DT_FLOAT, num_split: -1}", std::nullopt},
      {"Switch(x, x) {T: DT_INT32}", Types{{kInt32, kInt32}}},
      {"Merge(x, x) {N: 2, T: DT_STRING}", Types{{kString, kInt32}}},
      {"VariableV2() {dtype: DT_FLOAT, shape: [2]}", Types{{reference_to(kFloat)}}},
      {"IdentityN(x) {T: list(" + many + ")}", Types{these}},
      {"PartitionedCall(x) {Tin: list(DT_FLOAT), Tout: list(), f: func f}", Types{std::vector<DType>{}}},
      {"PartitionedCall(x) {Tin: list(DT_FLOAT), f: func f}", std::nullopt},
      {"NoOp()", Types{std::vector<DType>{}}},
      {"OfNobody(x) {T: DT_FLOAT}", std::nullopt},
  };
  Registry ops;
  ops.add_builtin();
  for (const auto& [node, types] : table) {
    const Model model = listed_model("n = " + node + "\n");
    const std::string_view node_def = model.graph().bytes(NodeId{0});
    EXPECT_EQ(output_types(ops, node_def), types) << node;
    expect_same(ops, node_def, node);
  }
}

TEST(Types, OfRealNodes) {
  size_t nodes = 0;
  for (const std::string& path : corpus_files()) {
    if (!path.ends_with(".pb") && !path.ends_with(".meta")) continue;
    std::optional<Model> model;
    try {
      model = load(path);
    } catch (const Error&) {
      continue;  // no graph
    }
    for (MetaGraph& meta : model->meta_graphs) {
      meta.graph.decode();
      Registry ops;
      ops.add_builtin();
      for (uint32_t i = 0; i < meta.graph.size(); ++i, ++nodes)
        expect_same(ops, meta.graph.bytes(NodeId{i}), path + ": " + std::string(meta.graph.name(NodeId{i})));
    }
  }
  EXPECT_GE(nodes, at_least(1000, 50000));
}

}  // namespace gedit::types_test
