// Nodes as bytes and graphs of them: names taken apart, fields replaced where they stand, records edited.
#include "graph/graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "edit/basis/runtime_names.h"
#include "graph/edges.h"
#include "graph/frames.h"
#include "graph/library.h"
#include "graph/name_hash.h"
#include "graph/names.h"
#include "graph/node.h"
#include "model/listing.h"

namespace gedit::graph_test {

TEST(Node, InputsAreTakenApart) {
  struct Row {
    std::string_view text, node, port;
    bool control;
    uint32_t index;
  };
  for (const Row& row :
       {Row{"a", "a", "", false, 0}, Row{"a:1", "a", "1", false, 1}, Row{"a/b:12", "a/b", "12", false, 12},
        Row{"^a", "a", "", true, 0}, Row{"a:x", "a:x", "", false, 0}, Row{"a:", "a:", "", false, 0}}) {
    const Input input = parse_input(row.text);
    EXPECT_EQ(input.node, row.node) << row.text;
    EXPECT_EQ(input.port, row.port) << row.text;
    EXPECT_EQ(input.control, row.control) << row.text;
    EXPECT_EQ(input.index(), row.index) << row.text;
  }
  EXPECT_EQ(parse_body_input("a:product:0").node, "a");
  EXPECT_EQ(parse_body_input("a:product:0").port, "product:0");
  EXPECT_TRUE(parse_body_input("^a").control);
}

TEST(Node, NamesAreValidAsInTensorFlow) {
  struct Row {
    std::string_view name;
    size_t wrong_at;
  };
  constexpr size_t kValid = std::string_view::npos;
  for (const Row& row :
       {Row{"a", kValid}, Row{"a/b.c-d_e", kValid}, Row{".a", kValid}, Row{"1", kValid}, Row{"f>g", kValid},
        Row{"", 0}, Row{"_a", 0}, Row{"/a", 0}, Row{"a b", 1}, Row{"a:0", 1}, Row{"a>", 2}, Row{"a^", 1}}) {
    EXPECT_EQ(invalid_name_at(row.name), row.wrong_at) << row.name;
  }
}

std::string node(std::string_view listing) {
  const ParsedListing parsed = parse_listing(std::string(listing) + "\n", "t.gtxt", nullptr);
  for (Fields fields(parsed.message); fields.next();) {
    if (fields->bytes(1)) return std::string(fields->value);
  }
  return "";
}

TEST(Node, FieldsAreReplacedWhereTheyStand) {
  const std::string before = node("y = Add(a, b:1, ^c) {T: DT_FLOAT, _class: list(\"loc:@a\")}");
  struct Row {
    std::string edited;
    std::string_view after;
  };
  for (const Row& row : {
           Row{with_inputs(before, {"a", "x"}), "y = Add(a, x) {T: DT_FLOAT, _class: list(\"loc:@a\")}"},
           Row{with_inputs(before, {}), "y = Add() {T: DT_FLOAT, _class: list(\"loc:@a\")}"},
           Row{with_attr(before, "T", type_value(DType::kInt32)),
               "y = Add(a, b:1, ^c) {T: DT_INT32, _class: list(\"loc:@a\")}"},
           Row{with_attr(before, "_class", std::nullopt), "y = Add(a, b:1, ^c) {T: DT_FLOAT}"},
           Row{with_attr(before, "gone", std::nullopt),
               "y = Add(a, b:1, ^c) {T: DT_FLOAT, _class: list(\"loc:@a\")}"},
       }) {
    EXPECT_EQ(row.edited, node(row.after)) << row.after;
  }
  // What nobody knows stays.
  std::string unknown = before;
  append_bytes_field(unknown, 4711, "kept");
  EXPECT_NE(with_inputs(unknown, {"z"}).find("kept"), std::string::npos);
}

class Prefix final : public Mapping {
 public:
  void node(std::string_view name, std::string& out) const override {
    out += "p/";
    out += name;
  }
};

struct Loaded {
  explicit Loaded(const std::string& listing)
      : parsed(parse_listing(listing, "t.gtxt", nullptr)),
        graph(parsed.message, 1, std::make_shared<Arena>()) {
    graph.decode();
  }
  std::string listed() const {
    StringSink message, text;
    graph.write(message);
    print_listing(Kind::kGraphDef, message.text, false, text);
    return text.text;
  }
  ParsedListing parsed;
  Graph graph;
};

constexpr const char* kGraph = R"(x = Placeholder() {dtype: DT_FLOAT}
y = Neg(x, ^x) {T: DT_FLOAT, _class: list("loc:@x")}
z = Neg(y) {T: DT_FLOAT}
)";

