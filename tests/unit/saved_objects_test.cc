// Object graphs of SavedModels: taken apart and put together they mean the same; what is broken is named.
#include "model/saved_objects.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/wire.h"
#include "corpus_files.h"
#include "model/model.h"
#include "object_graph.pb.h"
#include "same_message.h"

namespace gedit {
namespace {

std::string sorted(std::string_view bytes) {
  tensorflow::SavedObjectGraph graph;
  if (!graph.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "not a message";
  return sorted_bytes(graph);
}

std::string graph_of(const std::vector<std::pair<uint64_t, std::string>>& children, size_t objects) {
  std::string root, bytes;
  for (const auto& [id, name] : children) {
    std::string child;
    append_varint_field(child, 1, id);
    append_bytes_field(child, 2, name);
    append_bytes_field(root, 1, child);
  }
  append_bytes_field(bytes, 1, root);
  for (size_t i = 1; i < objects; ++i) append_bytes_field(bytes, 1, "");
  return bytes;
}

TEST(SavedObjects, RealGraphsMeanTheSame) {
  size_t seen = 0;
  for (const std::string& path : corpus_files()) {
    if (!path.ends_with("saved_model.pb")) continue;
    try {
      const Model model = load(path);
      for (const MetaGraph& meta : model.meta_graphs) {
        const std::string_view bytes = meta.part(meta_field::kObjectGraph);
        if (bytes.empty()) continue;
        SavedObjects objects = read_saved_objects(bytes);
        check_saved_objects(objects);
        EXPECT_EQ(saved_objects_bytes(objects), bytes) << path;  // in the order in which TensorFlow writes
        for (SavedObjects::Object& object : objects.objects) object.changed = true;
        for (SavedObjects::Function& function : objects.functions) function.changed = true;
        EXPECT_EQ(sorted(saved_objects_bytes(objects)), sorted(bytes)) << path;
        ++seen;
      }
    } catch (const Error&) {
      continue;  // damaged on purpose
    }
  }
  EXPECT_GT(seen, 0U);
}

TEST(SavedObjects, UnknownFieldsStay) {
  std::string child, object, bytes;
  append_bytes_field(child, 2, "x");
  append_bytes_field(child, 90, "child");
  append_bytes_field(object, 1, child);
  append_bytes_field(object, 91, "object");
  append_bytes_field(bytes, 1, object);
  append_bytes_field(bytes, 92, "graph");
  SavedObjects objects = read_saved_objects(bytes);
  objects.objects[0].changed = true;
  EXPECT_EQ(saved_objects_bytes(objects), bytes);
}

TEST(SavedObjects, NamesObjectsThatAreNotThere) {
  const std::string bytes = graph_of({{7, "x"}}, 2);
  EXPECT_THROW(check_saved_objects(read_saved_objects(bytes)), Error);
  EXPECT_EQ(variable_keys(read_saved_objects(bytes)).size(), 2U);  // inspect goes on
}

TEST(SavedObjects, KeysAreTheShortestPaths) {
  const std::string bytes = graph_of({{1, "a/b"}, {2, "c.d"}, {1, "again"}}, 3);
  SavedObjects objects = read_saved_objects(bytes);
  for (SavedObjects::Object& object : objects.objects) object.kind = SavedObjects::Kind::kVariable;
  objects.objects[0].kind = SavedObjects::Kind::kUserObject;
  objects.objects[0].slots.push_back({.variable = 1, .slot = 2, .name = "m"});
  const std::vector<std::string> keys = variable_keys(objects);
  EXPECT_EQ(keys[1], "a.Sb/.ATTRIBUTES/VARIABLE_VALUE");
  EXPECT_EQ(keys[2], "a.Sb/.OPTIMIZER_SLOT/m/.ATTRIBUTES/VARIABLE_VALUE");
}

TEST(SavedObjects, SignaturesHangUnderOneObject) {
  SavedObjects objects = read_saved_objects(graph_of({}, 1));
  EXPECT_FALSE(signature_map(objects));
  const uint32_t id = make_signature_map(objects);
  EXPECT_EQ(make_signature_map(objects), id);
  EXPECT_EQ(child_of(objects.objects[0], "signatures"), id);
}

}  // namespace
}  // namespace gedit
