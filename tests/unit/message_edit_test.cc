// Messages with other fields, and names made unique: tables of cases.
#include "base/message_edit.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/first_free.h"

namespace gedit::message_edit_test {

// A message of text fields: `1a 2b 2c`.
std::string message(std::string_view text) {
  std::string out;
  for (size_t at = 0; at + 1 < text.size(); at += 3)
    append_bytes_field(out, static_cast<uint32_t>(text[at] - '0'), text.substr(at + 1, 1));
  return out;
}

std::string shown(std::string_view bytes) {
  std::string out;
  for (Fields fields(bytes); fields.next();) {
    out += (out.empty() ? "" : " ") + std::to_string(fields->number);
    out += fields->value;
  }
  return out;
}

TEST(MessageEdit, FieldsStandWhereTheFirstStoodOrWhereTheirNumberBelongs) {
  struct Case {
    std::string_view before;
    std::vector<std::string> values;
    std::string_view after;
  };
  for (const auto& [before, values, after] : std::vector<Case>{
           {"", {"x"}, "2x"},
           {"1a 3c", {"x"}, "1a 2x 3c"},
           {"1a", {"x"}, "1a 2x"},
           {"3c", {"x", "y"}, "2x 2y 3c"},
           {"1a 2b 3c 2d", {"x"}, "1a 2x 3c"},
           {"1a 2b 3c", {}, "1a 3c"},
           {"2b 1a", {"x"}, "2x 1a"},
       }) {
    EXPECT_EQ(shown(with_fields(message(before), 2, values)), after) << before;
    if (values.size() == 1) {
      EXPECT_EQ(shown(with_field(message(before), 2, values[0])), after) << before;
    }
  }
}

TEST(MessageEdit, FieldsGo) {
  EXPECT_EQ(shown(without_field(message("1a 2b 3c 2d"), 2)), "1a 3c");
  EXPECT_EQ(shown(only_fields(message("1a 2b 3c"), [](const Field& field) { return field.value != "b"; })),
            "1a 3c");
}

TEST(MessageEdit, EachFieldBecomesAnother) {
  const std::string before = message("1a 2b 3c 2d");
  EXPECT_EQ(
      shown(with_each_field(before, 2, [](std::string_view value) { return std::string(value) + "!"; })),
      "1a 2b! 3c 2d!");
  EXPECT_EQ(shown(with_each_field(before, 2,
                                  [](std::string_view value) {
                                    return value == "b" ? std::nullopt : std::make_optional<std::string>("x");
                                  })),
            "1a 3c 2x");
}

TEST(MessageEdit, EachEntryKeepsItsKey) {
  std::string before;
  append_map_entry(before, 5, "k", "v");
  append_map_entry(before, 5, "gone", "v");
  const std::string after = with_each_entry(before, 5, [](std::string_view key, std::string_view value) {
    return key == "gone" ? std::nullopt : std::make_optional(std::string(value) + "w");
  });
  std::string wanted;
  append_map_entry(wanted, 5, "k", "vw");
  EXPECT_EQ(after, wanted);
}

TEST(FirstFree, TheNameItselfThenNumbers) {
  std::set<std::string> taken{"a", "a_1", "b_1"};
  const auto is_taken = [&](const std::string& name) { return taken.contains(name); };
  EXPECT_EQ(first_free("a", is_taken), "a_2");
  EXPECT_EQ(first_free("b", is_taken), "b");
  EXPECT_EQ(first_free("", is_taken), "");
  int next = 1;
  taken.insert(first_free("a", is_taken, next));
  EXPECT_EQ(next, 3);
  EXPECT_EQ(first_free("a", is_taken, next), "a_3");
}

}  // namespace gedit::message_edit_test
