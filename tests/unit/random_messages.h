// Random messages, and protobuf as the judge of what they are.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "message/fields.h"
#include "object_graph.pb.h"
#include "same_message.h"

namespace gedit {

namespace pb = google::protobuf;

inline size_t from_environment(const char* name, size_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

inline const pb::Descriptor* type_named(const std::string& full_name) {
  tensorflow::SavedModel::descriptor();  // whose file is linked, and others with it
  tensorflow::SavedObjectGraph::descriptor();
  return pb::DescriptorPool::generated_pool()->FindMessageTypeByName(full_name);
}

inline std::unique_ptr<pb::Message> made(const std::string& full_name) {
  static pb::DynamicMessageFactory factory;
  return std::unique_ptr<pb::Message>(factory.GetPrototype(type_named(full_name))->New());
}

// Sorts as the key does.
inline std::string map_key_of(const pb::Message& entry) {
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
inline void make_maps(pb::Message& message) {
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
inline std::string canonical_by_protobuf(pb::Message& message) {
  make_maps(message);
  return sorted_bytes(message);
}

inline const char* const kTypes[] = {"tensorflow.GraphDef",       "tensorflow.NodeDef",
                                     "tensorflow.AttrValue",      "tensorflow.TensorProto",
                                     "tensorflow.MetaGraphDef",   "tensorflow.SavedObjectGraph",
                                     "tensorflow.GraphDebugInfo", "tensorflow.SavedModel"};

// Of a list, between `~`.
inline std::vector<std::string> parts_of(std::string_view list) {
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

// Calls use(random) 20,000 times, with random numbers that are the same in every run; GEDIT_FORMS_ROUNDS
// times as often, from seed GEDIT_FORMS_SEED on. Returns how often.
template <typename Use>
size_t each_round(Use use) {
  Random random(from_environment("GEDIT_FORMS_SEED", 1));
  const size_t rounds = 20000 * from_environment("GEDIT_FORMS_ROUNDS", 1);
  for (size_t round = 0; round < rounds && !testing::Test::HasFatalFailure(); ++round) use(random);
  return rounds;
}

// Fields of the type on the wire, some of them not as they should be.
inline std::string random_bytes(Random& random, const MessageType& type, int depth) {
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

}  // namespace gedit
