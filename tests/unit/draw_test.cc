// Drawings: scopes and what sits where, as tables; and the program that is run for SVG.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/process.h"
#include "draw/drawing.h"
#include "model/listing.h"

namespace gedit::draw_test {

struct Drawn {
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  std::unique_ptr<Model> model;
  std::vector<Sheet> sheets;
};

Drawn drawn(const std::string& listing, uint32_t most_children = 0) {
  Drawn drawn;
  drawn.model = std::make_unique<Model>(
      model_of("m", Kind::kGraphDef, Format::kBinary,
               drawn.arena->keep(parse_listing(listing, "m", nullptr).message), drawn.arena));
  Registry ops;
  ops.add_builtin();
  SheetOptions options;
  options.most_children = most_children;
  drawn.sheets = make_sheets(*drawn.model, ops, options);
  return drawn;
}

// `scope/{a b}`: what is seen, open scopes with what is in them.
std::string seen(const Sheet& sheet, uint32_t depth) {
  const Drawing drawing = draw(sheet, depth);
  std::string text;
  std::vector<uint32_t> around;
  for (uint32_t i = 0; i < drawing.boxes.size(); ++i) {
    const Drawing::Box& box = drawing.boxes[i];
    for (; !around.empty() && around.back() != box.around; around.pop_back()) text += "}";
    text += (text.empty() || text.back() == '{' ? "" : " ") + box_label(sheet, drawing, box);
    if (!box.open) continue;
    text += "{";
    around.push_back(i);
  }
  return text + std::string(around.size(), '}');
}

std::string neg(const std::string& name, const std::string& input) {
  return name + " = Neg(" + input + ") {T: DT_FLOAT}\n";
}

TEST(Draw, ScopesAreOpenDownToADepth) {
  const Drawn m = drawn(neg("a/b/x", "q") + neg("a/b/y", "a/b/x") + neg("a/z", "a/b/y") + neg("q", "q"));
  EXPECT_EQ(seen(m.sheets[0], 1), "a q");
  EXPECT_EQ(seen(m.sheets[0], 2), "a{b z} q");
  EXPECT_EQ(seen(m.sheets[0], 3), "a{b{x y} z} q");
  EXPECT_EQ(seen(m.sheets[0], 0), seen(m.sheets[0], 3));
}

TEST(Draw, AScopeOfOneBoxIsThatBox) {
  const Drawn m = drawn(neg("a/b/x", "q") + neg("a", "a/b/x") + neg("c/d/y", "a"));
  EXPECT_EQ(seen(m.sheets[0], 1), "a c/d/y");
  EXPECT_EQ(seen(m.sheets[0], 0), "a{(a) b/x} c/d/y");
}

TEST(Draw, NumbersInNamesAreNumbers) {
  const Drawn m =
      drawn(neg("n10", "n9") + neg("n9", "n1") + neg("n1", "q") + neg("n", "q") + neg("n01", "q"));
  EXPECT_EQ(seen(m.sheets[0], 1), "n n01 n1 n9 n10");
}

TEST(Draw, BlocksSideBySideAreOne) {
  const auto block = [](const std::string& name, const std::string& input, const std::string& more = "") {
    return neg(name + "/a", input) + neg(name + "/b", name + "/a") + more;
  };
  const std::string two = "x = Placeholder() {dtype: DT_FLOAT}\n" + block("b", "x") + block("b_1", "b/b");
  EXPECT_EQ(seen(drawn(two).sheets[0], 1), "b .. b_1 x");
  EXPECT_EQ(seen(drawn(two).sheets[0], 0), "b .. b_1{a b} x");
  EXPECT_EQ(seen(drawn(two + block("c", "b_1/b")).sheets[0], 1), "b .. b_1 c x");
  EXPECT_EQ(seen(drawn(two + block("b_2", "b_1/b", neg("b_2/c", "x")) + block("b_3", "x")).sheets[0], 1),
            "b .. b_1 b_2 b_3 x");
  EXPECT_EQ(seen(drawn(block("b", "x") + "b_1/a = Neg(x) {T: DT_HALF}\nb_1/b = Neg(b_1/a) {T: DT_FLOAT}\n")
                     .sheets[0],
                 1),
            "b b_1");
}

TEST(Draw, ManyInOneScopeAreGroupedInTheOrderOfTheFile) {
  std::string text;
  for (int i = 9; i >= 0; --i) text += neg("n" + std::to_string(i), "x");
  EXPECT_EQ(seen(drawn(text, 10).sheets[0], 1), "n0 n1 n2 n3 n4 n5 n6 n7 n8 n9");
  EXPECT_EQ(seen(drawn(text, 5).sheets[0], 0), "n9 .. n5{n9 n8 n7 n6 n5} n4 .. n0{n4 n3 n2 n1 n0}");
}

TEST(Draw, WhatManyReadIsNamedThere) {
  for (const size_t readers : {kMostLines, kMostLines + 1}) {
    std::string text = "x = Placeholder() {dtype: DT_FLOAT}\n";
    for (size_t i = 0; i < readers; ++i) text += neg("r" + std::to_string(i), "x");
    const Drawn m = drawn(text);
    const Drawing drawing = draw(m.sheets[0], 1);
    ASSERT_EQ(drawing.lines.size(), readers);
    for (const Drawing::Line& line : drawing.lines) EXPECT_EQ(line.stub, readers > kMostLines);
  }
}

TEST(Process, ReadsWritesAndEnds) {
  const std::string much(size_t{3} << 20, 'x');  // more than a pipe holds
  const Finished copy = run_program({"cat"}, much);
  EXPECT_EQ(copy.status, 0);
  EXPECT_EQ(copy.out, much);
  EXPECT_EQ(run_program({"true"}, much).status, 0);  // reads nothing
  const Finished loud = run_program({"sh", "-c", "echo out; echo err >&2; exit 7"}, "");
  EXPECT_EQ(loud.status, 7);
  EXPECT_EQ(loud.out, "out\n");
  EXPECT_EQ(loud.err, "err\n");
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}, "").status, 128 + 9);
  EXPECT_THROW(run_program({"no-such-program-anywhere"}, ""), Error);
  EXPECT_THROW(run_program({"sleep", "60"}, "", 1), Error);
  EXPECT_THROW(run_program({"cat"}, much, 0, 1000), Error);
}

}  // namespace gedit::draw_test
