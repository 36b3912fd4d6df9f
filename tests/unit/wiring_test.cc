// How inputs are written in main graphs and in bodies.
#include "graph/wiring.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace gedit::wiring_test {

TEST(Wiring, InputsOfMainGraphsAndBodies) {
  struct Row {
    std::string_view text;
    bool body;
    std::string_view node, port;
    bool control;
  };
  for (const Row& row : {
           Row{"a", false, "a", "", false},
           Row{"a:1", false, "a", "1", false},
           Row{"a:b:1", false, "a:b", "1", false},
           Row{"a:b", false, "a:b", "", false},
           Row{"^a", false, "a", "", true},
           Row{"a", true, "a", "", false},
           Row{"a:out:1", true, "a", "out:1", false},
           Row{"a:1", true, "a", "1", false},
           Row{"^a", true, "a", "", true},
       }) {
    const Graph graph({}, row.body ? 3 : 1, std::make_shared<Arena>());
    const Input input = parse_input_of(graph, row.text);
    EXPECT_EQ(input.node, row.node) << row.text;
    EXPECT_EQ(input.port, row.port) << row.text;
    EXPECT_EQ(input.control, row.control) << row.text;
  }
}

TEST(Wiring, Texts) {
  EXPECT_EQ(tensor_text("a", 0), "a");
  EXPECT_EQ(tensor_text("a", 2), "a:2");
  EXPECT_EQ(body_tensor_text("a", "output"), "a:output:0");
  EXPECT_EQ(body_tensor_text("a", "output", 2), "a:output:2");
}

TEST(Wiring, PortsOfBodies) {
  struct Row {
    std::string_view port, output;
    uint32_t number;
  };
  for (const Row& row : {Row{"out:1", "out", 1}, Row{"out", "out", 0}, Row{"", "", 0},
                         Row{"out:", "out", kBeyondOutputs}, Row{"out:4294967296", "out", kBeyondOutputs}}) {
    EXPECT_EQ(parse_body_port(row.port).output, row.output) << row.port;
    EXPECT_EQ(parse_body_port(row.port).number, row.number) << row.port;
  }
}

// Outputs are counted over all arguments of the op: there and back.
TEST(Wiring, OutputsByNumberAndByName) {
  Registry ops;
  ops.add_builtin();
  std::string split =
      NodeBuilder("s", "Split").attr("num_split", int_value(2)).type("T", DType::kFloat).take();
  std::string unique = NodeBuilder("u", "Unique").type("T", DType::kFloat).take();
  struct Row {
    const std::string& node_def;
    uint32_t index;
    std::string text;
  };
  for (const Row& row : {Row{split, 0, "n:output:0"}, Row{split, 1, "n:output:1"}, Row{unique, 0, "n:y:0"},
                         Row{unique, 1, "n:idx:0"}}) {
    EXPECT_EQ(body_output_text(ops, row.node_def, "n", row.index), row.text);
    EXPECT_EQ(body_output_index(ops, row.node_def, parse_body_input(row.text).port), row.index);
  }
  EXPECT_EQ(body_output_text(ops, unique, "n", 2), std::nullopt);
  EXPECT_EQ(body_output_index(ops, unique, "z:0"), std::nullopt);
  EXPECT_EQ(body_output_text(ops, NodeBuilder("x", "NotKnown").take(), "n", 0), std::nullopt);
}

}  // namespace gedit::wiring_test
