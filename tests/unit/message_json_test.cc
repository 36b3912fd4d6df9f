// JSON of messages beside protobuf's own: what is read is read as the same message, what is no JSON is
// refused.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "message/json.h"
#include "random_messages.h"

namespace gedit::message_json_test {

const std::vector<std::string> kJsonParts = parts_of(
    "0~-0~1~1.0~1e2~1.5~\"1\"~\"-1\"~\"1.0\"~\"1e2\"~\"x\"~\"\"~null~true~false~\"true\"~"
    "\"NaN\"~\"Infinity\"~\"-Infinity\"~1e400~1e39~4294967295~4294967296~-2147483649~"
    "9223372036854775807~9223372036854775808~18446744073709551615~18446744073709551616~"
    "\"9223372036854775808\"~\"DT_FLOAT\"~77~\"77\"~\"YWI=\"~\"YWI\"~\"_-8\"~\"Y\"~[]~{}~"
    "[null]~[1]~{\"a\":1}~01~+1~.5~1.~tru~'a'~,~:~{~}~[~]~\"~ ~\n~\\u00e9~\\ud83d\\ude00~"
    "\\ud83d~\\q~\x01~a");

TEST(MessageJson, IsReadAsProtobufReadsIt) {
  size_t accepted = 0, refused = 0;
  const size_t rounds = each_round([&](Random& random) {
    const std::string name = random.one_of(kTypes);
    const MessageType& type = message_type(name);
    std::string json;
    print_message_json(json, type, random_bytes(random, type, 0));
    for (size_t changes = random.below(3); changes > 0; --changes) {
      size_t at = random.below(json.size()), end = at + random.below(3);
      if (random.below(2) == 0) {  // a whole value
        at = std::min(json.find(':', at), json.size() - 1) + 1;
        end = std::min(json.find_first_of(",]}", at), json.size());
      }
      json.replace(at, end - at, random.one_of(kJsonParts));
      if (json.empty()) json = "{}";
    }
    const auto message = made(name);
    const auto status = pb::util::JsonStringToMessage(json, message.get());
    std::string raw, bytes;
    std::optional<std::string> complaint;
    try {
      JsonParser parser(json);
      parser.read_message(type, raw);
      if (!parser.at_end()) parser.fail(parser.at(), "more");
      append_canonical(bytes, type, raw);
    } catch (const TextFault& fault) {
      complaint = fault.with_place(json);
    }
    ++(complaint ? refused : accepted);
    if (complaint) {
      // It takes what is no JSON, as 'a', 01 or "\q"; and what its JSON does not have: "y" for true, "+1",
      // null for an element, one value for a list, a list within a list.
      bool lenient = complaint->find("is not true or false") != std::string::npos ||
                     complaint->ends_with("expected '['");
      for (const char* part : {"[[", ",[", "[null", ",null", "\"+"})
        lenient = lenient || json.find(part) != std::string::npos;
      ASSERT_FALSE(status.ok() && nlohmann::json::accept(json) && !lenient) << *complaint << "\n" << json;
    } else {
      ASSERT_TRUE(status.ok()) << status << "\n" << json;
      // The integer that protobuf sees in it has no sign.
      if (json.find("-0") != std::string::npos) return;
      ASSERT_EQ(bytes, canonical_by_protobuf(*message)) << json;
    }
  });
  EXPECT_GT(accepted, rounds / 40);
  EXPECT_GT(refused, rounds / 40);
}

}  // namespace gedit::message_json_test
