// Text, JSON and the canonical wire form of messages, beside protobuf's own: what it prints is printed, what
// it reads is read as the same message, what it refuses is refused in its words and at its place. Random
// texts and bytes, the same in every run; GEDIT_FORMS_ROUNDS times as many, from seed GEDIT_FORMS_SEED on.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "event.pb.h"
#include "message/fields.h"
#include "message/json.h"
#include "message/text.h"
#include "object_graph.pb.h"
#include "same_message.h"

namespace gedit::message_forms_test {

namespace pb = google::protobuf;

size_t from_environment(const char* name, size_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

const pb::Descriptor* type_named(const std::string& full_name) {
  tensorflow::SavedModel::descriptor();  // whose file is linked, and others with it
  tensorflow::SavedObjectGraph::descriptor();
  return pb::DescriptorPool::generated_pool()->FindMessageTypeByName(full_name);
}

std::unique_ptr<pb::Message> made(const std::string& full_name) {
  static pb::DynamicMessageFactory factory;
  return std::unique_ptr<pb::Message>(factory.GetPrototype(type_named(full_name))->New());
}

// Sorts as the key does.
std::string map_key_of(const pb::Message& entry) {
  const pb::FieldDescriptor* key = entry.GetDescriptor()->map_key();
  const pb::Reflection& reflection = *entry.GetReflection();
  if (key->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING) return reflection.GetString(entry, key);
  const uint64_t number = key->cpp_type() == pb::FieldDescriptor::CPPTYPE_UINT32
                              ? reflection.GetUInt32(entry, key)
                              : reflection.GetUInt64(entry, key);
  std::string digits = std::to_string(number);
  return std::string(20 - digits.size(), '0') + digits;
}

// A map that was parsed is a list of entries to protobuf, with a key as often as it was read: the last is
// kept.
void make_maps(pb::Message& message) {
  const pb::Reflection& reflection = *message.GetReflection();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    if (field->message_type() == nullptr) continue;
    if (!field->is_repeated()) {
      make_maps(*reflection.MutableMessage(&message, field));
      continue;
    }
    std::map<std::string, std::unique_ptr<pb::Message>> entries;
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      pb::Message& entry = *reflection.MutableRepeatedMessage(&message, field, i);
      make_maps(entry);
      if (!field->is_map()) continue;
      auto& last = entries[map_key_of(entry)];
      last.reset(entry.New());
      last->CopyFrom(entry);
    }
    if (!field->is_map()) continue;
    reflection.ClearField(&message, field);
    for (auto& [key, entry] : entries) reflection.AddAllocatedMessage(&message, field, entry.release());
  }
}

// As protobuf writes it.
std::string canonical_by_protobuf(pb::Message& message) {
  make_maps(message);
  return sorted_bytes(message);
}

const char* const kTypes[] = {"tensorflow.GraphDef",       "tensorflow.NodeDef",
                              "tensorflow.AttrValue",      "tensorflow.TensorProto",
                              "tensorflow.MetaGraphDef",   "tensorflow.SavedObjectGraph",
                              "tensorflow.GraphDebugInfo", "tensorflow.SavedModel"};

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

// Of a list, between `~`.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find('~', at), list.size());
    parts.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

class Random {
 public:
  explicit Random(size_t seed) : engine_(seed) {}
  size_t below(size_t end) { return static_cast<size_t>(engine_() % end); }
  template <typename List>
  const auto& one_of(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937_64 engine_;
};

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
  const size_t seed = from_environment("GEDIT_FORMS_SEED", 1),
               rounds = from_environment("GEDIT_FORMS_ROUNDS", 1);
  Random random(seed);
  size_t accepted = 0, refused = 0;
  for (size_t round = 0; round < 20000 * rounds; ++round) {
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
  }
  EXPECT_GT(accepted, 500 * rounds);
  EXPECT_GT(refused, 1000 * rounds);
}

