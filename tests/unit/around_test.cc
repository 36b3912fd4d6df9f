// What lies around a graph: the table of collections, and the four things that are done to it (map, keep,
// extend, unite), a case for every kind of row.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/error.h"
#include "edit/around/extend.h"
#include "edit/around/keep.h"
#include "edit/around/map.h"
#include "edit/around/unite.h"
#include "model/collections.h"
#include "model/init_op.h"
#include "model/listing.h"

namespace gedit::around_test {

using Lines = std::vector<std::string>;

Model model_around(const Lines& lines) {
  std::string text = "metagraph {}\n";
  for (const std::string& line : lines) text += line + "\n";
  const ParsedListing parsed = parse_listing(text, "t.gtxt", nullptr);
  const auto arena = std::make_shared<Arena>();
  return model_of("t", parsed.kind, Format::kBinary, arena->keep(parsed.message), arena);
}

// The lines of what lies around, as a listing says them, without its first.
Lines around(const Model& model) {
  StringSink bytes, text;
  write_message(model, bytes);
  print_listing(model.kind, bytes.text, true, text);
  Lines lines;
  std::istringstream in(text.text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("metagraph")) lines.push_back(line);
  }
  return lines;
}

const std::string kVar =
    R"(VariableDef { variable_name: "v:0" initializer_name: "v/Assign" snapshot_name: "v/read:0" initial_value_name: "i:0" })";
const std::string kRunner =
    R"(QueueRunnerDef { queue_name: "q" enqueue_op_name: "put" close_op_name: "close" cancel_op_name: "cancel" })";
const std::string kCond =
    R"(CondContextDef { context_name: "c/ctx" pred_name: "p:0" pivot_name: "t:0" values_def { values: "x:0" values: "in:0" external_values { key: "x:0" value: "in:0" } } })";
const std::string kAssetTensor = R"(asset { tensor_info { name: "path:0" } filename: "f" })";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// --------------------------------------------------------------------------------------------------- the
// table

TEST(CollectionTable, RowsAreDifferent) {
  std::set<std::string_view> keys;
  for (const CollectionRow& row : collection_table()) EXPECT_TRUE(keys.insert(row.key).second) << row.key;
}

TEST(CollectionTable, WhatIsRunIsOneOperation) {
  using namespace collection_trait;
  for (const CollectionRow& row : collection_table()) {
    if (row.is(kRun) || row.is(kLoaderRuns)) {
      EXPECT_TRUE(row.is(kOneItem) && row.schema == nullptr) << row.key;
    }
    if (row.is(kLoaderRuns)) {
      EXPECT_TRUE(row.is(kRun)) << row.key;
    }
  }
}

TEST(CollectionTable, MessagesSayWhatTheyAreAbout) {
  for (const CollectionRow& row : collection_table()) {
    if (row.schema == nullptr) continue;
    EXPECT_FALSE(row.schema->message.empty()) << row.key;
    bool subject = false;
    for (const SchemaField& field : row.schema->fields) subject = subject || field.has(name_role::kSubject);
    EXPECT_EQ(subject, row.schema != &kSaverDef) << row.key;  // a copy is in the original's saver
  }
}

TEST(LoaderRuns, TheFirstThatIsThere) {
  const std::string signature =
      R"(signature __saved_model_init_op { outputs { key: "__saved_model_init_op" value { name: "s" } } })";
  struct Case {
    const char* rule;
    Lines lines;
    std::string runs, runs_from_legacy;
  };
  const Case cases[] = {
      {"nothing is named", {"collection init_op node i"}, "", ""},
      {"the signature", {"collection saved_model_main_op node m", signature}, "s", ""},
      {"main op before legacy",
       {"collection legacy_init_op node l", "collection saved_model_main_op node m"},
       "m",
       "l"},
      {"an empty one is passed over",
       {"collection saved_model_main_op node", "collection legacy_init_op node l"},
       "l",
       "l"},
  };
  for (const Case& one : cases) {
    const Model model = model_around(one.lines);
    EXPECT_EQ(loader_runs(model.meta()), one.runs) << one.rule;
    EXPECT_EQ(loader_runs(model.meta(), collection_key::kLegacyInitOp), one.runs_from_legacy) << one.rule;
  }
}

// ---------------------------------------------------------------------------------------------------------
// map

