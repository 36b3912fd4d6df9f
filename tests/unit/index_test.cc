// What is found once of a graph, and by hash.
#include "graph/index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/hash_index.h"
#include "listed_model.h"

namespace gedit::index_test {

TEST(HashIndex, FindsWhatIsThereAmongThoseOfOneHash) {
  HashIndex index;
  const auto is = [](uint32_t wanted) { return [wanted](uint32_t found) { return found == wanted; }; };
  EXPECT_EQ(index.find(7, is(0)), HashIndex::kNone);
  // Upper halves that are equal, in steps of the table's size, and all others.
  const auto hash_of = [](uint64_t i) {
    return i % 3 == 0 ? uint64_t{5} << 32 : i % 3 == 1 ? (i * 64) << 32 : (i * 0x9e3779b97f4a7c15U);
  };
  constexpr uint32_t kMany = 1000;
  for (uint32_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(index.find(hash_of(i), is(i)), HashIndex::kNone) << i;
    index.add(hash_of(i), i);
    for (const uint32_t there : {0U, i / 2, i}) ASSERT_EQ(index.find(hash_of(there), is(there)), there) << i;
  }
  for (uint32_t i = 0; i < kMany; ++i) EXPECT_EQ(index.find(hash_of(i), is(i)), i);
}

TEST(GraphIndex, NamesProducersAndReaders) {
  const Model model = listed_model("a = Const()\nb = Neg(a)\nc = Add(a, b, ^a)\nd = Neg(gone)\n");
  const GraphIndex index(model.graph());
  const auto names_of = [&](std::span<const NodeId> ids) {
    std::vector<std::string_view> names;
    for (const NodeId id : ids) names.push_back(model.graph().name(id));
    return names;
  };
  const auto find = [&](std::string_view name) { return index.names().find(name); };
  EXPECT_EQ(find("gone"), kNoNode);
  EXPECT_EQ(names_of(index.producers().of(find("c"))), (std::vector<std::string_view>{"a", "b", "a"}));
  EXPECT_FALSE(index.producers().complete());
  EXPECT_EQ(names_of(index.readers().of(find("a"))), (std::vector<std::string_view>{"b", "c", "c"}));
  EXPECT_TRUE(index.readers().of(find("d")).empty());
}

// More than one core fills the index of.
TEST(GraphIndex, ManyNamesOfWhichSomeAreThereTwice) {
  constexpr uint32_t kNodes = 60'000, kEvery = 977;
  std::string bytes;
  const auto add = [&](uint32_t number) {
    std::string node;
    append_bytes_field(node, node_field::kName, "scope/node_" + std::to_string(number));
    append_bytes_field(node, node_field::kOp, "NoOp");
    append_bytes_field(bytes, 1, node);
  };
  for (uint32_t i = 0; i < kNodes; ++i) add(i);
  std::vector<NodeId> twice;
  for (uint32_t i = 0; i < kNodes; i += kEvery) {
    twice.push_back(NodeId{kNodes + static_cast<uint32_t>(twice.size())});
    add(i);
  }
  Graph graph(bytes, 1, std::make_shared<Arena>());
  graph.decode();
  const Names names(graph);
  for (uint32_t i = 0; i < kNodes; ++i) ASSERT_EQ(names.find("scope/node_" + std::to_string(i)), NodeId{i});
  EXPECT_EQ(names.find("scope/node_" + std::to_string(kNodes)), kNoNode);
  EXPECT_EQ(names.duplicates(), twice);
}

TEST(Graph, NodesOfAKind) {
  Model model = listed_model("a = Const()\nb = Neg(a)\nc = Const()\nd = NoOp(^a)\n");
  Graph& graph = model.graph();
  const auto named = [&](OpKinds any) {
    std::string names;
    graph.each_of(any, [&](NodeId id) { names += graph.name(id); });
    return names;
  };
  EXPECT_EQ(named(OpKind::kConst), "ac");
  EXPECT_EQ(named(OpKinds(OpKind::kConst) | OpKind::kNoOp), "acd");
  EXPECT_EQ(named(OpKind::kVariable), "");
  EXPECT_FALSE(graph.has_any(OpKind::kVariable));
  graph.remove(NodeId{0});
  EXPECT_EQ(named(OpKind::kConst), "c");
  graph.remove(NodeId{2});
  EXPECT_FALSE(graph.has_any(OpKind::kConst));
}

// Against following every edge, in graphs whose nodes stand in any order.
TEST(NodeSet, SpreadsToAllThatIsReached) {
  std::mt19937 random(7);
  for (const uint32_t nodes : {1U, 2U, 63U, 64U, 65U, 200U}) {
    for (int round = 0; round < 40; ++round) {
      std::vector<std::vector<uint32_t>> leads(nodes);
      for (uint32_t i = 0; i < nodes; ++i) {
        // Mostly to the node before, sometimes anywhere.
        if (random() % 3 == 0) leads[i].push_back(static_cast<uint32_t>(random() % nodes));
        if (random() % 4 != 0) leads[i].push_back(i == 0 ? 0 : i - 1);
      }
      NodeSet start(nodes);
      start.add(NodeId{static_cast<uint32_t>(random() % nodes)});
      start.add(NodeId{static_cast<uint32_t>(random() % nodes)});
      NodeSet slow = start;
      for (uint32_t before = 0; before != slow.count();) {
        before = slow.count();
        for (const NodeId id : slow.nodes())
          for (const uint32_t to : leads[index_of(id)]) slow.add(NodeId{to});
      }
      for (const bool back : {true, false}) {
        NodeSet fast = start;
        fast.spread(back, [&](NodeId id, const auto& go) {
          for (const uint32_t to : leads[index_of(id)]) go(NodeId{to});
        });
        EXPECT_EQ(fast.nodes(), slow.nodes()) << nodes << " nodes, round " << round << ", back " << back;
        EXPECT_EQ(fast.count(), slow.count());
      }
    }
  }
}

struct Lengths {
  size_t& of(std::string_view op) {
    ++asked;
    return known.try_emplace(std::string(op), op.size()).first->second;
  }
  std::map<std::string, size_t> known;
  size_t asked = 0;
};

TEST(OpsOf, AsksOnceForEachOp) {
  const Model model = listed_model("a = Const()\nb = Neg(a)\nc = Neg(b)\nd = Const()\n");
  Lengths lengths;
  const OpsOf<Lengths> ops(model.graph(), lengths);
  EXPECT_EQ(lengths.asked, 2U);
  EXPECT_EQ(ops.of(NodeId{2}), 3U);
  EXPECT_EQ(ops.of(NodeId{3}), 5U);
  EXPECT_EQ(lengths.asked, 2U);
}

TEST(OpsOf, MoreOpsThanTwoBytesCount) {
  constexpr uint32_t kMany = 65636;
  std::string listing;
  for (uint32_t i = 0; i < kMany; ++i) {
    const std::string number = std::to_string(i);
    listing += "n" + number + " = Op" + number + "()\n";
  }
  const Model model = listed_model(listing);
  Lengths lengths;
  const OpsOf<Lengths> ops(model.graph(), lengths);
  for (const uint32_t i : {0U, 10U, kMany - 101, kMany - 100, kMany - 1})
    EXPECT_EQ(ops.of(NodeId{i}), std::to_string(i).size() + 2) << i;
}

}  // namespace gedit::index_test
