// Savers in graphs and in functions: what is found of them, and how their nodes are extended, kept and
// rekeyed (docs/tensorflow.md#savers).
#include "model/savers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "edit/savers/entries.h"
#include "edit/savers/function_extension.h"
#include "edit/savers/function_reduction.h"
#include "graph/library.h"
#include "model/listing.h"
#include "model/saver_def.h"

namespace gedit::savers_test {

// A graph from its listing, or the function where the listing is one.
struct Loaded {
  explicit Loaded(const std::string& listing)
      : parsed(parse_listing(listing, "t.gtxt", nullptr)), graph(make_graph()) {
    graph.decode();
    names.emplace(graph);
    consumers = reversed(producers(graph, *names));
  }

  Graph make_graph() {
    const auto arena = std::make_shared<Arena>();
    const std::string_view library = last_bytes(parsed.message, graph_field::kLibrary);
    if (library.empty()) return {parsed.message, 1, arena};
    return {last_bytes(library, 1), function_field::kNode, arena};
  }

  std::string message() const {
    StringSink out;
    graph.write(out);
    return out.text;
  }

  // The line of a node, as it is by now; empty where there is none.
  std::string line(std::string_view node) const {
    std::string text;
    const NodeId id = Names(graph).find(node);
    if (id != kNoNode) print_node(text, graph.bytes(id), true);
    return text;
  }

  ParsedListing parsed;
  Graph graph;
  std::optional<Names> names;
  Edges consumers;
};

// `save: w[2 0,1] < read < v` for a tensor that is saved, `restore: w > Identity > Assign > v` for one that
// is restored; `?` for no variable.
std::string described(const Graph& graph, const Savers& savers) {
  std::string text;
  for (const auto* nodes : {&savers.saves, &savers.restores}) {
    for (const SaverNode& saver : *nodes) {
      text += std::string(graph.name(saver.node)) + ":";
      if (!saver.readable()) text += " no Const";
      for (const SavedTensor& tensor : saver.tensors) {
        text += " " + tensor.key + (tensor.slice.empty() ? "" : "[" + tensor.slice + "]");
        const std::string sign = saver.saves ? " < " : " > ";
        std::vector<NodeId> way = tensor.between;
        if (saver.saves) std::reverse(way.begin(), way.end());
        for (const NodeId id : way) text += sign + std::string(graph.name(id));
        const std::string end = tensor.variable != kNoNode ? std::string(graph.name(tensor.variable))
                                : tensor.argument.empty()  ? "?"
                                                           : tensor.argument;
        text += sign + end + (tensor.taken_at == 1 ? "" : "@" + std::to_string(tensor.taken_at)) + ",";
      }
      text += "\n";
    }
  }
  return text;
}

std::string strings(const std::string& name, const std::vector<std::string>& values) {
  std::string text =
      name + " = Const() {dtype: DT_STRING, value: tensor(DT_STRING [" + std::to_string(values.size()) + "]";
  for (const std::string& value : values) text += ", \"" + value + "\"";
  return text + ")}\n";
}

const std::string kVariables = R"(v = VariableV2() {dtype: DT_FLOAT, shape: [2]}
w = VarHandleOp() {dtype: DT_INT32, shape: [], shared_name: "w"}
file = Const() {dtype: DT_STRING, value: tensor(DT_STRING [], "model")}
)";

const std::string kSaveV2 = kVariables + strings("names", {"v", "k/w"}) + strings("slices", {"4 2,2", ""}) +
                            R"(r = ReadVariableOp(w) {dtype: DT_INT32}
save = SaveV2(file, names, slices, v, r, ^file) {dtypes: list(DT_FLOAT, DT_INT32)}
)";

const std::string kRestoreV2 = kVariables + strings("names", {"v", "k/w"}) +
                               strings("slices", {"4 2,2", ""}) +
                               R"(restore = RestoreV2(file, names, slices) {dtypes: list(DT_FLOAT, DT_INT32)}
a = Assign(v, restore) {T: DT_FLOAT}
i = Identity(restore:1) {T: DT_INT32}
b = AssignVariableOp(w, i) {dtype: DT_INT32}
)";