// Fields of the type on the wire, some of them not as they should be.
std::string random_bytes(Random& random, const MessageType& type, int depth) {
  std::string bytes;
  for (size_t count = random.below(depth == 0 ? 8 : 4); count > 0; --count) {
    if (type.fields.empty()) break;
    const MessageField& field = random.one_of(type.fields);
    if (field.type == FieldType::kMessage) {
      if (depth < 6) append_bytes_field(bytes, field.number, random_bytes(random, *field.message, depth + 1));
    } else if (!field.packable()) {
      const char* const kTexts[] = {
          "", "a", "b\n\"'\\<>&", "\xc3\xa9\xe2\x80\x8b", "\xf0\x9d\x85\xb3\x7f\x01", "\xc2\xad\xd8\x80"};
      std::string value = random.one_of(kTexts);
      if (field.type == FieldType::kBytes && random.below(3) == 0) value += "\xff";
      append_bytes_field(bytes, field.number, value);
    } else {
      const uint64_t kNumbers[] = {0,
                                   1,
                                   2,
                                   3,
                                   127,
                                   128,
                                   0x3f800000,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0x3ff0000000000000,
                                   0x8000000000000000,
                                   ~uint64_t{0},
                                   0x3dcccccd,
                                   0x7f7fffff,
                                   1000,
                                   0x3fb999999999999a};
      std::string numbers;
      const size_t many = field.repeated ? random.below(4) : 1;
      for (size_t i = 0; i < many; ++i) {
        const uint64_t number =
            random.below(3) == 0 ? random.one_of(kNumbers) : random.one_of(kNumbers) ^ random.below(0x800000);
        append_number(numbers, field.wire, field.type == FieldType::kEnum ? number % 40 : number);
      }
      if (field.repeated && random.below(2) == 0) {
        append_bytes_field(bytes, field.number, numbers);
      } else if (many == 1) {
        append_tag(bytes, field.number, field.wire);
        bytes += numbers;
      }
    }
  }
  return bytes;
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
  const size_t seed = from_environment("GEDIT_FORMS_SEED", 1),
               rounds = from_environment("GEDIT_FORMS_ROUNDS", 1);
  Random random(seed);
  for (size_t round = 0; round < 20000 * rounds; ++round) {
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
    if (json.find("@type") != std::string::npos) continue;
    try {
      JsonParser(json).read_message(type, raw);
    } catch (const TextFault& fault) {
      FAIL() << fault.with_place(json) << "\n" << json;
    }
    append_canonical(again, type, raw);
    std::string printed;
    print_message_json(printed, type, again);
    ASSERT_EQ(printed, json);
  }
}

const std::vector<std::string> kJsonParts = parts_of(
    "0~-0~1~1.0~1e2~1.5~\"1\"~\"-1\"~\"1.0\"~\"1e2\"~\"x\"~\"\"~null~true~false~\"true\"~"
    "\"NaN\"~\"Infinity\"~\"-Infinity\"~1e400~1e39~4294967295~4294967296~-2147483649~"
    "9223372036854775807~9223372036854775808~18446744073709551615~18446744073709551616~"
    "\"9223372036854775808\"~\"DT_FLOAT\"~77~\"77\"~\"YWI=\"~\"YWI\"~\"_-8\"~\"Y\"~[]~{}~"
    "[null]~[1]~{\"a\":1}~01~+1~.5~1.~tru~'a'~,~:~{~}~[~]~\"~ ~\n~\\u00e9~\\ud83d\\ude00~"
    "\\ud83d~\\q~\x01~a");

TEST(MessageForms, JsonIsReadAsProtobufReadsIt) {
  const size_t seed = from_environment("GEDIT_FORMS_SEED", 1),
               rounds = from_environment("GEDIT_FORMS_ROUNDS", 1);
  Random random(seed);
  size_t accepted = 0, refused = 0;
  for (size_t round = 0; round < 20000 * rounds; ++round) {
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
      if (json.find("-0") != std::string::npos) continue;
      ASSERT_EQ(bytes, canonical_by_protobuf(*message)) << json;
    }
  }
  EXPECT_GT(accepted, 500 * rounds);
  EXPECT_GT(refused, 500 * rounds);
}

}  // namespace gedit::message_forms_test
