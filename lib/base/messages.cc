#include "base/messages.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "base/embedded.h"
#include "base/error.h"

// Of gedit_embed() in lib/CMakeLists.txt.
extern "C" const char gedit_message_types[], gedit_message_types_end[];

namespace gedit {
namespace {

namespace pb = google::protobuf;

class MessageTypes {
 public:
  MessageTypes() {
    pb::FileDescriptorSet files;
    if (!files.ParseFromString(embedded(gedit_message_types, gedit_message_types_end)))
      throw std::logic_error("the descriptions of TensorFlow's messages are damaged");
    for (const pb::FileDescriptorProto& file : files.file()) {
      const pb::FileDescriptor* built = pool_.BuildFile(file);
      if (built == nullptr) throw std::logic_error("cannot use " + file.name());
      for (int i = 0; i < built->message_type_count(); ++i) add_types(*built->message_type(i));
    }
    find_ways_to_maps();
  }
  const pb::DescriptorPool& pool() const { return pool_; }
  // The factory locks, and keeps what it makes.
  const pb::Message& prototype(const pb::Descriptor& type) { return *factory_.GetPrototype(&type); }
  // The fields that are maps, or messages with a map at some depth.
  const std::vector<const pb::FieldDescriptor*>& ways_to_maps(const pb::Descriptor& type) const {
    return ways_to_maps_.at(&type);
  }

 private:
  void add_types(const pb::Descriptor& type) {
    ways_to_maps_[&type];
    for (int i = 0; i < type.nested_type_count(); ++i) add_types(*type.nested_type(i));
  }

  // To a map, then to what has a way to one, until nothing is new.
  void find_ways_to_maps() {
    for (bool found = true; found;) {
      found = false;
      for (auto& [type, ways] : ways_to_maps_) {
        for (int i = 0; i < type->field_count(); ++i) {
          const pb::FieldDescriptor* field = type->field(i);
          if (field->message_type() == nullptr || std::find(ways.begin(), ways.end(), field) != ways.end())
            continue;
          if (!field->is_map() && ways_to_maps_.at(field->message_type()).empty()) continue;
          ways.push_back(field);
          found = true;
        }
      }
    }
  }

  pb::DescriptorPool pool_;
  pb::DynamicMessageFactory factory_;
  std::unordered_map<const pb::Descriptor*, std::vector<const pb::FieldDescriptor*>> ways_to_maps_;
};

MessageTypes& schema() {
  static MessageTypes made;
  return made;
}

struct Key {  // of a map of proto/: a string or an unsigned number
  std::string_view text;
  uint64_t number = 0;
  auto operator<=>(const Key&) const = default;
};

Key key_of(const pb::Message& entry) {
  const pb::FieldDescriptor* key = entry.GetDescriptor()->map_key();
  const pb::Reflection& reflection = *entry.GetReflection();
  std::string unused;  // the reference is to the entry's own string
  if (key->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING)
    return {reflection.GetStringReference(entry, key, &unused)};
  if (key->cpp_type() == pb::FieldDescriptor::CPPTYPE_UINT32) return {{}, reflection.GetUInt32(entry, key)};
  return {{}, reflection.GetUInt64(entry, key)};
}

// Sorts the entries of a map, and drops all but the last with a key.
void sort_map(pb::Message& message, const pb::FieldDescriptor& field) {
  const pb::Reflection& reflection = *message.GetReflection();
  const int count = reflection.FieldSize(message, &field);
  std::vector<Key> keys;
  for (int i = 0; i < count; ++i) keys.push_back(key_of(reflection.GetRepeatedMessage(message, &field, i)));
  if (std::adjacent_find(keys.begin(), keys.end(), std::greater_equal<>()) == keys.end()) return;
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  std::vector<int> kept;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i + 1 == order.size() || keys[order[i]] < keys[order[i + 1]]) kept.push_back(order[i]);
  }
  for (int to = 0; to < static_cast<int>(kept.size()); ++to) {
    int from = kept[to];
    while (from < to) from = kept[from];  // where an earlier swap put it
    reflection.SwapElements(&message, &field, from, to);
  }
  for (int i = count; i > static_cast<int>(kept.size()); --i) reflection.RemoveLast(&message, &field);
}