const std::string kSaveFunction = "function save(file: DT_STRING, w: DT_RESOURCE, t: DT_FLOAT) -> ()\n" +
                                  strings("  names", {"w/V", "t/V", "c"}) +
                                  strings("  slices", {"", "", ""}) +
                                  R"(  r = ReadVariableOp(w) {dtype: DT_INT32}
  i = Identity(r:value:0) {T: DT_INT32}
  c = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 1.0)}
  save = SaveV2(file, names:output:0, slices:output:0, i:output:0, t, c:output:0) {dtypes: list(DT_INT32, DT_FLOAT, DT_FLOAT)}
  return ^done = save
end
)";

const std::string kRestoreFunction =
    "function restore(file: DT_STRING, w: DT_RESOURCE, t: DT_RESOURCE) -> ()\n" +
    strings("  names", {"w/V", "t/keys", "t/values"}) + strings("  slices", {"", "", ""}) +
    R"(  restore = RestoreV2(file, names:output:0, slices:output:0) {dtypes: list(DT_INT32, DT_STRING, DT_INT64)}
  i = Identity(restore:tensors:0) {T: DT_INT32}
  a = AssignVariableOp(w, i:output:0) {dtype: DT_INT32}
  m = LookupTableImportV2(t, restore:tensors:1, restore:tensors:2) {Tin: DT_STRING, Tout: DT_INT64}
  return ^done = a
end
)";

struct FindCase {
  std::string what, listing, found;
};

const std::vector<FindCase>& find_cases() {
  static const std::vector<FindCase> cases{
      {"SaveV2: keys, slices, reads of resources", kSaveV2, "save: v[4 2,2] < v, k/w < r < w,\n"},
      {"RestoreV2: the way to the assignment", kRestoreV2, "restore: v[4 2,2] > a > v, k/w > i > b > w,\n"},
      {"Save: keys without slices, tensors from the third input on",
       kVariables + strings("names", {"v"}) + "save = Save(file, names, v) {T: list(DT_FLOAT)}\n",
       "save: v < v,\n"},
      {"SaveSlices",
       kVariables + strings("names", {"v"}) + strings("slices", {"4 0,2"}) +
           "save = SaveSlices(file, names, slices, v) {T: list(DT_FLOAT)}\n",
       "save: v[4 0,2] < v,\n"},
      {"Restore and RestoreSlice have one tensor",
       kVariables + strings("names", {"v"}) + strings("slices", {"4 0,2"}) +
           R"(one = Restore(file, names, ^v) {dt: DT_FLOAT}
a = Assign(v, one) {T: DT_FLOAT}
two = RestoreSlice(file, names, slices) {dt: DT_FLOAT}
b = Assign(v, two) {T: DT_FLOAT}
)",
       "one: v > a > v,\ntwo: v[4 0,2] > b > v,\n"},
      {"keys behind an Identity",
       kVariables + strings("names", {"v"}) + strings("slices", {""}) +
           "behind = Identity(names) {T: DT_STRING}\n"
           "save = SaveV2(file, behind, slices, v) {dtypes: list(DT_FLOAT)}\n",
       "save: v < v,\n"},
      {"keys that are computed",
       kVariables + strings("slices", {""}) +
           "names = Placeholder() {dtype: DT_STRING}\n"
           "save = SaveV2(file, names, slices, v) {dtypes: list(DT_FLOAT)}\n",
       "save: no Const\n"},
      {"what is no variable's",
       kVariables + strings("names", {"c"}) + strings("slices", {""}) +
           "c = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 1.0)}\n"
           "save = SaveV2(file, names, slices, c) {dtypes: list(DT_FLOAT)}\n",
       "save: c < ?,\n"},
      {"an op that changes the value ends the way",
       kVariables + strings("names", {"v"}) + strings("slices", {""}) +
           "n = Neg(v) {T: DT_FLOAT}\n"
           "save = SaveV2(file, names, slices, n) {dtypes: list(DT_FLOAT)}\n",
       "save: v < ?,\n"},
      {"no more keys than tensors",
       kVariables + strings("names", {"v", "x"}) + strings("slices", {"", ""}) +
           "save = SaveV2(file, names, slices, v) {dtypes: list(DT_FLOAT)}\n"
           "restore = RestoreV2(file, names, slices) {dtypes: list(DT_FLOAT)}\n",
       "save: v < v,\nrestore: v > ?,\n"},
      {"of two assignments of one tensor a graph means the first",
       kVariables + strings("names", {"v"}) + strings("slices", {""}) +
           "restore = RestoreV2(file, names, slices) {dtypes: list(DT_FLOAT)}\n"
           "a = Assign(v, restore) {T: DT_FLOAT}\n"
           "b = Assign(v, restore) {T: DT_FLOAT}\n",
       "restore: v > a > v,\n"},
      {"a sharded saver has a node for each shard",
       kVariables + strings("n0", {"v"}) + strings("n1", {"w"}) + strings("slices", {""}) +
           "s0 = SaveV2(file, n0, slices, v) {dtypes: list(DT_FLOAT)}\n"
           "r = ReadVariableOp(w) {dtype: DT_INT32}\n"
           "s1 = SaveV2(file, n1, slices, r) {dtypes: list(DT_INT32)}\n",
       "s0: v < v,\ns1: w < r < w,\n"},
      {"a function saves its arguments", kSaveFunction, "save: w/V < i < r < w, t/V < t, c < ?,\n"},
      {"a function restores variables and tables", kRestoreFunction,
       "restore: w/V > i > a > w, t/keys > m > t, t/values > m > t@2,\n"},
  };
  return cases;
}

