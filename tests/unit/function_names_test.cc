// Who names a function: each way of naming one, and who counts it.
#include "graph/function_names.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/map_entry.h"
#include "graph/name_attr_list.h"
#include "model/calls.h"
#include "model/listing.h"
#include "model/model.h"
#include "ops/kinds.h"

namespace gedit::function_names_test {

// A graph from its listing, decoded.
struct Listed {
  explicit Listed(std::string_view listing)
      : bytes(parse_listing(listing, "test", nullptr).message),
        graph(bytes, 1, std::make_shared<Arena>()),
        library(Library::decode(graph.part(2), graph.arena())) {
    graph.decode();
  }
  std::string name(size_t function) const {
    return function == FunctionUsers::kMainGraph ? "main" : std::string(library.functions[function].name);
  }
  std::string bytes;
  Graph graph;
  Library library;
};

using Texts = std::vector<std::string>;

std::string function_text(const std::string& name, const std::string& nodes, const std::string& attrs = {}) {
  return "function " + name + "() -> ()" + (attrs.empty() ? "" : " {" + attrs + "}") + "\n" + nodes +
         "return\nend\n";
}

struct NamingCase {
  const char* name;
  std::string listing;
  std::string named;    // by each_function_named() of all nodes of the main graph, the op itself left out
  std::string reached;  // from the main graph
  std::string users;    // of f, as FUNCTION//NODE
};

const std::vector<NamingCase>& naming_cases() {
  static const std::string f = function_text("f", "");
  static const std::vector<NamingCase> cases{
      {"no one", "n = NoOp()\n" + f, "", "", ""},
      {"op of a node", "n = f()\n" + f, "", "f", "main//n"},
      {"f of a call", "n = PartitionedCall() {f: func f}\n" + f, "f", "f", "main//n"},
      {"an attribute that is no call's", "n = Map() {body: func f}\n" + f, "f", "f", "main//n"},
      {"a list of functions", "n = Case() {branches: list(func g, func f)}\n" + f, "g f", "f", "main//n"},
      {"within the attributes of another", "n = Map() {body: func g {inner: func f}}\n" + f, "g f", "f",
       "main//n"},
      {"twice by one node", "n = If() {then_branch: func f, else_branch: func f}\n" + f, "f f", "f",
       "main//n main//n"},
      {"by way of another", "n = g()\n" + f + function_text("g", "  m = f()\n"), "", "f g", "g//m"},
      {"by a function that no one calls", "n = NoOp()\n" + f + function_text("g", "  m = f()\n"), "", "",
       "g//m"},
      {"a gradient of one that is called", "n = g()\n" + f + function_text("g", "") + "gradient g = f\n", "",
       "f g", ""},
      {"a gradient of one that no one calls",
       "n = NoOp()\n" + f + function_text("g", "") + "gradient g = f\n", "", "", ""},
      {"a registered gradient of an op",
       "n = IdentityN() {_gradient_op_type: \"Mine\"}\n" + f + "registered_gradient Mine = f\n", "", "f", ""},
      {"a registered gradient that no one asks for",
       "n = IdentityN() {_gradient_op_type: \"Other\"}\n" + f + "registered_gradient Mine = f\n", "", "", ""},
      {"as the backward function", "n = g()\n" + f + function_text("g", "", "backward_function_name: \"f\""),
       "", "g", ""},
      {"a string", "n = Map() {body: \"f\"}\n" + f, "", "", ""},
  };
  return cases;
}

std::string joined(const Texts& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
  return all;
}

TEST(FunctionNames, EachWayOfNaming) {
  for (const NamingCase& one : naming_cases()) {
    Listed in(one.listing);
    Texts named, reached, users;
    FunctionReach reach(in.library);
    for (uint32_t i = 0; i < in.graph.size(); ++i) {
      const std::string_view node_def = in.graph.bytes(NodeId{i});
      each_function_named(node_def, [&](std::string_view name) { named.emplace_back(name); });
      EXPECT_EQ(named.front(), node_op(node_def)) << one.name;
      named.erase(named.begin());
      reach.calls_of(node_def);
    }
    reach.follow();
    for (size_t i = 0; i < in.library.functions.size(); ++i) {
      if (reach.reached(i)) reached.push_back(in.name(i));
    }
    const FunctionUsers index(in.graph, in.library);
    for (const FunctionUsers::User& user : index.of(0)) {
      const Graph& body =
          user.function == FunctionUsers::kMainGraph ? in.graph : in.library.functions[user.function].body;
      users.push_back(in.name(user.function) + "//" + std::string(body.name(user.node)));
    }
    EXPECT_EQ(joined(named), one.named) << one.name;
    EXPECT_EQ(joined(reached), one.reached) << one.name;
    EXPECT_EQ(joined(users), one.users) << one.name;
  }
}

TEST(FunctionNames, OfADefinition) {
  Listed in(function_text("g", "  n = PartitionedCall() {f: func h}\n  m = k()\n",
                          "backward_function_name: \"b\", forward_function_name: \"w\", other: func o, "
                          "text: \"t\""));
  std::set<std::string_view> named;
  Arena made;
  each_function_named_in(in.library.functions[0].body.message(), made,
                         [&](std::string_view name) { named.insert(name); });
  EXPECT_EQ(named, (std::set<std::string_view>{"PartitionedCall", "h", "k", "b", "w", "o"}));
}

TEST(FunctionNames, OfGradients) {
  Listed in("gradient g = slope\nregistered_gradient Mine = f\n");
  Texts named;
  each_function_named_by_gradients(in.library, [&](std::string_view name) { named.emplace_back(name); });
  EXPECT_EQ(joined(named), "g slope f");
}

TEST(FunctionNames, CalledFunction) {
  const Listed in(
      "a = PartitionedCall() {f: func f, g: func g}\nb = StatefulPartitionedCall() {f: func f}\nc = f()\n"
      "d = If() {then_branch: func f}\ne = PartitionedCall()\n");
  Texts called;
  in.graph.each_record([&](std::string_view node_def) { called.emplace_back(called_function(node_def)); });
  EXPECT_EQ(called, (Texts{"f", "f", "f", "If", ""}));
}

TEST(FunctionNames, FunctionsWithAnOp) {
  const Listed in(function_text("holds", "  t = HashTableV2()\n") +
                  function_text("calls", "  n = PartitionedCall() {f: func holds}\n") +
                  function_text("calls_that", "  n = calls()\n") +
                  function_text("branches", "  n = If() {then_branch: func holds}\n") +
                  function_text("not", ""));
  const auto found = functions_with(in.library, is_table_op);
  EXPECT_EQ(found, (std::unordered_set<std::string_view>{"holds", "calls", "calls_that"}));
  EXPECT_TRUE(functions_with(in.library, is_placeholder_op).empty());
}

// Names of functions get a prefix, wherever they stand.
class Prefixed final : public Mapping {
 public:
  void node(std::string_view name, std::string& out) const override { out += name; }
  bool input(const NodeHead& /*reader*/, std::string_view input, std::string& out) const override {
    out += input;
    return true;
  }
  void function(std::string_view name, std::string& out) const override { out.append("p_").append(name); }
  bool maps_functions() const override { return true; }
};

// What is renamed is what is found: otherwise a name would be left behind, or lead nowhere.
TEST(FunctionNames, RenamedIsWhatIsNamed) {
  for (const NamingCase& one : naming_cases()) {
    Listed in(one.listing);
    const std::string library(in.graph.part(2));
    const std::string mapped = map_library(library, Prefixed());
    const Library after = Library::decode(mapped, in.graph.arena());
    ASSERT_EQ(after.functions.size(), in.library.functions.size());
    const auto names_of = [](const Library& of) {
      Texts names;
      Arena made;
      const auto add = [&](std::string_view name) { names.emplace_back(name); };
      for (const Function& function : of.functions) {
        add(function.name);
        each_function_named_in(function.body.message(), made, add);
      }
      each_function_named_by_gradients(of, add);
      return names;
    };
    Texts wanted = names_of(in.library);
    for (std::string& name : wanted) name.insert(0, "p_");
    EXPECT_EQ(names_of(after), wanted) << one.name;
  }
}

// Alone or in a list: each is changed in its place, and what stands beside them stays.
TEST(FunctionNames, NameAttrListsAreChangedInOrder) {
  const auto attr = [](const std::string& text) {
    Listed in("n = Map() {x: " + text + "}\n");
    return std::string(find_attr(in.graph.bytes(NodeId{0}), "x").value_or(""));
  };
  int number = 0;
  const auto numbered = [&](std::string_view) { return bytes_field(1, "new" + std::to_string(++number)); };
  EXPECT_EQ(with_name_attr_lists(attr("func f {k: 1}"), numbered), attr("func new1"));
  EXPECT_EQ(with_name_attr_lists(attr("list(func f, func g)"), numbered), attr("list(func new2, func new3)"));
  for (const char* none : {"7", "\"f\"", "list(\"f\")", "placeholder \"f\""})
    EXPECT_EQ(with_name_attr_lists(attr(none), numbered), attr(none)) << none;
  EXPECT_EQ(number, 3);
  EXPECT_EQ(function_in(attr("func f")), "f");
  EXPECT_EQ(function_in(attr("list(func f)")), "");
}

TEST(FunctionNames, ReducedLibraryNamesNoneThatIsGone) {
  Listed in("n = g()\n" + function_text("f", "") +
            function_text("g", "", "backward_function_name: \"f\", forward_function_name: \"g\"") +
            "gradient g = f\ngradient f = g\nregistered_gradient Mine = f\nregistered_gradient Yours = g\n");
  FunctionReach reach(in.library);
  reach.call("f");
  EXPECT_EQ(reduced_library(in.library, reach).find("g"), std::string::npos);
  FunctionReach both(in.library);
  both.call("g");
  both.follow();
  EXPECT_EQ(reduced_library(in.library, both), in.graph.part(2));
}

// A MetaGraphDef around a graph, which has an alias for `alias` and an object for `concrete`.
TEST(FunctionNames, AroundAGraph) {
  const std::string graph =
      parse_listing("n = f()\n" + function_text("f", "") + function_text("g", "  m = h()\n") +
                        function_text("h", "") + function_text("i", ""),
                    "test", nullptr)
          .message;
  std::string info, objects, bytes;
  append_bytes_field(info, 8, map_entry_bytes("i", "alias"));
  append_bytes_field(objects, 2, map_entry_bytes("g", ""));
  append_bytes_field(bytes, meta_field::kInfo, info);
  append_bytes_field(bytes, meta_field::kGraph, graph);
  append_bytes_field(bytes, meta_field::kObjectGraph, objects);
  Model model = model_of("test", Kind::kMetaGraphDef, Format::kBinary, bytes, std::make_shared<Arena>());
  model.graph().decode();
  const Library library = Library::decode(model.graph().part(2), model.arena);
  EXPECT_EQ(called_functions(model.meta(), library), (std::vector<bool>{true, true, true, false}));
  NodeSet roots(1);
  EXPECT_EQ(called_functions(model.meta(), library, &roots), std::vector<bool>(4));
  roots.add(NodeId{0});
  EXPECT_EQ(called_functions(model.meta(), library, &roots), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(aliased_functions(model.meta()), (std::unordered_set<std::string_view>{"i"}));
}

}  // namespace gedit::function_names_test
