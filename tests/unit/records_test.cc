// Nodes found in pieces on all cores are those that a walk from the first byte finds, whatever looks like
// one; and so are those that are written and looked for without decode().
#include "graph/records.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/name_hash.h"
#include "graph/node.h"

namespace gedit::records_test {

constexpr uint32_t kNode = 1, kLibrary = 2;
constexpr size_t kLong = size_t{6} << 20;  // so many bytes are walked in pieces

std::string node(const std::string& name, const std::string& op) {
  std::string def = bytes_field(node_field::kName, name);
  append_bytes_field(def, node_field::kOp, op);
  return bytes_field(kNode, def);
}

// Nodes until there are that many bytes; every thousandth is of an op of its own.
std::string nodes(const std::string& scope, size_t bytes) {
  std::string out;
  for (size_t i = 0; out.size() < bytes; ++i)
    out += node(scope + std::to_string(i), i % 1000 == 999 ? "Op" + std::to_string(i) : "Relu");
  return out;
}

class PrefixAll final : public Mapping {
 public:
  void node(std::string_view name, std::string& out) const override { out.append("p/").append(name); }
  const Prefixing* prefixing(NodeId) const override { return &prefixing_; }

 private:
  const Prefixing prefixing_{.prefix = "p/"};
};

// Another name for those that end with 7, which is not told in advance.
class Sevens final : public Mapping {
 public:
  void node(std::string_view name, std::string& out) const override {
    out.append(name).append(name.ends_with('7') ? "x" : "");
  }
  bool leaves(std::string_view node_def) const override { return !node_name(node_def).ends_with('7'); }
};

void expect_written(const std::string& message, const std::shared_ptr<const Mapping>& mapping) {
  std::string expected;
  Tally counted;
  for (Fields fields(message); fields.next();) {
    if (fields->bytes(kNode)) {
      append_bytes_field(expected, kNode, mapped_node(fields->value, *mapping));
      counted.add(node_op(fields->value));
    } else {
      expected += fields->raw;
    }
  }
  Graph graph(message, kNode, std::make_shared<Arena>());
  graph.map_all(mapping);
  StringSink written;
  Tally tally;
  graph.write(written, &tally);
  EXPECT_TRUE(written.text == expected);  // some megabytes, which nobody wants to see
  EXPECT_EQ(tally.nodes, counted.nodes);
}

void expect_looked_for(const std::string& message) {
  const auto wanted = [](std::string_view node_def) { return node_name(node_def).ends_with("77"); };
  std::vector<std::string> expected, found;
  const Graph graph(message, kNode, std::make_shared<Arena>());
  graph.each_record([&](std::string_view node_def) {
    if (wanted(node_def)) expected.emplace_back(node_def);
  });
  for (const std::string_view node_def : graph.records_where(wanted)) found.emplace_back(node_def);
  EXPECT_EQ(found, expected);
}

void expect_found(const std::string& message) {
  expect_written(message, std::make_shared<PrefixAll>());
  expect_written(message, std::make_shared<Sevens>());
  expect_looked_for(message);
  const FoundNodes found = find_nodes(message, kNode);
  std::vector<uint32_t> unusual;
  size_t i = 0, part = 0;
  for (Fields fields(message); fields.next();) {
    if (!fields->bytes(kNode)) {
      ASSERT_LT(part, found.parts.size());
      EXPECT_EQ(found.parts[part].raw.data(), fields->raw.data());
      EXPECT_EQ(found.nodes_before[part++], i);
      continue;
    }
    ASSERT_LT(i, found.nodes.size());
    ASSERT_EQ(found.nodes.records[i], fields->raw.data()) << "node " << i;
    const NodeHead head = node_head(fields->value);
    ASSERT_EQ(found.ops.op(found.nodes.ops[i]), head.op) << "node " << i;
    ASSERT_EQ(found.nodes.hashes[i], name_hash(head.name)) << "node " << i;
    if (!fields_ascend(fields->value)) unusual.push_back(static_cast<uint32_t>(i));
    ++i;
  }
  EXPECT_EQ(found.nodes.size(), i);
  EXPECT_EQ(found.parts.size(), part);
  EXPECT_EQ(found.nodes.unusual, unusual);
}

TEST(Records, OfALongGraph) { expect_found(nodes("n", kLong)); }

TEST(Records, OfTwoOpsTheLastCounts) {
  std::string message;
  for (int i = 0; i < 12; ++i) {
    const std::string one = node("a", "Relu"), other = node("b", "Op" + std::to_string(i));
    message += nodes("n" + std::to_string(i) + "/", kLong / 12);
    message += bytes_field(kNode, one.substr(2) + other.substr(2));
  }
  expect_found(message);
}

TEST(Records, OfAShortOne) {
  expect_found("");
  expect_found(node("a", "NoOp"));
}

TEST(Records, OtherFieldsStandBetween) {
  std::string message;
  for (int i = 0; i < 12; ++i) {
    message += nodes("n" + std::to_string(i) + "/", kLong / 12);
    append_bytes_field(message, kLibrary, std::string(100000, 'x'));
    append_varint_field(message, 4, 7);
  }
  expect_found(message);
}

TEST(Records, AConstThatHoldsAGraphIsOneNode) {
  std::string inner = bytes_field(node_field::kName, "held");
  append_bytes_field(inner, node_field::kOp, "Const");
  append_bytes_field(inner, node_field::kAttr, nodes("inside", kLong));
  expect_found(node("a", "NoOp") + bytes_field(kNode, inner) + nodes("n", kLong));
}

// A chain of nodes that begins anywhere but where the file's own fields do.
TEST(Records, WhatLooksLikeNodesInsideOfNamesIsNone) {
  std::string message;
  const std::string inside = nodes("inside", 600);
  while (message.size() < kLong) message += node("n" + inside, "Relu");
  expect_found(message);
}

TEST(Records, TheFirstFaultIsToldWhereverPiecesBegin) {
  const std::string sound = nodes("n", kLong);
  for (const size_t share : {1, 3, 5}) {
    size_t at = 0;
    for (Fields fields(sound); at < sound.size() * share / 6 && fields.next();) at += fields->raw.size();
    std::string broken = sound;
    broken[at] = 0x07;  // a tag of no wire type
    broken[broken.size() - 5] = static_cast<char>(0xff);
    try {
      find_nodes(broken, kNode);
      ADD_FAILURE() << "no fault seen";
    } catch (const Malformed& error) {
      EXPECT_EQ(error.at() - broken.data(), static_cast<std::ptrdiff_t>(at));
    }
    Graph graph(broken, kNode, std::make_shared<Arena>());
    graph.map_all(std::make_shared<PrefixAll>());
    StringSink written;
    try {
      graph.write(written);
      ADD_FAILURE() << "no fault seen";
    } catch (const Malformed& error) {
      EXPECT_EQ(error.at() - broken.data(), static_cast<std::ptrdiff_t>(at));
    }
  }
}

}  // namespace gedit::records_test