// `v` becomes `w`, and what is called `gone` goes.
class VBecomesW final : public NameMap {
 public:
  bool map(NameKind kind, std::string_view name, std::string& out) const override {
    if (node_of(name) == "gone") return false;
    out += kind == NameKind::kNode && node_of(name) == "v" ? "w" + std::string(name.substr(1))
                                                           : std::string(name);
    return true;
  }
};

TEST(MapAround, EveryKindOfRow) {
  struct Case {
    const char* rule;
    Lines before, after;
  };
  const std::string in_saver =
      R"(saver { filename_tensor_name: "f:0" save_tensor_name: "v:0" restore_op_name: "r" })";
  const std::string in_any =
      R"(collection saved_model_assets any type_url: "type.googleapis.com/tensorflow.AssetFileDef" value: "\n\005\n\003v:0\022\001f")";
  const Case cases[] = {
      {"names",
       {"collection losses node v:0", "collection losses node x"},
       {"collection losses node w:0", "collection losses node x"}},
      {"a name that goes", {"collection a node gone", "collection a node x"}, {"collection a node x"}},
      {"bytes and numbers are no names",
       {"collection a bytes \"v\"", "collection b int 7"},
       {"collection a bytes \"v\"", "collection b int 7"}},
      {"VariableDef",
       {"collection variables " + kVar},
       {"collection variables " + replaced(kVar, "\"v:0", "\"w:0")}},
      {"runner",
       {"collection queue_runners " + replaced(kRunner, "put", "v")},
       {"collection queue_runners " + replaced(kRunner, "put", "w")}},
      {"context",
       {"collection cond_context " + replaced(kCond, "x:0", "v:0")},
       {"collection cond_context " + replaced(kCond, "x:0", "w:0")}},
      {"saver_def", {in_saver}, {replaced(in_saver, "v:0", "w:0")}},
      {"any", {in_any}, {replaced(in_any, "v:0", "w:0")}},
      {"asset", {replaced(kAssetTensor, "path", "v")}, {replaced(kAssetTensor, "path", "w")}},
  };
  for (const Case& one : cases) {
    Model model = model_around(one.before);
    map_surroundings(model.meta(), VBecomesW());
    EXPECT_EQ(around(model), one.after) << one.rule;
  }
}

TEST(MapAround, VariableDefsAreKnownInCollectionsOfTheUsers) {
  // `mine` is not registered: its items are bytes, which are the same as those of a registered one.
  Model model = model_around({"collection variables " + kVar});
  const std::string item(collections(model.meta()).front().items.front());
  model.meta().set_parts(meta_field::kCollection,
                         {collection_entry("variables", collection_kind::kBytesList, {item}),
                          collection_entry("mine", collection_kind::kBytesList, {item, "v:0"})});
  map_surroundings(model.meta(), VBecomesW());
  const std::vector<Collection> all = collections(model.meta());
  EXPECT_EQ(variable_names(all[0].items[0]).variable, "w:0");
  EXPECT_EQ(variable_names(all[1].items[0]).variable, "w:0");
  EXPECT_EQ(all[1].items[1], "v:0");
}

// --------------------------------------------------------------------------------------------------------
// keep

TEST(KeepAround, EveryKindOfRow) {
  struct Case {
    const char* rule;
    std::string gone;  // a node
    Lines before, after;
  };
  const std::string signature =
      R"(signature s { inputs { key: "x" value { name: "x:0" } } outputs { key: "y" value { name: "y:0" } } })";
  const Case cases[] = {
      {"names", "x", {"collection a node x", "collection a node y"}, {"collection a node y"}},
      {"the last item takes its collection along", "x", {"collection a node x"}, {}},
      {"bytes and numbers stay",
       "x",
       {"collection a bytes \"x\"", "collection b int 7"},
       {"collection a bytes \"x\"", "collection b int 7"}},
      {"a VariableDef with all it names",
       "z",
       {"collection variables " + kVar},
       {"collection variables " + kVar}},
      {"or not at all", "v/read", {"collection variables " + kVar}, {}},
      {"a runner with all its operations", "put", {"collection queue_runners " + kRunner}, {}},
      {"a context goes with its predicate", "p", {"collection cond_context " + kCond}, {}},
      {"and its pivot", "t", {"collection cond_context " + kCond}, {}},
      {"but not with a value; what it came in as is none of the context then",
       "in",
       {"collection cond_context " + kCond},
       {R"(collection cond_context CondContextDef { context_name: "c/ctx" pred_name: "p:0" pivot_name: "t:0" values_def { } })"}},
      {"an asset with its tensor", "path", {kAssetTensor}, {}},
      {"a signature with its tensors", "y", {signature}, {}},
      {"or it stays", "z", {signature}, {signature}},
  };
  for (const Case& one : cases) {
    Model model = model_around(one.before);
    Remaining remaining;
    remaining.node = [&](std::string_view name) { return node_of(name) != one.gone; };
    remaining.variable = remaining.node;
    remaining.saver = [](std::string_view) { return true; };
    remaining.function = [](std::string_view) { return true; };
    Changes changes;
    reduce_signatures(model.meta(), remaining, changes);
    reduce_surroundings(model.meta(), remaining);
    EXPECT_EQ(around(model), one.after) << one.rule;
  }
}