TEST(Graph, EditsOfRecords) {
  Loaded removed(kGraph);
  removed.graph.remove(NodeId{1});
  EXPECT_EQ(removed.listed(), "x = Placeholder() {dtype: DT_FLOAT}\nz = Neg(y) {T: DT_FLOAT}\n");
  EXPECT_EQ(removed.graph.tally().nodes, 2U);

  Loaded replaced(kGraph);
  replaced.graph.replace(NodeId{2}, node("q = NoOp()"));
  replaced.graph.append(node("r = NoOp(^q)"));
  EXPECT_TRUE(replaced.listed().ends_with("q = NoOp()\nr = NoOp(^q)\n"));

  Loaded mapped(kGraph);
  mapped.graph.append_mapped({NodeId{1}}, std::make_shared<Prefix>());
  EXPECT_EQ(mapped.listed(),
            kGraph + std::string("p/y = Neg(p/x, ^p/x) {T: DT_FLOAT, _class: list(\"loc:@p/x\")}\n"));

  Loaded untouched(kGraph);
  StringSink out;
  untouched.graph.write(out);
  EXPECT_EQ(out.text, untouched.parsed.message);
}

// One whose nodes only get a prefix, but for every seventh, of which the mapping has to be asked.
class MostlyPrefix final : public Mapping {
 public:
  void node(std::string_view name, std::string& out) const override { out.append("p/").append(name); }
  const Prefixing* prefixing(NodeId id) const override {
    return index_of(id) % 7 == 0 ? nullptr : &prefixing_;
  }

 private:
  const Prefixing prefixing_{.prefix = "p/"};
};

class Zeros final : public Stream {
 public:
  uint64_t size() const override { return 8; }
  void write(Sink& sink) const override { sink.write(std::string(8, '\0')); }
};

// Written in pieces by several threads where there are several: what each node is written as, in order.
TEST(Graph, ManyEditedNodesAreWrittenInOrder) {
  constexpr uint32_t kNodes = 30000;
  std::string listing;
  for (uint32_t i = 0; i < kNodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    listing += name + (i % 5 == 0 ? " = Placeholder() {dtype: DT_FLOAT}\n"
                                  : " = Neg(n" + std::to_string(i - 1) + ") {T: DT_FLOAT}\n");
  }
  Loaded loaded(listing);
  Graph& graph = loaded.graph;
  std::vector<NodeId> copied;
  for (uint32_t i = 0; i < kNodes; i += 3) copied.push_back(NodeId{i});
  graph.append_mapped(copied, std::make_shared<MostlyPrefix>());
  for (uint32_t i = 10000; i < 20000; i += 2) graph.remove(NodeId{i});
  for (uint32_t i = 1; i < 9000; i += 1000) graph.replace(NodeId{i}, node("changed = NoOp()"));
  std::string expected;
  graph.each_node([&](std::string_view node_def) { append_bytes_field(expected, 1, node_def); });
  StringSink written;
  graph.write(written);
  EXPECT_TRUE(written.text == expected);  // some megabytes, which nobody wants to see

  // A value that is streamed is where its node is.
  const std::string head = node("v = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [2])}");
  const std::string whole =
      node("v = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [2], content(0.0, 0.0))}");
  for (const uint32_t i : {5000U, 5001U, kNodes + 4000}) graph.replace(NodeId{i}, whole);
  StringSink as_whole, streamed;
  graph.write(as_whole);
  for (const uint32_t i : {5000U, 5001U, kNodes + 4000})
    graph.replace(NodeId{i}, head, std::make_shared<Zeros>());
  graph.write(streamed);
  EXPECT_TRUE(streamed.text == as_whole.text);
}