TEST(Savers, AreFound) {
  for (const FindCase& one : find_cases()) {
    const Loaded loaded(one.listing);
    EXPECT_EQ(described(loaded.graph, find_savers(loaded.graph, *loaded.names)), one.found) << one.what;
  }
}

TEST(Savers, KeysOfVariablesAreThoseSavedBeforeThoseRestored) {
  const Loaded loaded(kVariables + strings("names", {"old/v"}) + strings("slices", {""}) +
                      strings("more", {"v", "w"}) + strings("mores", {"", ""}) +
                      R"(save = SaveV2(file, names, slices, v) {dtypes: list(DT_FLOAT)}
restore = RestoreV2(file, more, mores) {dtypes: list(DT_FLOAT, DT_INT32)}
a = Assign(v, restore) {T: DT_FLOAT}
b = AssignVariableOp(w, restore:1) {dtype: DT_INT32}
)");
  const Savers savers = find_savers(loaded.graph, *loaded.names);
  const auto keys = variable_keys(savers);
  EXPECT_EQ(keys.at(index_of(loaded.names->find("v"))), "old/v");
  EXPECT_EQ(keys.at(index_of(loaded.names->find("w"))), "w");
}

TEST(Savers, WhatInitializesIsNone) {
  const Loaded loaded(kRestoreV2);
  const auto initializer = std::unordered_set{index_of(loaded.names->find("b"))};
  EXPECT_TRUE(find_savers(loaded.graph, *loaded.names, loaded.consumers, initializer).empty());
  EXPECT_EQ(find_savers(loaded.graph, *loaded.names, loaded.consumers, {}).restores.size(), 1U);
}

TEST(Savers, DefNamesThreeNodes) {
  const std::string bytes = saver_def_bytes({"file:0", "save:0", "nowhere", true, 2});
  const SaverDef def = parse_saver_def(bytes);
  EXPECT_EQ(def.filename, "file:0");
  EXPECT_EQ(def.restore, "nowhere");
  EXPECT_TRUE(def.sharded);
  EXPECT_EQ(def.version, 2U);
  const Loaded loaded(kSaveV2);
  const SaverDefNodes nodes = saver_def_nodes(bytes, *loaded.names);
  EXPECT_EQ(nodes.filename, loaded.names->find("file"));
  EXPECT_EQ(nodes.save, loaded.names->find("save"));
  EXPECT_EQ(nodes.restore, kNoNode);
}

// What is done with the first saver of a graph, and lines of the graph afterwards: those of these nodes.
struct EditCase {
  std::string what, listing;
  std::function<void(SaverNodes&, Graph&, const Savers&)> edit;
  std::vector<std::string> nodes;
  std::string lines;
  SharedConsts shared = SharedConsts::kStay;
};

