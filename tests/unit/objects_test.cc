// The one tree behind both object graphs, and what is done to it: paths, what stays, what is appended, bytes;
// and edits of a checkpoint's object graph.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/wire.h"
#include "checkpoint/object_edits.h"
#include "checkpoint/open.h"
#include "model/model.h"
#include "object_notation.h"

namespace gedit::objects_test {

// ---------------------------------------------------------------------------------------------------- paths

TEST(ObjectTree, PathsAreTheShortest) {
  struct Case {
    const char* rule;
    std::string text;
    Strings paths;
  };
  const Case cases[] = {
      {"the root has none", "", {""}},
      {"one child in another", "a>1 | b>2 |", {"", "a", "a/b"}},
      {"breadth first", "a>1 b>2 | c>3 | d>4 | d>4 |", {"", "a", "b", "a/c", "b/d"}},
      {"the first of two names", "a>1 again>1 |", {"", "a"}},
      {"cycles end", "a>1 | up>0 self>1", {"", "a"}},
      {"slots are no children", "o>1 v>2 | m:2+3 | |", {"", "o", "v", ""}},
      {"dependencies are no children", "f>1 d~2 | |", {"", "f", ""}},
      {"names are escaped", "a/b>1 c.d>2 .S>3 | | |", {"", "a.Sb", "c..d", "..S"}},
      {"what names nothing is passed over", "a>7 b>1 |", {"", "b"}},
  };
  for (const Case& one : cases) {
    const auto graph = objects_of<ObjectGraph::Object>(one.text);
    EXPECT_EQ(object_paths(graph), one.paths) << one.rule;
    EXPECT_EQ(object_paths(objects_of<SavedObjects::Object>(one.text)), one.paths) << one.rule;
    for (size_t id = 0; id < one.paths.size(); ++id) {
      if (one.paths[id].empty()) continue;
      EXPECT_EQ(ObjectFinder(graph).find(one.paths[id]), id) << one.rule;
    }
  }
}

TEST(ObjectTree, ObjectsAreFoundByAnyName) {
  const auto objects = objects_of<ObjectGraph::Object>("a>1 x.y>1 | b>2 |");
  ObjectFinder finder(objects);
  EXPECT_EQ(finder.find(""), 0U);
  EXPECT_EQ(finder.find("a/b"), 2U);
  EXPECT_EQ(finder.find("x..y/b"), 2U);
  EXPECT_EQ(finder.find("x.y"), std::nullopt);  // as it stands in paths, not as it is called
  EXPECT_EQ(finder.find("a/c"), std::nullopt);
  EXPECT_EQ(finder.find("x..y/b"), 2U);  // what was looked at once
  const auto broken = objects_of<ObjectGraph::Object>("a>7 |");
  EXPECT_EQ(ObjectFinder(broken).find("a"), std::nullopt);
}

TEST(ObjectTree, NamesGoThereAndBack) {
  for (const std::string name : {"", "a", "a/b", "a.b", ".S", "..S/", "./.S."})
    EXPECT_EQ(unescaped_name(escaped_name(name)), name);
}

// ---------------------------------------------------------------------------------------------------- edits

TEST(ObjectTree, KeptObjectsAreMended) {
  struct Case {
    const char* rule;
    std::string text, stays, kept;
  };
  const Case cases[] = {
      {"nothing goes", "a>1 |", "11", "a>1 |"},
      {"a child goes", "a>1 b>2 | |", "101", "b>1 |"},
      {"ids close up", "a>1 b>3 | | | up>0", "1001", "b>1 | up>0"},
      {"a slot goes with its variable", "a>2 | | m:1+3 n:0+3 |", "1011", "a>1 | n:0+2 |"},
      {"a slot goes with its value", "a>1 | m:0+2 m:0+3 | |", "1101", "a>1 | m:0+2 |"},
      {"a dependency goes", "a~1 b~2 | |", "101", "b~1 |"},
      {"a saveable goes with either function", "s!1,2 t!2,2 u!2,1 | |", "101", "t!1,1 |"},
  };
  for (const Case& one : cases) {
    auto graph = objects_of<ObjectGraph::Object>(one.text);
    auto saved = objects_of<SavedObjects::Object>(one.text);
    keep_objects(graph, bits(one.stays));
    EXPECT_EQ(text_of(graph), one.kept) << one.rule;
    keep_objects(saved, bits(one.stays));
    EXPECT_EQ(text_of(saved), one.kept) << one.rule;
  }
}

TEST(ObjectTree, OnlyWhatIsMendedIsWrittenAnew) {
  auto objects = objects_of<ObjectGraph::Object>("a>1 b>2 | | c>1");
  for (auto& object : objects) object.changed = false;
  EXPECT_EQ(append_objects(objects, objects_of<ObjectGraph::Object>("d>0")), 3U);
  EXPECT_EQ(text_of(objects), "a>1 b>2 | | c>1 | d>3");
  const auto changed = [&] {
    std::string out;
    for (const auto& object : objects) out += object.changed ? '1' : '0';
    return out;
  };
  EXPECT_EQ(changed(), "0001");
  EXPECT_EQ(copy_object(objects, 2), 4U);
  EXPECT_EQ(text_of(objects), "a>1 b>2 | | c>1 | d>3 | c>1");
  EXPECT_EQ(changed(), "00011");
  objects[3].changed = objects[4].changed = false;
  keep_objects(objects, bits("11101"));
  EXPECT_EQ(text_of(objects), "a>1 b>2 | | c>1 | c>1");
  EXPECT_EQ(changed(), "0000");
}

TEST(ObjectTree, SavedFunctionsFollowTheirObjects) {
  SavedObjects saved = saved_of("a>1 b>2 | =V | =V");
  saved.functions.push_back(function_of("f", {2, 1}));
  SavedObjects more = saved_of("c>1 | =V");
  more.functions.push_back(function_of("g", {1}));
  EXPECT_EQ(append_saved_objects(saved, std::move(more)), 3U);
  EXPECT_EQ(text_of(saved.objects), "a>1 b>2 | =V | =V | c>4 | =V");
  EXPECT_EQ(saved.functions[1].bound_inputs, std::vector<uint32_t>{4});
  keep_saved_objects(saved, bits("10101"), bits("01"));
  EXPECT_EQ(text_of(saved.objects), "b>1 | =V | =V");
  ASSERT_EQ(saved.functions.size(), 1U);
  EXPECT_EQ(saved.functions[0].bound_inputs, std::vector<uint32_t>{2});
}

TEST(ObjectTree, WhatNamesNothingIsFound) {
  for (const std::string text : {"| a>2", "| a~2", "| m:2+0", "| m:0+2", "| s!2,0", "| s!0,2"}) {
    const auto bad = find_bad_reference(objects_of<SavedObjects::Object>(text));
    ASSERT_TRUE(bad) << text;
    EXPECT_EQ(bad->object, 1U) << text;
    EXPECT_EQ(bad->id, 2U) << text;
  }
  EXPECT_FALSE(find_bad_reference(objects_of<SavedObjects::Object>("a>1 b~0 m:1+1 s!1,0 |")));
  EXPECT_EQ(refusal([] { parse_object_graph(object_graph_bytes(graph_of("a>1"))); }),
            "object 0: names object 1 of 1");
  EXPECT_EQ(refusal([] { parse_object_graph(""); }), "object graph: has no objects");
}

// --------------------------------------------------------------------------------------- of checkpoints

TEST(ObjectGraph, DroppedKeys) {
  struct Case {
    const char* rule;
    std::string text;
    std::set<std::string, std::less<>> keys;
    std::string left;
  };
  const Case cases[] = {
      {"its object goes", "a>1 b>2 | @a | @b", {"a"}, "b>1 | @b"},
      {"an object with another value stays", "a>1 | @a @b", {"a"}, "a>1 | @b"},
      {"what led to it alone goes", "l>1 b>3 | a>2 | @a | @b", {"a"}, "b>1 | @b"},
      {"what leads to more stays", "l>1 | a>2 b>3 | @a | @b", {"a"}, "l>1 | b>2 | @b"},
      {"what held nothing before stays", "l>1 a>2 | | @a", {"a"}, "l>1 |"},
      {"the root stays", "a>1 | @a", {"a"}, ""},
      {"slots go with their variable", "o>1 v>2 | m:2+3 | @v | @m", {"v"}, "o>1 |"},
      {"a slot goes", "o>1 v>2 | m:2+3 | @v | @m", {"m"}, "v>1 | @v"},
      {"what only it led to goes", "a>1 | l>2 @a |", {"a"}, ""},
  };
  for (const Case& one : cases) {
    ObjectGraph graph = graph_of(one.text);
    drop_keys(graph, one.keys);
    EXPECT_EQ(text_of(graph.objects), one.left) << one.rule;
  }
}

TEST(ObjectGraph, JoinedBelowANewRoot) {
  std::vector<std::pair<std::string, ObjectGraph>> graphs;
  graphs.emplace_back("x", graph_of("a>1 o>2 | @a/k | m:1+0"));
  graphs.emplace_back("y.z", graph_of("b>1 | @b/k"));
  const ObjectGraph joined = join_objects(std::move(graphs));
  EXPECT_EQ(text_of(joined.objects), "x>1 y.z>4 | a>2 o>3 | @x/a/k | m:2+1 | b>5 | @y..z/b/k");
  EXPECT_EQ(object_paths(joined.objects)[5], "y..z/b");
}

// {4: {1: a saver, 2: the name under which it keeps the object's tensors}}
std::string registered_saver(std::string_view name) {
  std::string saver, bytes;
  append_bytes_field(saver, 1, "Custom.S");
  append_bytes_field(saver, 2, name);
  append_bytes_field(bytes, 4, saver);
  return bytes;
}

TEST(ObjectGraph, NamesOfRegisteredSavers) {
  using Keys = std::map<std::string, std::string, std::less<>>;
  struct Case {
    const char* rule;
    Keys renamed;
    std::string name, refused;
  };
  const Case cases[] = {
      {"follows its keys", {{"n/r-a", "m/r-a"}, {"n/r-b", "m/r-b"}}, "m/r", ""},
      {"stays with them", {{"n/s-a", "m/s-a"}}, "n/r", ""},
      {"an attribute's are its object's", {{"n/r-b/.ATTRIBUTES/V", "m/.ATTRIBUTES/V"}}, "n/r", ""},
      {"a longer name's are another's", {{"n/r2-a", "m/r2-a"}}, "n/r", ""},
      {"is in all of them",
       {{"n/r-a", "m/r-a"}, {"n/r-b", "o/r-b"}},
       "n/r",
       "object 'n/r': the tensors of a registered saver stay together"},
      {"and what is behind it stays",
       {{"n/r-a", "n/r-c"}},
       "n/r",
       "object 'n/r': the tensors of a registered saver stay together"},
  };
  for (const Case& one : cases) {
    ObjectGraph graph = graph_of("n>1 | r>2 r2>3 | |");
    graph.objects[2].rest = registered_saver("n/r");
    graph.objects[3].rest = registered_saver("n/r2");
    EXPECT_EQ(refusal([&] { rename_keys(graph, one.renamed); }), one.refused) << one.rule;
    EXPECT_EQ(graph.objects[2].rest, registered_saver(one.name)) << one.rule;
  }
  std::vector<std::pair<std::string, ObjectGraph>> graphs;
  graphs.emplace_back("x", graph_of("r>1 |"));
  graphs[0].second.objects[1].rest = registered_saver("r");
  EXPECT_EQ(join_objects(std::move(graphs)).objects[2].rest, registered_saver("x/r"));
}

TEST(ObjectGraph, CopiedValues) {
  constexpr const char* kText = "l>1 z>3 | w>2 | @l/w/.ATTRIBUTES/V | @z/.ATTRIBUTES/V";
  struct Case {
    const char* rule;
    std::string copy_key, added, refused;
  };
  const Case cases[] = {
      {"under a child of the root", "n/l/w/.ATTRIBUTES/V", " | l>5 | w>6 | @n/l/w/.ATTRIBUTES/V", ""},
      {"beside the original", "l/u/.ATTRIBUTES/V", " | @l/u/.ATTRIBUTES/V", ""},
      {"where something is", "z/.ATTRIBUTES/V", "", "object 'z': is taken"},
      {"where an object is that holds none", "l/.ATTRIBUTES/V", "", "object 'l': is taken"},
  };
  for (const Case& one : cases) {
    ObjectGraph graph = graph_of(kText);
    const std::string refused = refusal([&] {
      copy_values(graph, {{"l/w/.ATTRIBUTES/V", one.copy_key, "n/w"}, {"no/such/key", "nowhere", ""}});
    });
    EXPECT_EQ(refused, one.refused) << one.rule;
    if (!refused.empty()) continue;
    EXPECT_TRUE(text_of(graph.objects).ends_with(one.added)) << one.rule << ": " << text_of(graph.objects);
    EXPECT_EQ(graph.objects.back().attributes[0].full_name, "n/w") << one.rule;
    EXPECT_EQ(object_paths(graph.objects).back(), object_path(one.copy_key)) << one.rule;
  }
}

TEST(ObjectGraph, RenamedObjects) {
  struct Case {
    const char* rule;
    Strings pairs;
    std::string renamed, refused;
  };
  constexpr const char* kText = "l>1 z>3 | w>2 | @w | @z";
  const Case cases[] = {
      {"a child", {"z=y"}, "l>1 y>3 | w>2 | @w | @z", ""},
      {"a parent", {"l=k"}, "k>1 z>3 | w>2 | @w | @z", ""},
      {"moved", {"l/w=z/v"}, "l>1 z>3 | | @w | v>2 @z", ""},
      {"parents are made", {"z=a/b"}, "l>1 a>4 | w>2 | @w | @z | b>3", ""},
      {"swapped", {"l=z", "z=l"}, "z>1 l>3 | w>2 | @w | @z", ""},
      {"taken", {"l=z"}, "", "object 'z': is taken; hint: rename that too"},
  };
  for (const Case& one : cases) {
    ObjectGraph graph = graph_of(kText);
    Renaming renaming;
    for (const std::string& pair : one.pairs) renaming.add(parse_name_pair(pair));
    settle_paths(graph, renaming);
    EXPECT_EQ(refusal([&] { rename_objects(graph, renaming); }), one.refused) << one.rule;
    if (!one.refused.empty()) continue;
    EXPECT_EQ(text_of(graph.objects), one.renamed) << one.rule;
  }
}

TEST(ObjectGraph, SecondNamesLeadToTheFirst) {
  const ObjectGraph graph = graph_of("a>1 b>1 | w>2 | @a/w");
  Renaming renaming;
  renaming.add(parse_name_pair("b/w=b/v"));
  settle_paths(graph, renaming);
  EXPECT_EQ(renaming.pairs()[0].from, "a/w");
  EXPECT_EQ(renaming.pairs()[0].to, "a/v");
}

// ---------------------------------------------------------------------------------------------------- bytes

TEST(ObjectTree, WhatIsNotEditedKeepsItsBytes) {
  // Fields in an order and with zeros that no writer of TensorFlow's produces.
  std::string child, object, bytes;
  append_bytes_field(child, 2, "up");
  append_varint_field(child, 1, 0);
  append_bytes_field(child, 90, "child");
  append_bytes_field(object, 91, "object");
  append_bytes_field(object, 1, child);
  append_bytes_field(bytes, 1, object);
  append_bytes_field(bytes, 92, "graph");
  ObjectGraph graph = parse_object_graph(bytes);
  SavedObjects saved = read_saved_objects(bytes);
  EXPECT_EQ(object_graph_bytes(graph), bytes);
  EXPECT_EQ(saved_objects_bytes(saved), bytes);

  // The one mends its references where they stand, the other writes them anew.
  graph.objects[0].changed = saved.objects[0].changed = true;
  const auto written = [](const std::string& reference) {
    std::string of_object, of_graph;
    append_bytes_field(of_object, 1, reference);
    append_bytes_field(of_object, 91, "object");
    append_bytes_field(of_graph, 1, of_object);
    append_bytes_field(of_graph, 92, "graph");
    return of_graph;
  };
  EXPECT_EQ(object_graph_bytes(graph), written(child));
  std::string tidy;
  append_bytes_field(tidy, 2, "up");
  append_bytes_field(tidy, 90, "child");
  EXPECT_EQ(saved_objects_bytes(saved), written(tidy));
}

TEST(ObjectTree, WhatIsMendedStaysInItsPlace) {
  std::string bytes;
  append_bytes_field(bytes, 2, "a");
  append_bytes_field(bytes, 90, "?");
  append_varint_field(bytes, 1, 7);
  Trackable::Reference reference = read_reference(bytes);
  reference.id = 300;
  reference.name = "long";
  std::string mended, anew;
  append_bytes_field(mended, 2, "long");
  append_bytes_field(mended, 90, "?");
  append_varint_field(mended, 1, 300);
  append_varint_field(anew, 1, 300);
  append_bytes_field(anew, 2, "long");
  append_bytes_field(anew, 90, "?");
  EXPECT_EQ(reference_bytes(reference, Written::kMended), mended);
  EXPECT_EQ(reference_bytes(reference, Written::kAnew), anew);
}

TEST(ObjectTree, WrittenAnewItIsAsTensorFlowWroteIt) {
  size_t seen = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(GEDIT_SOURCE_DIR "/testdata")) {
    const std::string path = file.path().string();
    if (path.ends_with(".index")) {
      const Checkpoint checkpoint = open_checkpoint(path);
      if (!checkpoint.object_based()) continue;
      const std::string bytes = load_object_graph(checkpoint);
      ObjectGraph graph = parse_object_graph(bytes);
      EXPECT_EQ(object_graph_bytes(graph), bytes) << path;
      for (auto& object : graph.objects) object.changed = true;
      EXPECT_EQ(object_graph_bytes(graph), bytes) << path;
      ++seen;
    } else if (path.ends_with("saved_model.pb")) {
      const Model model = load(path);
      for (const MetaGraph& meta : model.meta_graphs) {
        const std::string_view bytes = meta.part(meta_field::kObjectGraph);
        SavedObjects saved = read_saved_objects(bytes);
        EXPECT_EQ(saved_objects_bytes(saved), bytes) << path;
        for (auto& object : saved.objects) object.changed = true;
        const std::string anew = saved_objects_bytes(saved);
        EXPECT_EQ(anew.size(), bytes.size()) << path;
        EXPECT_EQ(text_of(read_saved_objects(anew).objects), text_of(saved.objects)) << path;
        if (!bytes.empty()) ++seen;
      }
    }
  }
  EXPECT_GT(seen, 0U);
}

}  // namespace gedit::objects_test
