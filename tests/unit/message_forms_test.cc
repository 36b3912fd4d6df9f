// Text, JSON and the canonical wire form of messages, beside protobuf's own: what it prints is printed, what
// it reads as text is read as the same message, what it refuses is refused in its words and at its place.
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>
#include <gtest/gtest.h>

#include <cctype>
#include <optional>

#include "message/json.h"
#include "message/text.h"
#include "random_messages.h"

namespace gedit::message_forms_test {

// As gedit words what protobuf says.
std::string as_clause(std::string message) {
  if (message.ends_with(".")) message.pop_back();
  if (message.size() > 1 && std::isupper(message[0]) != 0 && std::isupper(message[1]) == 0)
    message[0] = static_cast<char>(std::tolower(message[0]));
  return printable(message);
}

class FirstComplaint final : public pb::io::ErrorCollector {
 public:
  explicit FirstComplaint(std::string_view text) : text_(text) {}
  // Its columns are from 0, and behind a tab a multiple of 8.
  void AddError(int line, int column, const std::string& message) override {
    if (said) return;
    size_t at = 0;
    for (int passed = 0; passed < line; ++passed) at = text_.find('\n', at) + 1;
    for (int passed = 0; passed < column && at < text_.size(); ++at)
      passed += text_[at] == '\t' ? 8 - passed % 8 : 1;
    said = TextFault{at, as_clause(message)}.with_place(text_);
  }
  std::optional<std::string> said;

 private:
  std::string_view text_;
};

struct Read {
  std::string bytes;  // canonical
  std::optional<std::string> complaint;
};

Read read_by_protobuf(const std::string& type, const std::string& text) {
  const auto message = made(type);
  FirstComplaint complaint(text);
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&complaint);
  parser.SetRecursionLimit(kDeepestNesting);
  parser.AllowPartialMessage(true);
  if (parser.ParseFromString(text, message.get())) {
    return {canonical_by_protobuf(*message), std::nullopt};
  }
  return {"", complaint.said.value_or("no reason")};
}

Read read_by_gedit(const std::string& type, const std::string& text) {
  Read read;
  const auto fault = parse_message_text(text, message_type(type), read.bytes);
  if (fault) read.complaint = fault->with_place(text);
  return read;
}

const std::vector<std::string> kValues = parts_of(
    "0~-0~1~-1~0x10~010~09~0x~1.5~-1.5e3~1e400~1e39~1.~.5~5f~1.5.2~1e~inf~-inf~nan~-nan~"
    "Infinity~INF~true~false~t~True~TRUE~2~4294967295~4294967296~-2147483648~-2147483649~"
    "2147483648~9223372036854775807~9223372036854775808~-9223372036854775808~"
    "-9223372036854775809~18446744073709551616~DT_FLOAT~DT_NONE~77~'a'~\"b\"~'\\303\\251'~"
    "'\\x4'~'\\u00e9'~'\\ud83d\\ude00'~'\\U0001f600'~'\\q'~'\\x'~'a' 'b'~\"\\\"\" '\\''~"
    "[1, 2]~[]~[1,]~[ { } , < > ]~{ }~< >~{ > ~'~\"x");

const std::vector<std::string> kSigns = parts_of("{~}~<~>~[~]~:~;~,~-~+~#c\n~ ~\n~\t~.~/~\x01~\xc3\xa9~=");

// A word of the type's fields, or of another type's.
std::string field_word(Random& random, const MessageType& type) {
  if (type.fields.empty() || random.below(20) == 0) return "foo";
  return random.one_of(type.fields).name;
}

std::string random_text(Random& random, const MessageType& type, int depth) {
  std::string text;
  for (size_t count = random.below(4); count > 0 || depth == 0; --count) {
    if (depth == 0 && count == 0) count = 1;
    if (type.is_any() && random.below(3) == 0) {
      text += "[type.googleapis.com/tensorflow.AssetFileDef] { filename: 'x' } ";
    } else {
      const std::string name = field_word(random, type);
      const MessageField* field = type.field_named(name);
      const bool message = field != nullptr && field->type == FieldType::kMessage;
      text += name + (random.below(message ? 3 : 30) != 0 && !message ? ": " : message ? " " : " ");
      if (message && random.below(15) != 0 && depth < 8) {
        text += "{ " + random_text(random, *field->message, depth + 1) + "} ";
      } else if (field != nullptr && field->enumeration != nullptr && random.below(2) == 0) {
        text += field->enumeration->names.begin()->second + " ";
      } else if (field != nullptr && !field->packable() && !message && random.below(2) == 0) {
        text += "\"s" + std::to_string(random.below(5)) + "\" ";
      } else {
        text += std::string(random.one_of(kValues)) + " ";
      }
    }
    if (count == 0) break;
    if (random.below(12) == 0) text += random.one_of(kSigns);
    if (depth == 0 && random.below(3) == 0) break;
  }
  return text;
}

