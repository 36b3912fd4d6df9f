// FunctionDefs: taken apart and put together they are the same bytes; each operation changes what it says.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/map_entry.h"
#include "edit/functions/function_def.h"
#include "graph/listing.h"
#include "model/model.h"

namespace gedit::functions_test {

std::string parsed(std::string_view listing) {
  Scanner scanner(listing);
  EXPECT_TRUE(scanner.accept_word("function"));
  return parse_function(scanner);
}

std::string printed(std::string_view function_def) {
  std::string text;
  EXPECT_TRUE(print_function(text, function_def, true));
  return text;
}

std::vector<std::string> testdata_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(GEDIT_SOURCE_DIR "/testdata")) {
    const std::string extension = entry.path().extension();
    if (extension == ".pb" || extension == ".meta" || extension == ".pbtxt")
      files.push_back(entry.path().string());
  }
  return files;
}

// Calls use(path, FunctionDef) for every function in testdata/.
template <typename Use>
void each_real_function(Use use) {
  size_t seen = 0;
  for (const std::string& path : testdata_files()) {
    std::optional<Model> model;
    try {
      model.emplace(load(path, {}));
    } catch (const Error&) {
      continue;
    }
    for (const MetaGraph& meta : model->meta_graphs) {
      for (Fields fields(meta.graph.part(2)); fields.next();) {
        if (!fields->bytes(1)) continue;
        ++seen;
        use(path, fields->value);
      }
    }
  }
  EXPECT_GT(seen, 10);
}

TEST(FunctionDef, UntouchedIsVerbatim) {
  const auto arena = std::make_shared<Arena>();
  each_real_function([&](const std::string& path, std::string_view bytes) {
    Graph body(bytes, function_field::kNode, arena);
    FunctionDef def(body);
    EXPECT_TRUE(def.encode() == bytes) << path << ": " << def.name();
    EXPECT_FALSE(body.edited()) << path << ": " << def.name();
  });
}

TEST(FunctionDef, RenamedThereAndBackIsVerbatim) {
  const auto arena = std::make_shared<Arena>();
  each_real_function([&](const std::string& path, std::string_view bytes) {
    Graph body(bytes, function_field::kNode, arena);
    FunctionDef def(body);
    const std::string name(def.name());
    const std::vector<bool> none(def.argument_count());
    def.rename("other");
    def.add_control_output("c", "n");
    def.store();
    EXPECT_EQ(function_name(def.encode()), "other");
    def.rename(name);
    def.remove_control_outputs([](std::string_view node) { return node == "n"; });
    def.remove_arguments(none);
    EXPECT_TRUE(def.encode() == bytes) << path << ": " << name;
  });
}

struct OperationCase {
  const char* name;
  std::string before;
  std::function<void(FunctionDef&)> operation;
  std::string after;
};

// All that counts arguments tells of three: 1 and 2 have attributes, 1 is a handle.
std::string counted(const std::string& arguments, const std::string& shapes, const std::string& rest) {
  return "function f(" + arguments + ") -> () {_input_shapes: list(" + shapes + ")}" +
         (rest.empty() ? "" : " | " + rest) + "\n  return\nend\n";
}
std::string arg_attr(int number, const std::string& attrs) {
  return "arg_attr { key: " + std::to_string(number) + " value { " + attrs + " } }";
}
const std::string kShapes = "attr { key: \"_output_shapes\" value { list { } } }";
const std::string kTwo = "attr { key: \"said\" value { s: \"two\" } }";
const std::string kThree = "attr { key: \"said\" value { s: \"three\" } }";
const std::string kThreeArguments = counted("a: DT_FLOAT, v: DT_RESOURCE, b: DT_INT32", "[1], [2], [3]",
                                            arg_attr(1, kShapes + " " + kTwo) + " " + arg_attr(2, kThree) +
                                                " resource_arg_unique_id { key: 1 value: 7 }");