TEST(Graph, NamesEdgesAndReach) {
  Loaded loaded("a = NoOp()\na = NoOp()\nb = NoOp(^a, ^none)\nc = NoOp(^b)\nd = NoOp()\n");
  const Names names(loaded.graph);
  EXPECT_EQ(names.find("a"), NodeId{0});
  EXPECT_EQ(names.find("e"), kNoNode);
  EXPECT_EQ(names.duplicates(), std::vector<NodeId>{NodeId{1}});
  const Edges sources = producers(loaded.graph, names);
  EXPECT_FALSE(sources.complete());
  NodeSet set(loaded.graph.size());
  set.add(NodeId{3});
  EXPECT_EQ(reach(set, sources, 1).nodes(), (std::vector<NodeId>{NodeId{2}, NodeId{3}}));
  EXPECT_EQ(reach(set, sources, kAnyDistance).count(), 3U);
  NodeSet first(loaded.graph.size());
  first.add(NodeId{0});
  EXPECT_EQ(reach(first, reversed(sources), kAnyDistance).count(), 3U);
}

TEST(Graph, FramesOfNestedLoops) {
  Loaded loaded(R"(x = Placeholder() {dtype: DT_FLOAT}
e = Enter(x) {T: DT_FLOAT, frame_name: "outer"}
f = Enter(e) {T: DT_FLOAT, frame_name: "inner"}
g = Neg(f) {T: DT_FLOAT}
o = Exit(g) {T: DT_FLOAT}
h = Neg(o) {T: DT_FLOAT}
)");
  const Names names(loaded.graph);
  const Frames frames(loaded.graph, producers(loaded.graph, names));
  EXPECT_EQ(frames.of(NodeId{0}), 0U);
  EXPECT_EQ(frames.frame(frames.of(NodeId{3})).name, "inner");
  EXPECT_EQ(frames.frame(frames.frame(frames.of(NodeId{3})).parent).name, "outer");
  EXPECT_EQ(frames.of(NodeId{5}), frames.of_output(NodeId{4}));
  EXPECT_EQ(frames.frame(frames.of(NodeId{5})).name, "outer");
}

TEST(ScopeNames, WhatBecomesOfANameAndBack) {
  struct Row {
    std::string_view from, to, name, becomes;
  };
  for (const Row& row : {Row{"", "n", "a/b", "n/a/b"}, Row{"a", "n", "a/b", "n/b"}, Row{"a", "n", "a", "n"},
                         Row{"a", "n", "ab/c", "n/ab/c"}, Row{"a/", "n/", "a/b", "n/b"},
                         Row{"a", "", "a/b", "b"}, Row{"a", "", "x/y", "x/y"}}) {
    const ScopeNames scope(row.from, !row.from.empty(), row.to);
    EXPECT_EQ(scope.of(row.name), row.becomes);
    const std::vector<std::string> origins = scope.origins(row.becomes);
    EXPECT_NE(std::find(origins.begin(), origins.end(), row.name), origins.end()) << row.becomes;
  }
}

TEST(FreshNames, AreTheSameForTheSameAndNeverTaken) {
  const ScopeNames scope("", false, "n");
  FreshNames names(scope);
  names.take("n/loop");
  names.take("n/loop_1");
  EXPECT_EQ(names.of("loop"), "n/loop_2");
  EXPECT_EQ(names.of("loop"), "n/loop_2");
  EXPECT_EQ(names.of("other"), "n/other");
}

TEST(Node, NameAndOpWhereverTheyAre) {
  const std::string name =
                        "\x0a\x01"
                        "a",
                    op = "\x12\x02"
                         "No";
  const std::string long_name = "\x0a\x80\x01" + std::string(128, 'n');
  EXPECT_EQ("a", node_name(name + op));
  EXPECT_EQ("No", node_op(name + op));
  EXPECT_EQ("a", node_name(op + name));
  EXPECT_EQ("No", node_op(op + name));
  EXPECT_EQ(128U, node_name(long_name + op).size());
  EXPECT_EQ("No", node_op(long_name + op));
  EXPECT_EQ("", node_op(name));
  EXPECT_EQ("", node_name(""));
  EXPECT_THROW(node_op(name + "\x12\x03"
                              "No"),
               Malformed);
  EXPECT_THROW(node_name("\x0a\x02"
                         "a"),
               Malformed);
  EXPECT_THROW(node_op(name + "\x12"), Malformed);
}

