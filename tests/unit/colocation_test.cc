// `_class`: the quick look and the slow one agree, and what goes is what is said to go.
#include "graph/colocation.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/wire.h"
#include "graph/node.h"

namespace gedit::colocation_test {

using Strings = std::vector<std::string>;

std::string node_of_class(const Strings& entries) {
  NodeBuilder node("a", "Identity");
  return with_attr(node.take(), "_class", string_list_value(entries));
}

Strings classes_of(std::string_view node_def) {
  Strings entries;
  const auto value = find_attr(node_def, "_class");
  for (Fields list(value ? last_bytes(*value, attr_field::kList) : std::string_view()); list.next();)
    entries.emplace_back(list->value);
  return entries;
}

TEST(Colocation, EntriesOfWhatGoesGo) {
  struct Case {
    const char* rule;
    Strings entries;
    bool changes;
    Strings left;
  };
  const Case cases[] = {
      {"what stays stays", {"loc:@stays"}, false, {"loc:@stays"}},
      {"what goes goes, the others stay", {"loc:@goes", "loc:@stays"}, true, {"loc:@stays"}},
      {"with the last entry the attribute goes", {"loc:@goes"}, true, {}},
      {"what names no node stays", {"other", "loc:@goes"}, true, {"other"}},
      {"without the attribute nothing changes", {}, false, {}},
  };
  for (const Case& one : cases) {
    std::string node_def =
        one.entries.empty() ? NodeBuilder("a", "Identity").take() : node_of_class(one.entries);
    const auto left = without_colocations(node_def, [](std::string_view node) { return node == "goes"; });
    ASSERT_EQ(left.has_value(), one.changes) << one.rule;
    if (left) node_def = *left;
    EXPECT_EQ(classes_of(node_def), one.left) << one.rule;
    EXPECT_EQ(find_attr(node_def, "_class").has_value(), !one.left.empty()) << one.rule;
  }
}

// The quick look may say yes where there is none, and never no where there is one.
TEST(Colocation, IsNeverOverlooked) {
  const std::string plain = NodeBuilder("a", "Identity").take(), with = node_of_class({"loc:@b"});
  EXPECT_FALSE(may_have_class(plain));
  EXPECT_TRUE(may_have_class(with));
  const std::string long_value(300, 'x');
  for (const size_t length : {1, 60, 127, 128, 200, 300}) {
    std::string node_def = with_attr(plain, "before", string_value(long_value.substr(0, length)));
    EXPECT_FALSE(may_have_class(node_def)) << length;
    node_def = with_attr(node_def, "_class", string_list_value({"loc:@b"}));
    EXPECT_TRUE(may_have_class(node_def)) << length;
  }
  // An entry whose value comes first, and one without a value, are not as every writer lays them out.
  std::string value, swapped = plain;
  append_bytes_field(value, 2, string_list_value({"loc:@b"}));
  append_bytes_field(value, 1, "_class");
  append_bytes_field(swapped, node_field::kAttr, value);
  EXPECT_TRUE(may_have_class(swapped));
  for (size_t cut = 0; cut < with.size(); ++cut) {
    const std::string_view part = std::string_view(with).substr(cut);
    bool there = true;
    try {
      there = find_attr(part, "_class").has_value();
    } catch (const Malformed&) {
      continue;
    }
    EXPECT_TRUE(!there || may_have_class(part)) << cut;
  }
}

}  // namespace gedit::colocation_test