std::string returning(const std::string& outputs, const std::string& returns, const std::string& controls) {
  std::string names;
  for (const char name : controls) names += std::string(" control_output: \"") + name + "\"";
  return "function f(a: DT_FLOAT) -> (" + outputs + ")" +
         (names.empty() ? "" : " | signature {" + names + " }") + "\n  n = NoOp()\n  return " + returns +
         "\nend\n";
}
const std::string kTwoReturns = returning("x: DT_FLOAT, y: DT_RESOURCE", "x = a, y = n:out:0, ^w = n", "w");

const std::vector<OperationCase>& operation_cases() {
  static const std::vector<OperationCase> cases{
      {"rename", "function f(a: DT_FLOAT) -> ()\n  return\nend\n", [](FunctionDef& def) { def.rename("g"); },
       "function g(a: DT_FLOAT) -> ()\n  return\nend\n"},
      {"set_stateful", "function f() -> ()\n  return\nend\n", [](FunctionDef& def) { def.set_stateful(); },
       "function f() -> () | signature { is_stateful: true }\n  return\nend\n"},
      {"set_stateful of what is", "function f() -> () | signature { is_stateful: true }\n  return\nend\n",
       [](FunctionDef& def) { def.set_stateful(); },
       "function f() -> () | signature { is_stateful: true }\n  return\nend\n"},

      {"add_argument", "function f(a: DT_FLOAT) -> ()\n  return\nend\n",
       [](FunctionDef& def) { def.add_argument(arg_def("b", DType::kInt32)); },
       "function f(a: DT_FLOAT, b: DT_INT32) -> ()\n  return\nend\n"},
      {"add_argument, with attributes", "function f(a: DT_FLOAT) -> ()\n  return\nend\n",
       [](FunctionDef& def) {
         std::string attrs;
         append_bytes_field(attrs, 1, map_entry_bytes("said", string_value("two")));
         def.add_argument(arg_def("b", DType::kInt32), attrs);
       },
       "function f(a: DT_FLOAT, b: DT_INT32) -> () | " + arg_attr(1, kTwo) + "\n  return\nend\n"},
      {"add_argument_like has its type and shape", kThreeArguments,
       [](FunctionDef& def) { def.add_argument_like(2, "c"); },
       counted("a: DT_FLOAT, v: DT_RESOURCE, b: DT_INT32, c: DT_INT32", "[1], [2], [3], [3]",
               arg_attr(1, kShapes + " " + kTwo) + " " + arg_attr(2, kThree) +
                   " resource_arg_unique_id { key: 1 value: 7 }")},
      {"remove_arguments: what counts them follows", kThreeArguments,
       [](FunctionDef& def) {
         def.remove_arguments({true, false});
       },
       counted("v: DT_RESOURCE, b: DT_INT32", "[2], [3]",
               arg_attr(0, kShapes + " " + kTwo) + " " + arg_attr(1, kThree) +
                   " resource_arg_unique_id { key: 0 value: 7 }")},
      {"remove_arguments: what is said of them goes", kThreeArguments,
       [](FunctionDef& def) {
         def.remove_arguments({false, true});
       },
       counted("a: DT_FLOAT, b: DT_INT32", "[1], [3]", arg_attr(1, kThree))},
      {"reorder_arguments", kThreeArguments,
       [](FunctionDef& def) {
         def.reorder_arguments({0, 2, 1});
       },
       counted("a: DT_FLOAT, b: DT_INT32, v: DT_RESOURCE", "[1], [3], [2]",
               arg_attr(1, kThree) + " " + arg_attr(2, kShapes + " " + kTwo) +
                   " resource_arg_unique_id { key: 2 value: 7 }")},
      {"make_argument_value: nothing tells of a handle", kThreeArguments,
       [](FunctionDef& def) {
         def.make_argument_value(1, DType::kFloat, Shape{{4, 5}});
       },
       counted("a: DT_FLOAT, v: DT_FLOAT, b: DT_INT32", "[1], [4,5], [3]",
               arg_attr(1, kTwo) + " " + arg_attr(2, kThree))},
      {"one after the other", kThreeArguments,
       [](FunctionDef& def) {
         def.remove_arguments({true});
         def.add_argument_like(0, "w");
         def.make_argument_value(0, DType::kFloat, Shape{{4}});
         def.remove_arguments({false, true});
       },
       counted("v: DT_FLOAT, w: DT_RESOURCE", "[4], [2]", arg_attr(0, kTwo))},

      {"add_output", kTwoReturns,
       [](FunctionDef& def) { def.add_output(arg_def("z", DType::kInt32), "m:y:0"); },
       returning("x: DT_FLOAT, y: DT_RESOURCE, z: DT_INT32", "x = a, y = n:out:0, z = m:y:0, ^w = n", "w")},
      {"reorder_outputs", kTwoReturns,
       [](FunctionDef& def) {
         def.reorder_outputs({1, 0});
       },
       returning("y: DT_RESOURCE, x: DT_FLOAT", "x = a, y = n:out:0, ^w = n", "w")},
      {"make_output_value", kTwoReturns, [](FunctionDef& def) { def.make_output_value(1, DType::kFloat); },
       returning("x: DT_FLOAT, y: DT_FLOAT", "x = a, y = n:out:0, ^w = n", "w")},
      {"map_returns", kTwoReturns,
       [](FunctionDef& def) {
         def.map_returns([](std::string_view output, std::string_view source) {
           return output == "x" ? "m:y:0" : std::string(source);
         });
       },
       returning("x: DT_FLOAT, y: DT_RESOURCE", "x = m:y:0, y = n:out:0, ^w = n", "w")},
      {"add_control_output", kTwoReturns, [](FunctionDef& def) { def.add_control_output("c", "m"); },
       returning("x: DT_FLOAT, y: DT_RESOURCE", "x = a, y = n:out:0, ^c = m, ^w = n", "wc")},
      {"add_control_outputs", kTwoReturns,
       [](FunctionDef& def) {
         def.add_control_outputs([](std::string_view node) {
           return node == "n" ? std::vector<std::string>{"m", "k"} : std::vector<std::string>();
         });
       },
       returning("x: DT_FLOAT, y: DT_RESOURCE", "x = a, y = n:out:0, ^k = k, ^m = m, ^w = n", "wmk")},
      {"remove_control_outputs", kTwoReturns,
       [](FunctionDef& def) {
         def.remove_control_outputs([](std::string_view node) { return node == "n"; });
       },
       returning("x: DT_FLOAT, y: DT_RESOURCE", "x = a, y = n:out:0", "")},

      {"remove_alternatives",
       "function f() -> () {api_implements: \"g\", api_preferred_device: \"CPU\", "
       "backward_function_name: \"b\", forward_function_name: \"w\", keep: true}\n  return\nend\n",
       [](FunctionDef& def) { def.remove_alternatives(); },
       "function f() -> () {keep: true}\n  return\nend\n"},
  };
  return cases;
}