const std::string kShared = kVariables + strings("names", {"v", "x"}) + strings("slices", {"", ""}) +
                            R"(x = VariableV2() {dtype: DT_FLOAT, shape: [2]}
save = SaveV2(file, names, slices, v, x) {dtypes: list(DT_FLOAT, DT_FLOAT)}
restore = RestoreV2(file, names, slices) {dtypes: list(DT_FLOAT, DT_FLOAT)}
a = Assign(v, restore) {T: DT_FLOAT}
b = Assign(x, restore:1) {T: DT_FLOAT}
)";

void keep_first(SaverNodes& nodes, Graph& graph, const Savers& savers) {
  for (const auto* all : {&savers.saves, &savers.restores}) {
    for (const SaverNode& saver : *all) {
      std::vector<std::string> inputs = nodes.inputs_of(saver.node);
      if (saver.saves) inputs.erase(inputs.begin() + 4);
      graph.replace(saver.node, keep_tensors(nodes, saver, {0}, inputs));
    }
  }
}

const std::vector<EditCase>& edit_cases() {
  const SaverEntry entry{"c/v", "4 0,2", DType::kHalf, "c/v"};
  static const std::vector<EditCase> cases{
      {"extend a Save node: control inputs stay last",
       kSaveV2,
       [=](SaverNodes& nodes, Graph&, const Savers& savers) { extend_save(nodes, savers.saves[0], {entry}); },
       {"names", "slices", "save"},
       strings("names", {"v", "k/w", "c/v"}) + strings("slices", {"4 2,2", "", "4 0,2"}) +
           "save = SaveV2(file, names, slices, v, r, c/v, ^file) {dtypes: list(DT_FLOAT, DT_INT32, "
           "DT_HALF)}\n"},
      {"extend a Restore node",
       kRestoreV2,
       [=](SaverNodes& nodes, Graph&, const Savers& savers) {
         EXPECT_EQ(extend_restore(nodes, savers.restores[0], {entry}, false),
                   std::vector<std::string>{"restore:2"});
       },
       {"names", "restore"},
       strings("names", {"v", "k/w", "c/v"}) +
           "restore = RestoreV2(file, names, slices) {dtypes: list(DT_FLOAT, DT_INT32, DT_HALF)}\n"},
      {"extend with a Restore node of its own",
       kRestoreV2,
       [=](SaverNodes& nodes, Graph&, const Savers& savers) {
         EXPECT_EQ(extend_restore(nodes, savers.restores[0], {entry}, true),
                   std::vector<std::string>{"restore_1"});
       },
       {"names", "names_1", "slices_1", "restore_1"},
       strings("names", {"v", "k/w"}) + strings("names_1", {"c/v"}) + strings("slices_1", {"4 0,2"}) +
           "restore_1 = RestoreV2(file, names_1, slices_1) {dtypes: list(DT_HALF)}\n"},
      {"extend two that share Consts: each gets its own",
       kShared,
       [=](SaverNodes& nodes, Graph&, const Savers& savers) {
         extend_save(nodes, savers.saves[0], {entry});
         extend_restore(nodes, savers.restores[0], {entry}, false);
       },
       {"names", "names_1", "names_2", "restore"},
       strings("names", {"v", "x"}) + strings("names_1", {"v", "x", "c/v"}) +
           strings("names_2", {"v", "x", "c/v"}) +
           "restore = RestoreV2(file, names_2, slices_2) {dtypes: list(DT_FLOAT, DT_FLOAT, DT_HALF)}\n"},
      {"keep one tensor of two that share Consts: the last one has them",
       kShared,
       keep_first,
       {"names", "names_1", "save", "restore"},
       strings("names", {"v"}) + strings("names_1", {"v"}) +
           "save = SaveV2(file, names_1, slices_1, v) {dtypes: list(DT_FLOAT)}\n"
           "restore = RestoreV2(file, names, slices) {dtypes: list(DT_FLOAT)}\n",
       SharedConsts::kGoToTheLast},
      {"rekey: a Const that two read, once",
       kShared,
       [](SaverNodes&, Graph& graph, const Savers& savers) {
         std::vector<SaverNode> all = savers.saves;
         all.insert(all.end(), savers.restores.begin(), savers.restores.end());
         rekey(graph, all, [](const std::string& key) { return "p/" + key; });
       },
       {"names", "slices"},
       strings("names", {"p/v", "p/x"}) + strings("slices", {"", ""})},
      {"a Restore becomes a RestoreV2 with slices",
       kVariables + "names = Const() {dtype: DT_STRING, value: tensor(DT_STRING [], \"v\")}\n"
                    "restore = Restore(file, names, ^v) {dt: DT_FLOAT, preferred_shard: -1}\n",
       [](SaverNodes& nodes, Graph&, const Savers& savers) {
         SaverNode restore = savers.restores[0];
         read_v2(nodes, restore);
       },
       {"names", "restore/shape_and_slices", "restore"},
       strings("names", {"v"}) + strings("restore/shape_and_slices", {""}) +
           "restore = RestoreV2(file, names, restore/shape_and_slices, ^v) {dtypes: list(DT_FLOAT)}\n"},
      {"a group runs what it gains",
       kRestoreV2 + "all = NoOp(^a)\n",
       [](SaverNodes& nodes, Graph& graph, const Savers&) {
         nodes.run_in(Names(graph).find("all"), "b");
         nodes.run_groups();
       },
       {"all"},
       "all = NoOp(^a, ^b)\n"},
  };
  return cases;
}

