// Object graphs of SavedModels: taken apart and put together they mean the same; what is broken is named;
// what remains of one, several joined, copies in one.
#include "model/saved_objects.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/wire.h"
#include "corpus_files.h"
#include "edit/objects/copy.h"
#include "edit/objects/join.h"
#include "edit/objects/remaining.h"
#include "graph/node.h"
#include "model/model.h"
#include "object_graph.pb.h"
#include "object_notation.h"
#include "same_message.h"

namespace gedit::saved_objects_test {

std::string sorted(std::string_view bytes) {
  tensorflow::SavedObjectGraph graph;
  if (!graph.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "not a message";
  return sorted_bytes(graph);
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
  SavedObjects saved = saved_of("x>7 |");
  EXPECT_EQ(refusal([&] { check_saved_objects(saved); }), "object 0: the object graph names object 7 of 2");
  EXPECT_EQ(variable_keys(saved).size(), 2U);  // inspect goes on
  saved = saved_of("x>1 |");
  saved.functions.push_back(function_of("f", {1, 2}));
  EXPECT_EQ(refusal([&] { check_saved_objects(saved); }),
            "function 'f': the object graph names object 2 of 2");
}

TEST(SavedObjects, KeysAreTheShortestPaths) {
  const Strings keys = variable_keys(saved_of("a/b>1 c.d>2 again>1 m:1+2 =U | =V | =V"));
  EXPECT_EQ(keys[1], "a.Sb/.ATTRIBUTES/VARIABLE_VALUE");
  EXPECT_EQ(keys[2], "a.Sb/.OPTIMIZER_SLOT/m/.ATTRIBUTES/VARIABLE_VALUE");
}

TEST(SavedObjects, SignaturesHangUnderOneObject) {
  SavedObjects objects = saved_of("");
  EXPECT_FALSE(signature_map(objects));
  const uint32_t id = make_signature_map(objects);
  EXPECT_EQ(make_signature_map(objects), id);
  EXPECT_EQ(child_of(objects.objects[0], "signatures"), id);
}

TEST(SavedObjects, WhatRemains) {
  struct Case {
    const char* rule;
    std::string text, alive, stays, after;  // after: empty where the objects are as they were
  };
  const Case cases[] = {
      {"a variable that is there", "v>1 w>2 =U | =V | =V", "010", "110", ""},
      {"what leads to it", "l>1 m>3 =U | v>2 =U | =V | w>4 =U | =V", "00100", "11100", ""},
      {"what leads to none", "l>1 =U | =U", "00", "11", ""},
      {"what leads to both", "l>1 =U | v>2 w>3 =U | =V | =V", "0010", "1110", ""},
      {"signatures, even without any", "signatures>1 =U | f>2 =U | =B", "000", "110", ""},
      {"a dead function on the way to a variable", "f>1 =U | v>2 =F | =V", "001", "111",
       "f>1 =U | v>2 =U | =V"},
      {"a function below a dead one goes", "f>1 v>3 =U | g>2 =F | =F | =V", "0001", "1001", ""},
      {"an orphan of what went", "t>1 v>3 =U | u>2 =R | =U | =V", "0001", "1001", ""},
      {"a slot that no child leads to", "o>1 v>2 =U | m:2+3 =U | =V | =V", "0011", "1111", ""},
      {"saveables of a table that is there", "t>1 =U | s!2,3 =R | =F | =F", "0111", "1111", ""},
  };
  for (const Case& one : cases) {
    SavedObjects saved = saved_of(one.text);
    EXPECT_EQ(bits_text(remaining_objects(saved, bits(one.alive), {})), one.stays) << one.rule;
    EXPECT_EQ(text_of(saved.objects), one.after.empty() ? one.text : one.after) << one.rule;
  }
}

TEST(SavedObjects, WhatFunctionsCaptureRemains) {
  SavedObjects saved = saved_of("f>1 =U | x>2 =F | =V");
  saved.functions.push_back(function_of("g", {2}));
  saved.objects[1].children.clear();
  EXPECT_EQ(bits_text(remaining_objects(saved, bits("011"), bits("1"))), "111");
}

TEST(SavedObjects, CopiedVariables) {
  struct Case {
    const char* rule;
    std::string path, after, refused;
  };
  constexpr const char* kText = "l>1 z>4 =U | v>2 =U | h>3 m:2+4 =V | =F | =V";
  const auto with = [&](const std::string& root, const std::string& added) {
    return "l>1 z>4" + root + " =U | v>2 =U | h>3 m:2+4 =V | =F | =V | =V" + added;
  };
  const Case cases[] = {
      {"under a new child of the root", "n/l/v", with(" n>6", " | l>7 =U | v>5 =U"), ""},
      {"at the root", "n", with(" n>5", ""), ""},
      {"a name with a slash", "a.Sb", with(" a/b>5", ""), ""},
      {"where something is", "z", "", "object 'z': is taken; hint: choose another --scope"},
      {"below a variable", "z/n", "",
       "object 'z/n': an object that holds no others is on its way; hint: choose another --scope"},
  };
  for (const Case& one : cases) {
    SavedObjects saved = saved_of(kText);
    append_bytes_field(saved.objects[2].content, 6, "v");
    Library library;
    Registry ops;
    ObjectCopies copies(saved, library, ops, std::make_shared<Arena>());
    EXPECT_EQ(copies.path_of(2), "l/v");
    EXPECT_EQ(refusal([&] { copies.add_variable(2, "n/v", one.path); }), one.refused) << one.rule;
    if (!one.refused.empty()) continue;
    EXPECT_EQ(text_of(saved.objects), one.after) << one.rule;
    EXPECT_EQ(last_bytes(saved.objects[5].content, 6), "n/v") << one.rule;
  }
}

// FunctionDef of a function with one node.
std::string function_def(const std::string& name, const std::string& op, const std::string& shared_name) {
  std::string signature, node, function;
  append_bytes_field(signature, 1, name);
  append_bytes_field(node, 1, "node");
  append_bytes_field(node, 2, op);
  append_bytes_field(function, 1, signature);
  append_bytes_field(function, 3, with_attr(node, "shared_name", string_value(shared_name)));
  return function;
}

void name_functions(SavedObjects::Object& object, const Strings& names) {
  for (const std::string& name : names) append_bytes_field(object.content, 1, name);
}

TEST(SavedObjects, CopiedTables) {
  // Table 1 with its creator 2, an initializer 3 that captures it and what stands apart, 4.
  constexpr const char* kText =
      "t>1 =U | _create_resource>2 _initialize>3 other>4 _initialize~3 s!3,4 =R | =F | trace>5 =F | =F | =B";
  const auto arena = std::make_shared<Arena>();
  std::string functions;
  for (const auto& [name, op] : std::vector<std::pair<std::string, std::string>>{
           {"make", "HashTableV2"}, {"fill", "LookupTableImportV2"}, {"apart", "NoOp"}})
    append_bytes_field(functions, 1, function_def(name, op, "old"));
  for (const bool is_saved : {false, true}) {
    SavedObjects saved = saved_of(kText);
    name_functions(saved.objects[2], {"make"});
    name_functions(saved.objects[3], {"fill"});
    name_functions(saved.objects[4], {"apart"});
    name_functions(saved.objects[5], {"fill"});
    saved.functions = {function_of("make", {}), function_of("fill", {1}), function_of("apart", {0})};
    Library library = Library::decode(functions, arena);
    Registry ops;
    ObjectCopies copies(saved, library, ops, arena);
    ASSERT_TRUE(copies.makes_table(1));
    EXPECT_FALSE(copies.makes_table(3));
    copies.add_table(1, "new", is_saved, "n/t");
    const std::string made =
        " =U | _create_resource>2 _initialize>3 other>4 _initialize~3 s!3,4 =R |"
        " =F | trace>5 =F | =F | =B";
    EXPECT_EQ(text_of(saved.objects),
              is_saved ? "t>1 n>13" + made +
                             " | _create_resource>7 _initialize>8 other>4 _initialize~8 s!10,12 =R"
                             " | =F | trace>9 =F | =B | trace>11 =F | =B | =F | t>6 =U"
                       : "t>1 n>10" + made +
                             " | _create_resource>7 _initialize>8 other>4 _initialize~8 =R"
                             " | =F | trace>9 =F | =B | t>6 =U");
    EXPECT_EQ(concrete_functions(saved.objects[7]), std::vector<std::string_view>{"make_1"});
    EXPECT_EQ(concrete_functions(saved.objects[8]), std::vector<std::string_view>{"fill_1"});
    EXPECT_EQ(concrete_functions(saved.objects[9]), std::vector<std::string_view>{"fill_1"});
    ASSERT_NE(saved.find_function("fill_1"), nullptr);
    EXPECT_EQ(saved.find_function("fill_1")->bound_inputs, std::vector<uint32_t>{6});
    EXPECT_EQ(
        library.encode(), functions + [&] {
          std::string added;
          append_bytes_field(added, 1, function_def("make_1", "HashTableV2", "new"));
          append_bytes_field(added, 1, function_def("fill_1", "LookupTableImportV2", "old"));
          if (is_saved) append_bytes_field(added, 1, function_def("apart_1", "NoOp", "old"));
          return added;
        }());
  }
}

TEST(SavedObjects, JoinedBelowANewRoot) {
  const auto part = [](const std::string& name, const std::string& text, uint32_t first_asset) {
    return ObjectPart{name, saved_of(text), first_asset, {{"k", "k_1"}}};
  };
  const SavedObjects joined = read_saved_objects(join_saved_objects(
      {part("x", "v>1 a>2 =U | =V | =A", 0), part("y", "signatures>1 a>3 =U | k>2 =U | =B | =A", 3)}));
  EXPECT_EQ(
      text_of(joined.objects),
      "x>1 y>4 signatures>8 =U | v>2 a>3 =U | =V | =A | signatures>5 a>7 =U | k>6 =U | =B | =A | k_1>6 =U");
  EXPECT_EQ(asset_index(joined.objects[3].content), 0U);
  EXPECT_EQ(asset_index(joined.objects[7].content), 3U);
  EXPECT_EQ(text_of(read_saved_objects(join_saved_objects({part("", "v>1 =U | =V", 0)})).objects),
            "v>1 =U | =V");
}

TEST(SavedObjects, FunctionsAreFoundAmongThoseThatAreThere) {
  SavedObjects objects;
  for (const char* name : {"f", "g", "f"}) {
    objects.functions.emplace_back().name = name;
    objects.functions.back().output_signature = std::to_string(objects.functions.size());
  }
  ASSERT_NE(objects.find_function("f"), nullptr);
  EXPECT_EQ(objects.find_function("f"), &objects.functions[0]);
  EXPECT_EQ(objects.find_function("h"), nullptr);

  objects.functions.emplace_back().name = "h";
  EXPECT_EQ(objects.find_function("h"), &objects.functions[3]);

  keep_saved_objects(objects, {}, {false, true, true, false});
  EXPECT_EQ(objects.find_function("g"), &objects.functions[0]);
  ASSERT_EQ(objects.find_function("f"), &objects.functions[1]);
  EXPECT_EQ(objects.functions[1].output_signature, "3");
  EXPECT_EQ(objects.find_function("h"), nullptr);
}

}  // namespace gedit::saved_objects_test