TEST(MessageForms, TextIsReadAsProtobufReadsIt) {
  size_t accepted = 0, refused = 0;
  const size_t rounds = each_round([&](Random& random) {
    const std::string type = random.one_of(kTypes);
    std::string text = random_text(random, message_type(type), 0);
    for (size_t changes = random.below(3); changes > 0 && !text.empty(); --changes) {
      const size_t at = random.below(text.size());
      if (random.below(2) == 0) {
        text.erase(at, 1 + random.below(3));
      } else {
        text.insert(at, random.one_of(kSigns));
      }
    }
    const Read wanted = read_by_protobuf(type, text), found = read_by_gedit(type, text);
    ++(wanted.complaint ? refused : accepted);
    // Its full stop may be the token's, and it tells a word in small letters where a number is wanted.
    const auto same = [](std::string said) {
      if (said.ends_with(".")) said.pop_back();
      for (char& c : said) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return said;
    };
    ASSERT_EQ(same(found.complaint.value_or("accepted")), same(wanted.complaint.value_or("accepted")))
        << type << "\n"
        << text;
    ASSERT_EQ(found.bytes, wanted.bytes) << type << "\n" << text;
  });
  EXPECT_GT(accepted, rounds / 40);
  EXPECT_GT(refused, rounds / 20);
}

// Of sorted bytes, whose maps stay sorted; false where JSON cannot hold the message.
bool json_by_protobuf(const std::string& type, const std::string& bytes, std::string& json) {
  static const std::unique_ptr<pb::util::TypeResolver> resolver(pb::util::NewTypeResolverForDescriptorPool(
      "type.googleapis.com", pb::DescriptorPool::generated_pool()));
  const pb::LogSilencer silence;
  pb::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  return pb::util::BinaryToJsonString(resolver.get(), "type.googleapis.com/" + type, bytes, &json, options)
      .ok();
}

// -0 is -0.0 in gedit's JSON.
std::string with_signs(const std::string& json) {
  std::string out;
  bool within = false;
  for (size_t i = 0; i < json.size(); ++i) {
    out += json[i];
    if (json[i] == '\\') out += json[++i];
    if (json[i] == '"' && (i == 0 || json[i - 1] != '\\' || !within)) within = !within;
    if (!within && json.compare(i, 2, "-0") == 0 && i + 2 < json.size() &&
        std::string(",]}").find(json[i + 2]) != std::string::npos) {
      out += "0.0";
      ++i;
    }
  }
  return out;
}

TEST(MessageForms, BytesArePrintedAsProtobufPrintsThem) {
  each_round([](Random& random) {
    const std::string name = random.one_of(kTypes);
    const MessageType& type = message_type(name);
    const std::string bytes = random_bytes(random, type, 0);
    const auto parsed = made(name);
    ASSERT_TRUE(parsed->ParsePartialFromString(bytes)) << name << "\n" << testing::PrintToString(bytes);
    std::string canonical;
    append_canonical(canonical, type, bytes);
    ASSERT_EQ(testing::PrintToString(canonical), testing::PrintToString(canonical_by_protobuf(*parsed)))
        << name << testing::PrintToString(bytes);

    std::string line, wanted_line;
    print_message_text(line, type, bytes, TextStyle::kLine);
    pb::TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    const auto whole = made(name);
    ASSERT_TRUE(whole->ParsePartialFromString(canonical));
    ASSERT_TRUE(printer.PrintToString(*whole, &wanted_line));
    if (!wanted_line.empty()) wanted_line.pop_back();
    ASSERT_EQ(line, wanted_line) << name;

    std::string json, wanted_json;
    print_message_json(json, type, bytes);
    if (json_by_protobuf(name, canonical, wanted_json)) {
      ASSERT_EQ(json, with_signs(wanted_json)) << name;
    }
    std::string raw, again;
    // An Any whose type is none of these is left out.
    if (json.find("@type") != std::string::npos) return;
    try {
      JsonParser(json).read_message(type, raw);
    } catch (const TextFault& fault) {
      FAIL() << fault.with_place(json) << "\n" << json;
    }
    append_canonical(again, type, raw);
    std::string printed;
    print_message_json(printed, type, again);
    ASSERT_EQ(printed, json);
  });
}

}  // namespace gedit::message_forms_test
