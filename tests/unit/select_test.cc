// What people write to name things: globs, selectors, tensors with types, shapes, sizes.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/glob.h"
#include "base/size.h"
#include "select/selector.h"
#include "select/tensors.h"

namespace gedit::select_test {

TEST(Glob, StarsStayWithinAScopeAndTwoCrossIt) {
  struct Row {
    std::string_view pattern, name;
    bool matches;
  };
  for (const Row& row : {
           Row{"a", "a", true},
           Row{"a", "ab", false},
           Row{"*", "a", true},
           Row{"*", "a/b", false},
           Row{"**", "a/b/c", true},
           Row{"**", "", true},
           Row{"a/*", "a/b", true},
           Row{"a/*", "a/b/c", false},
           Row{"a/**", "a/b/c", true},
           Row{"**/w", "a/b/w", true},
           Row{"**/w", "w", false},
           Row{"?", "a", true},
           Row{"?", "/", false},
           Row{"[a-c]1", "b1", true},
           Row{"[!a-c]1", "b1", false},
           Row{"[!a-c]1", "d1", true},
           Row{"x{1,2}", "x2", true},
           Row{"x{1,2}", "x3", false},
           Row{"x{a,b{c,d}}", "xbd", true},
           Row{"\\*", "*", true},
           Row{"\\*", "a", false},
           Row{"[", "[", true},
           Row{"a{b", "a{b", true},
           Row{"**a**a**a**b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
       }) {
    EXPECT_EQ(glob_match(row.pattern, row.name), row.matches) << row.pattern << " on " << row.name;
    Globs globs;
    globs.add(row.pattern);
    globs.add("other/*");
    globs.add("**/another");
    EXPECT_EQ(globs.match(row.name), row.matches) << row.pattern << " on " << row.name << ", among others";
  }
}

// The tree of a selector, in prefix form.
std::string tree(const Selector& selector) {
  using Is = Selector::Is;
  const auto of = [&](const std::string& name) {
    std::string text = "(" + name;
    for (const Selector& operand : selector.operands) text += " " + tree(operand);
    return text + ")";
  };
  switch (selector.is) {
    case Is::kAnd:
      return of("and");
    case Is::kOr:
      return of("or");
    case Is::kNot:
      return of("not");
    case Is::kPath:
      return of("path");
    case Is::kFunction:
      return of("fn " + selector.key);
    case Is::kWalk: {
      const auto steps = [](uint32_t n) { return n == 0xffffffff ? std::string("all") : std::to_string(n); };
      return of("walk " + steps(selector.back) + " " + steps(selector.forward));
    }
    case Is::kScope:
      return "scope:" + selector.text;
    case Is::kRegex:
      return "re:" + selector.text;
    case Is::kOp:
      return "op:" + selector.text;
    case Is::kAttr:
      return "attr:" + selector.key + (selector.has_value ? "=" + selector.text : "");
    case Is::kSize:
      return std::string("size") + selector.compare + (selector.or_equal ? "=" : "") +
             std::to_string(selector.number);
    case Is::kVariable:
      return "var:" + selector.text;
    default:
      return selector.text;
  }
}

TEST(Selector, IsReadAsWritten) {
  struct Row {
    std::string_view text, tree;
  };
  for (const Row& row : {
           Row{"a", "a"},
           Row{"a/", "scope:a"},
           Row{"a, b & c", "(or a (and b c))"},
           Row{"(a, b) & !c", "(and (or a b) (not c))"},
           Row{"op:Mat* & a/", "(and op:Mat* scope:a)"},
           Row{"a..b", "(path a b)"},
           Row{"2+a", "(walk 2 0 a)"},
           Row{"a+", "(walk 0 all a)"},
           Row{"+a+3", "(walk all 3 a)"},
           Row{"re:^a.*b$", "re:^a.*b$"},
           Row{"size>=1K", "size>=1000"},
           Row{"attr:T=DT_HALF", "attr:T=DT_HALF"},
           Row{"attr:padding", "attr:padding"},
           Row{"var:trainable", "var:trainable"},
           Row{"fn:f*//op:Mul", "(fn f* op:Mul)"},
           Row{"f//x", "(fn f x)"},
           Row{"\"a, b\"", "a, b"},
       }) {
    EXPECT_EQ(tree(parse_selector(row.text)), row.tree) << row.text;
  }
  for (const std::string_view bad :
       {"", "a &", "& a", "(a", "a)", "!", "size>", "size>x", "a b", "\"a", "@/no/such/file"}) {
    EXPECT_THROW(parse_selector(bad), Error) << bad;
  }
}

TEST(Tensors, WithTypesAndShapes) {
  const TypedTensor plain = parse_typed_tensor("a/b:1");
  EXPECT_EQ(plain.name, "a/b:1");
  EXPECT_FALSE(plain.dtype);
  const TypedTensor typed = parse_typed_tensor("a:0:float32[?,2]");
  EXPECT_EQ(typed.name, "a:0");
  EXPECT_EQ(typed.dtype, DType::kFloat);
  EXPECT_EQ(typed.shape, (std::vector<int64_t>{-1, 2}));
  EXPECT_EQ(parse_typed_tensor("a:int64").shape, std::nullopt);
  EXPECT_EQ(parse_shape("[]"), std::vector<int64_t>{});
  EXPECT_EQ(parse_shape("[*]"), std::nullopt);
  EXPECT_EQ(parse_shape("[None, -1, 3]"), (std::vector<int64_t>{-1, -1, 3}));
  for (const std::string_view bad : {"2", "[2", "[2,]", "[a]", "[-2]", "[99999999999999999999]"}) {
    EXPECT_THROW(parse_shape(bad), Error) << bad;
  }
  EXPECT_THROW(parse_typed_tensor("a:flaot32[2]"), Error);
}

TEST(Sizes, InAndOut) {
  EXPECT_EQ(size_text(512), "512 B");
  EXPECT_EQ(size_text(36'300), "36.3 kB");
  EXPECT_EQ(count_text(1'355), "1,355");
  EXPECT_EQ(count_text(1'355, "node"), "1,355 nodes");
  EXPECT_EQ(counted(1'355, "node"), "1355 nodes");
  EXPECT_EQ(counted(1, "node"), "1 node");
  EXPECT_EQ(counted(0, "node"), "0 nodes");
  EXPECT_EQ(counted_or_no(0, "node"), "no nodes");
  // Three digits, rounded.
  const std::pair<uint64_t, std::string_view> counts[] = {
      {0, "0"},           {999, "999"},        {1'000, "1.00 k"},         {1'359, "1.36 k"},
      {9'994, "9.99 k"},  {9'996, "10.0 k"},   {99'940, "99.9 k"},        {99'970, "100 k"},
      {999'499, "999 k"}, {999'600, "1.00 M"}, {1'189'000'000, "1.19 G"}, {UINT64_MAX, "18.4 E"}};
  for (const auto& [number, text] : counts) EXPECT_EQ(short_count_text(number), text);
  EXPECT_EQ(parse_size("1.5M"), 1'500'000U);
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_FALSE(parse_size("M"));
  EXPECT_FALSE(parse_size("-1"));
}

}  // namespace gedit::select_test