TEST(KeepAround, SaversAreAskedFor) {
  const std::string saver = R"({ filename_tensor_name: "f:0" save_tensor_name: "s:0" restore_op_name: "r" })";
  Model model = model_around({"saver " + saver, "collection savers SaverDef " + saver});
  Remaining remaining;
  remaining.node = remaining.variable = remaining.function = [](std::string_view) { return true; };
  remaining.saver = [](std::string_view) { return false; };
  reduce_surroundings(model.meta(), remaining);
  EXPECT_EQ(around(model), Lines{});
}

// ------------------------------------------------------------------------------------------------------
// extend

// The nodes of one set are copied to `c/`.
class CopiesInC final : public CopiedNames {
 public:
  explicit CopiesInC(std::set<std::string, std::less<>> nodes) : nodes_(std::move(nodes)) {}
  bool copied(std::string_view name) const override { return nodes_.contains(node_of(name)); }
  bool append(NameKind kind, std::string_view name, bool outside, std::string& out) const override {
    if (kind == NameKind::kNode && !copied(name)) {
      if (outside) out += name;
      return outside;
    }
    out += "c/" + std::string(name);
    return true;
  }

 private:
  std::set<std::string, std::less<>> nodes_;
};

TEST(ExtendAround, EveryKindOfRow) {
  struct Case {
    const char* rule;
    std::set<std::string, std::less<>> copied;
    Lines before, gained;
  };
  const Case cases[] = {
      {"names", {"x"}, {"collection a node x:0", "collection a node y"}, {"collection a node c/x:0"}},
      {"one item stays alone", {"x"}, {"collection train_op node x"}, {}},
      {"unless there are several",
       {"x"},
       {"collection train_op node x", "collection train_op node y"},
       {"collection train_op node c/x"}},
      {"a VariableDef of one item, too", {"v"}, {"collection global_step " + kVar}, {}},
      {"bytes", {"x"}, {"collection a bytes \"x\""}, {}},
      {"a variable and all it names",
       {"v", "v/Assign", "v/read", "i"},
       {"collection variables " + kVar},
       {R"(collection variables VariableDef { variable_name: "c/v:0" initializer_name: "c/v/Assign" snapshot_name: "c/v/read:0" initial_value_name: "c/i:0" })"}},
      {"an initial value that is shared",
       {"v", "v/Assign", "v/read"},
       {"collection variables " + kVar},
       {R"(collection variables VariableDef { variable_name: "c/v:0" initializer_name: "c/v/Assign" snapshot_name: "c/v/read:0" initial_value_name: "i:0" })"}},
      {"no variable, no VariableDef", {"v/Assign", "v/read", "i"}, {"collection variables " + kVar}, {}},
      {"a runner as a whole",
       {"q", "put", "close", "cancel"},
       {"collection queue_runners " + kRunner},
       {R"(collection queue_runners QueueRunnerDef { queue_name: "c/q" enqueue_op_name: "c/put" close_op_name: "c/close" cancel_op_name: "c/cancel" })"}},
      {"or not at all", {"q", "put", "close"}, {"collection queue_runners " + kRunner}, {}},
      {"a context with its pivot",
       {"p", "t", "in"},
       {"collection cond_context " + kCond},
       {R"(collection cond_context CondContextDef { context_name: "c/c/ctx" pred_name: "c/p:0" pivot_name: "c/t:0" values_def { values: "x:0" values: "c/in:0" external_values { key: "x:0" value: "c/in:0" } } })"}},
      {"whose predicate may be the original's; no value for what stays away",
       {"t"},
       {"collection cond_context " + kCond},
       {R"(collection cond_context CondContextDef { context_name: "c/c/ctx" pred_name: "p:0" pivot_name: "c/t:0" values_def { } })"}},
      {"no pivot, no context", {"p", "in"}, {"collection cond_context " + kCond}, {}},
      {"savers",
       {"f", "s", "r"},
       {R"(collection savers SaverDef { filename_tensor_name: "f:0" save_tensor_name: "s:0" restore_op_name: "r" })"},
       {}},
  };
  for (const Case& one : cases) {
    Model model = model_around(one.before);
    const std::vector<Collection> all = collections(model.meta());
    const auto grown = extend_collections(model.meta(), all, CopiesInC(one.copied));
    EXPECT_EQ(grown.size(), one.gained.size()) << one.rule;
    Lines after = one.before;
    after.insert(after.end(), one.gained.begin(), one.gained.end());
    EXPECT_EQ(around(model), after) << one.rule;
  }
}