TEST(FunctionDef, Operations) {
  for (const OperationCase& one : operation_cases()) {
    const std::string before = parsed(one.before);
    Graph body(before, function_field::kNode, std::make_shared<Arena>());
    FunctionDef def(body);
    one.operation(def);
    EXPECT_EQ(printed(def.encode()), one.after) << one.name;
    EXPECT_EQ(printed(def.encode()), one.after) << one.name << ", stored twice";
  }
}

TEST(FunctionDef, MadeOfNothing) {
  Graph body({}, function_field::kNode, std::make_shared<Arena>());
  FunctionDef def(body);
  def.rename("f");
  def.add_argument(arg_def("a", DType::kFloat));
  body.append(NodeBuilder("n", "Neg").input("a").type("T", DType::kFloat).take());
  def.add_output(arg_def("x", DType::kFloat), "n:y:0");
  def.add_control_output("n", "n");
  EXPECT_EQ(printed(def.encode()),
            "function f(a: DT_FLOAT) -> (x: DT_FLOAT) | signature { control_output: \"n\" }\n  n = Neg(a) "
            "{T: DT_FLOAT}\n"
            "  return x = n:y:0, ^n = n\nend\n");
}

TEST(FunctionDef, NamesOfArguments) {
  EXPECT_EQ(argument_name("Dense/kernel:0"), "dense_kernel_0");
  EXPECT_EQ(argument_name("1x"), "t_1x");
  EXPECT_EQ(argument_name(""), "t_");
}

}  // namespace gedit::functions_test