std::string field(uint32_t number, std::string_view content) {
  return bytes_field(number, std::string(content));
}

TEST(Node, FieldsAscendWithEveryWriter) {
  const std::string head = field(1, "a") + field(2, "Relu"), input = field(3, "b"), attr = field(5, "");
  EXPECT_TRUE(fields_ascend(""));
  EXPECT_TRUE(fields_ascend(head + input + input + field(4, "/cpu:0") + attr + attr + field(6, "")));
  EXPECT_TRUE(fields_ascend(head + field(5, std::string(200, 'x')) + field(5, std::string(70000, 'x'))));
  EXPECT_FALSE(fields_ascend(head + head));
  EXPECT_FALSE(fields_ascend(head + field(2, "Neg")));
  EXPECT_FALSE(fields_ascend(head + attr + input));
  EXPECT_FALSE(fields_ascend(head + attr + field(2, "Neg")));
  EXPECT_FALSE(fields_ascend(head + "\x1a"));
  EXPECT_FALSE(fields_ascend(head + "\x1a\x02z"));
  EXPECT_FALSE(fields_ascend(head + "\x18\x02"));
}

// Records joined, as protobuf's own way to merge messages does.
TEST(Graph, OfTwoNamesAndOpsTheLastCounts) {
  const std::string attr = field(5, field(1, "T") + field(2, "\x30\x01"));
  const std::string first = field(1, "a") + field(2, "Relu") + field(3, "x") + field(4, "/cpu:0") + attr;
  const std::string second = field(1, "b") + field(2, "Neg") + field(3, "y") + field(4, "/cpu:1");
  const std::string message = field(1, first + second) + field(1, attr + first);
  Graph graph(message, 1, std::make_shared<Arena>());
  graph.decode();
  ASSERT_EQ(2U, graph.size());
  const NodeId joined{0}, unordered{1};
  EXPECT_EQ("b", graph.name(joined));
  EXPECT_EQ(name_hash("b"), graph.hash(joined));
  EXPECT_EQ("Neg", graph.op(joined));
  EXPECT_EQ("/cpu:1", node_device(graph.bytes(joined)));
  EXPECT_EQ(field(3, "x") + attr + field(1, "b") + field(2, "Neg") + field(3, "y") + field(4, "/cpu:1"),
            graph.bytes(joined));
  EXPECT_EQ(first + second, graph.found_bytes(joined));
  EXPECT_EQ(attr + first, graph.bytes(unordered));
  EXPECT_EQ(graph.bytes(unordered), graph.found_bytes(unordered));
  EXPECT_FALSE(graph.edited());
  EXPECT_FALSE(graph.inputs_lead());
}

TEST(Graph, OfTwoOpsInABodyTheLastCountsBeforeItIsDecoded) {
  const std::string node = field(1, "a") + field(2, "Relu") + field(5, "") + field(2, "Neg");
  const std::string message = field(3, node);
  const Graph body(message, 3, std::make_shared<Arena>());
  body.each_record([](std::string_view node_def) { EXPECT_EQ("Neg", node_op(node_def)); });
}

TEST(Graph, OfTwoOpsInALibraryTheLastCounts) {
  const std::string once = field(1, "a") + field(2, "Neg") + field(4, "/cpu:1");
  const std::string twice = field(1, "b") + field(2, "Relu") + field(4, "/cpu:0") + field(1, "a") +
                            field(5, "") + field(4, "/cpu:1") + field(2, "Neg");
  const std::string library = field(1, field(1, field(1, "f")) + field(3, once)) +
                              field(1, field(1, field(1, "g")) + field(3, twice));
  Arena arena;
  std::vector<std::string_view> found;
  each_body_node(library, arena, [&](std::string_view function, std::string_view node_def) {
    found.insert(found.end(), {function, node_name(node_def), node_op(node_def), node_device(node_def)});
  });
  EXPECT_EQ((std::vector<std::string_view>{"f", "a", "Neg", "/cpu:1", "g", "a", "Neg", "/cpu:1"}), found);
  EXPECT_EQ(once.size(), once_each(once, arena).size());
  EXPECT_EQ(once.data(), once_each(once, arena).data());
}

}  // namespace gedit::graph_test