// -------------------------------------------------------------------------------------------------------
// unite

TEST(UniteAround, EveryKindOfRow) {
  struct Case {
    const char* rule;
    Lines a, b, united;
    bool share = false;
  };
  const Case cases[] = {
      {"names",
       {"collection l node a"},
       {"collection l node b"},
       {"collection l node a", "collection l node b"}},
      {"key by key",
       {"collection l node a"},
       {"collection m node b"},
       {"collection l node a", "collection m node b"}},
      {"the same twice",
       {"collection l node a"},
       {"collection l node a"},
       {"collection l node a", "collection l node a"}},
      {"shared", {"collection l node a"}, {"collection l node a"}, {"collection l node a"}, true},
      {"numbers are never one",
       {"collection n int 1"},
       {"collection n int 1"},
       {"collection n int 1", "collection n int 1"},
       true},
      {"bytes neither",
       {"collection n bytes \"x\""},
       {"collection n bytes \"x\""},
       {"collection n bytes \"x\"", "collection n bytes \"x\""},
       true},
      {"messages are",
       {"collection variables " + kVar},
       {"collection variables " + kVar},
       {"collection variables " + kVar},
       true},
      {"VariableDefs become names",
       {"collection variables " + kVar},
       {"collection variables node w:0"},
       {"collection variables node v:0", "collection variables node w:0"}},
      {"what is unset is of any kind",
       {"collection l unset"},
       {"collection l int 3"},
       {"collection l int 3"}},
      {"one is run",
       {"collection init_op node a"},
       {"collection l node b"},
       {"collection init_op node a", "collection l node b"}},
      {"two are run as one",
       {"collection init_op node a"},
       {"collection init_op node b"},
       {"collection init_op node run_init_op_a_b"}},
      {"an operation once",
       {"collection init_op node a"},
       {"collection init_op node a"},
       {"collection init_op node a"},
       true},
      {"a loader runs what the other names elsewhere",
       {"collection saved_model_main_op node a"},
       {"collection legacy_init_op node b"},
       {"collection saved_model_main_op node run_saved_model_main_op_a_b",
        "collection legacy_init_op node b"}},
      {"nobody runs train_op",
       {"collection train_op node a"},
       {"collection train_op node b"},
       {"collection train_op node a", "collection train_op node b"}},
  };
  for (const Case& one : cases) {
    const Model a = model_around(one.a), b = model_around(one.b);
    UniteRequest request;
    request.graphs = {{&a.meta(), "a"}, {&b.meta(), "b"}};
    request.share = one.share;
    request.run_all = [](std::string_view key, const std::vector<std::string>& operations) {
      std::string name = "run_" + std::string(key);
      for (const std::string& operation : operations) name += "_" + operation;
      return name;
    };
    Model united = model_around({});
    std::vector<std::string> warnings;
    united.meta().set_parts(meta_field::kCollection, united_collections(request, warnings));
    EXPECT_EQ(around(united), one.united) << one.rule;
  }
}

TEST(UniteAround, OtherKindsAreRefused) {
  const Model a = model_around({"collection l node a"}), b = model_around({"collection l int 3"});
  UniteRequest request;
  request.graphs = {{&a.meta(), "a"}, {&b.meta(), "b"}};
  std::vector<std::string> warnings;
  EXPECT_THROW(united_collections(request, warnings), Error);
}

}  // namespace gedit::around_test