// As deep as protobuf's parsers let messages be.
void sort_maps(pb::Message& message) {
  const pb::Reflection& reflection = *message.GetReflection();
  for (const pb::FieldDescriptor* field : schema().ways_to_maps(*message.GetDescriptor())) {
    if (!field->is_repeated()) {
      if (reflection.HasField(message, field)) sort_maps(*reflection.MutableMessage(&message, field));
      continue;
    }
    if (field->is_map()) sort_map(message, *field);
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      sort_maps(*reflection.MutableRepeatedMessage(&message, field, i));
  }
}

// By itself, protobuf's text parser prints its complaints.
class FirstFault final : public pb::io::ErrorCollector {
 public:
  explicit FirstFault(TextFault& fault) : fault_(fault) {}
  void AddError(int line, pb::io::ColumnNumber column, const std::string& message) override {
    if (fault_.message.empty()) fault_ = {std::max(line, 0), std::max(column, 0), as_clause(message)};
  }
  void AddWarning(int /*line*/, pb::io::ColumnNumber /*column*/, const std::string& /*message*/) override {}

 private:
  TextFault& fault_;
};

}  // namespace

const pb::DescriptorPool& message_types() { return schema().pool(); }

const pb::Descriptor& message_type(std::string_view full_name) {
  const pb::Descriptor* type = message_types().FindMessageTypeByName(std::string(full_name));
  if (type == nullptr) throw std::logic_error("proto/ has no " + std::string(full_name));
  return *type;
}

std::unique_ptr<pb::Message> new_message(const pb::Descriptor& type) {
  return std::unique_ptr<pb::Message>(schema().prototype(type).New());
}

pb::Message& new_message(const pb::Descriptor& type, pb::Arena& arena) {
  return *schema().prototype(type).New(&arena);
}

size_t TextFault::offset_in(std::string_view text) const {
  size_t at = 0;
  for (int passed = 0; passed < line; ++passed) {
    const size_t newline = text.find('\n', at);
    if (newline == std::string_view::npos) return text.size();
    at = newline + 1;
  }
  for (int passed = 0; passed < column && at < text.size(); ++at)
    passed += text[at] == '\t' ? 8 - passed % 8 : 1;
  return at;
}

std::string TextFault::with_place() const {
  return "line " + std::to_string(line + 1) + ": column " + std::to_string(column + 1) + ": " + message;
}

bool parse_message(std::string_view bytes, pb::Message& message) {
  if (bytes.size() > INT_MAX) return false;
  if (!message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  sort_maps(message);
  return true;
}

bool parse_message_text(std::string_view text, pb::Message& message, TextFault& fault) {
  if (text.size() > INT_MAX) {
    fault.message = "text of over 2 GiB";
    return false;
  }
  FirstFault first(fault);
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&first);
  parser.SetRecursionLimit(kDeepestNesting);
  pb::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&stream, &message)) return false;
  sort_maps(message);
  return true;
}

void drop_unknown_fields(pb::Message& message) {
  const pb::Reflection& reflection = *message.GetReflection();
  reflection.MutableUnknownFields(&message)->Clear();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    if (field->message_type() == nullptr) continue;
    if (!field->is_repeated()) drop_unknown_fields(*reflection.MutableMessage(&message, field));
    for (int i = 0; field->is_repeated() && i < reflection.FieldSize(message, field); ++i)
      drop_unknown_fields(*reflection.MutableRepeatedMessage(&message, field, i));
  }
}

void append_serialized(std::string& out, const pb::Message& message) {
  const size_t size = message.ByteSizeLong();
  if (size > INT_MAX) throw Error(Cause::kInput, "a message of over 2 GiB");
  // Strings that are no UTF-8 are for the caller to refuse, who can say where; protobuf would write to
  // stderr.
  const pb::LogSilencer silence;
  const size_t start = out.size();
  out.resize(start + size);
  pb::io::ArrayOutputStream stream(out.data() + start, static_cast<int>(size));
  pb::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&coded);
}

std::string as_clause(std::string_view sentence) {
  std::string clause(sentence);
  std::replace(clause.begin(), clause.end(), '\n', ' ');
  while (!clause.empty() && (clause.back() == '.' || clause.back() == ' ')) clause.pop_back();
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (!clause.empty() && is_upper(clause[0]) && (clause.size() == 1 || !is_upper(clause[1])))
    clause[0] = static_cast<char>(clause[0] - 'A' + 'a');
  return printable(clause);  // it may quote the file
}

}  // namespace gedit