TEST(Savers, NodesAreEdited) {
  for (const EditCase& one : edit_cases()) {
    Loaded loaded(one.listing);
    GraphSaverNodes nodes(loaded.graph, *loaded.names, loaded.consumers, one.shared);
    one.edit(nodes, loaded.graph, find_savers(loaded.graph, *loaded.names));
    std::string lines;
    for (const std::string& node : one.nodes) lines += loaded.line(node) + "\n";
    EXPECT_EQ(lines, one.lines) << one.what;
  }
}

TEST(Savers, FunctionsGainArguments) {
  Loaded save(kSaveFunction);
  FunctionExtension saving(save.graph);
  const SaverNode& node = saving.savers().saves.front();
  saving.add_entry(node, node.tensors[0], "c/w", saving.add_argument(saving.number_of("w"), "c/w"));
  saving.apply();
  EXPECT_EQ(save.line("i_1"), "i_1 = Identity(r_1:value:0) {T: DT_INT32}");
  EXPECT_EQ(save.line("save"),
            "save = SaveV2(file, names:output:0, slices:output:0, i:output:0, t, c:output:0, i_1:output:0) "
            "{dtypes: list(DT_INT32, DT_FLOAT, DT_FLOAT, DT_INT32)}");
  EXPECT_EQ(argument_names(function_signature(save.graph)).back(), "c_w");

  Loaded restore(kRestoreFunction);
  FunctionExtension restoring(restore.graph);
  const SaverNode& reads = restoring.savers().restores.front();
  const std::string table = restoring.add_argument(restoring.number_of("t"), "c/t");
  restoring.add_entry(reads, reads.tensors[1], "c/t/keys", table);
  restoring.add_entry(reads, reads.tensors[2], "c/t/values", table);
  restoring.apply();
  EXPECT_EQ(restore.line("m_1"),
            "m_1 = LookupTableImportV2(c_t, restore:tensors:3, restore:tensors:4) "
            "{Tin: DT_STRING, Tout: DT_INT64}");
}

TEST(Savers, FunctionsLoseArguments) {
  const Loaded save(kSaveFunction);
  const auto arena = std::make_shared<Arena>();
  const std::string smaller = function_without(save.message(), arena, {false, true, false},
                                               [](std::string_view /*name*/) { return false; });
  Graph body(smaller, function_field::kNode, arena);
  body.decode();
  EXPECT_EQ(described(body, find_savers(body, Names(body))), "save: t/V < t, c < ?,\n");
  EXPECT_EQ(argument_names(function_signature(body)), (std::vector<std::string_view>{"file", "t"}));
  EXPECT_EQ(Names(body).find("r"), kNoNode);
}

}  // namespace gedit::savers_test
