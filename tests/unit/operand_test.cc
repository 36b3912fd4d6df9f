// Operands of a merge: what their nodes are called, decided once, and what is told of them afterwards.
#include "edit/merging/operand.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "edit/merging/names.h"
#include "listed_model.h"

namespace gedit::operand_test {

using Listed = std::vector<std::pair<std::string, std::string>>;  // name and listing of each operand

OperandFiles files_of(const Listed& operands) {
  OperandFiles files;
  uint32_t nodes = 0;
  for (const auto& [name, listing] : operands) {
    Registry ops;
    ops.add_builtin();
    MergeOperand operand{name, listed_model(listing, name + ".pb"), std::move(ops)};
    files.push_back(std::make_unique<OperandFile>(files.size(), nodes, std::move(operand)));
    nodes += files.back()->graph().size();
  }
  return files;
}

MergeParts parts_of(const Listed& operands, NameConflict on_conflict) {
  OperandFiles files = files_of(operands);
  auto names = name_operands(files, on_conflict);
  MergeParts parts;
  for (size_t i = 0; i < files.size(); ++i)
    parts.push_back(std::make_unique<MergePart>(std::move(files[i]), std::move(names[i])));
  return parts;
}

// Names of all nodes in the merged graph, `=` before one that is an earlier operand's.
std::string names_of(const Listed& operands, NameConflict on_conflict) {
  const MergeParts parts = parts_of(operands, on_conflict);
  std::string text;
  for (const auto& part : parts) {
    for (uint32_t i = 0; i < part->graph().size(); ++i) {
      const auto& twins = part->names->twins;
      const bool twin = std::any_of(twins.begin(), twins.end(),
                                    [&](const OperandNames::Twin& one) { return one.node == NodeId{i}; });
      text += (text.empty() ? "" : " ") + std::string(twin ? "=" : "");
      text += part->name_of(part->graph().name(NodeId{i}));
    }
  }
  return text;
}

// Nothing of it changes after it was decided.
static_assert(std::is_const_v<std::remove_reference_t<decltype(*std::declval<MergePart>().names)>>);
static_assert(std::is_const_v<decltype(OperandFile::prefix)>);

TEST(Operand, NamesOfItsNodes) {
  const std::string x = "x = NoOp()\n", ax = "a/x = NoOp()\n";
  struct Case {
    Listed operands;
    NameConflict on_conflict;
    std::string names;
  };
  for (const auto& [operands, on_conflict, names] : std::vector<Case>{
           {{{"a", x}, {"b", x}}, NameConflict::kError, "a/x b/x"},
           {{{"", x}, {"b", x}}, NameConflict::kError, "x b/x"},
           {{{"", x}, {"", x}}, NameConflict::kUniquify, "x x_1"},
           {{{"", x + "x_1 = NoOp()\n"}, {"", x}}, NameConflict::kUniquify, "x x_1 x_2"},
           {{{"", x}, {"", x}, {"", x}}, NameConflict::kUniquify, "x x_1 x_2"},
           {{{"", x}, {"", x}}, NameConflict::kShare, "x =x"},
           {{{"", ax}, {"a", x}}, NameConflict::kUniquify, "a/x a/x_1"},
       }) {
    EXPECT_EQ(names_of(operands, on_conflict), names);
  }
  EXPECT_THROW(names_of({{"", x}, {"", x}}, NameConflict::kError), Error);
  EXPECT_THROW(names_of({{"", ax}, {"a", x}}, NameConflict::kError), Error);
}

TEST(Operand, FreeNamesAreNobodys) {
  MergeParts parts = parts_of({{"", "x = NoOp()\n"}, {"", "x = NoOp()\n"}}, NameConflict::kUniquify);
  MergedNames names(parts);
  EXPECT_EQ(names.free_name("x"), "x_2");
  EXPECT_EQ(names.free_name("x"), "x_3");
  EXPECT_EQ(names.free_name("y"), "y");
  const std::vector<MergePlace> found = names.find({"x", "x_1", "z"});
  EXPECT_EQ(found[0], (MergePlace{0, NodeId{0}}));
  EXPECT_EQ(found[1], (MergePlace{1, NodeId{0}}));
  EXPECT_EQ(found[2].node, kNoNode);
}

TEST(Operand, NodesReadInsteadWhatIsToldBySlot) {
  MergeParts parts = parts_of({{"a", "x = NoOp()\ny = NoOp()\nz = NoOp(^x, ^y)\n"}}, NameConflict::kError);
  MergePart& part = *parts[0];
  const NodeId z{2};
  const auto inputs = [&] {
    std::string text;
    each_input(mapped_node(part.graph().bytes(z), part, z),
               [&](std::string_view input) { text += (text.empty() ? "" : " ") + std::string(input); });
    return text;
  };
  EXPECT_EQ(inputs(), "^a/x ^a/y");
  part.read_instead(z, {{"^y", "^b/y"}});
  EXPECT_EQ(inputs(), "^a/x ^b/y");
  part.read_instead(z, 0, std::nullopt);
  EXPECT_EQ(inputs(), "^b/y");
  EXPECT_EQ(part.read_now(z, 0), &MergePart::kDropped);
  EXPECT_EQ(part.read_now(NodeId{0}, 0), nullptr);
  part.rename(NodeId{1}, "kept");
  EXPECT_EQ(part.name_of("y"), "kept");
  part.remove(NodeId{0});
  EXPECT_FALSE(part.written(NodeId{0}));
}

TEST(Operand, InstanceKeysOfOperandsAreTheirOwn) {
  const std::string reduce =
      "r = CollectiveReduce(c) {T: DT_FLOAT, group_key: 1, group_size: 2, instance_key: 5}\n";
  const MergeParts parts = parts_of({{"a", reduce}, {"b", reduce}}, NameConflict::kError);
  EXPECT_EQ(parts[0]->instance_key(5), 5);
  EXPECT_EQ(parts[1]->instance_key(5), 0);
}

}  // namespace gedit::operand_test
