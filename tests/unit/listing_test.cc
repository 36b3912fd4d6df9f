// The listing: every form of its grammar, every refusal, and its two laws over real files.
#include "model/listing.h"

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "corpus_files.h"
#include "graph/listing.h"
#include "graph/scanner.h"
#include "meta_graph.pb.h"
#include "model/detect.h"
#include "model/tensor_index.h"
#include "refusal.h"
#include "same_message.h"

namespace gedit::listing_test {

std::string listed(Kind kind, std::string_view message, bool full) {
  StringSink sink;
  print_listing(kind, message, full, sink);
  return sink.text;
}

std::string relisted(const std::string& text) {
  const ParsedListing parsed = parse_listing(text, "t.gtxt", nullptr);
  return listed(parsed.kind, parsed.message, false);
}

std::string parse_refusal(const std::string& text) {
  return refusal([&] { parse_listing(text, "t.gtxt", nullptr); });
}

std::string value_of(const std::string& text) {
  Scanner scanner(text);
  const std::string value = parse_attr_value(scanner);
  EXPECT_TRUE(scanner.at_end()) << text;
  std::string out;
  print_attr_value(out, value, false);
  return out;
}

std::string node_of(const tensorflow::NodeDef& node, bool full = false) {
  std::string out;
  print_node(out, node.SerializeAsString(), full);
  return out;
}

// --- forms ---

constexpr std::string_view kExamples = R"(x = Placeholder() {dtype: DT_FLOAT, shape: [?,4]}
split = Split(axis, x) @ /device:GPU:0 {T: DT_FLOAT, num_split: 2}
y = Add(split:1, x, ^init, ^save/restore_all) {T: DT_FLOAT, _class: list("loc:@x")} | experimental_type { type_id: TFT_TENSOR }
conv = Conv2D(x, w) {T: DT_HALF, data_format: "NHWC", dilations: list(1,1,1,1), padding: "SAME", strides: list(1,2,2,1), use_cudnn_on_gpu: true}
w = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [2,2], content(0.5, -1.0, 0.0, 3.0))}
ones = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [1000], 1.0)}
keys = Const() {dtype: DT_STRING, value: tensor(DT_STRING [2], "w", "b/Adam")}
call = StatefulPartitionedCall(x, w) {Tin: list(DT_FLOAT, DT_RESOURCE), Tout: list(DT_FLOAT), f: func __inference_call_12}
case = Case(k, x) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), branches: list(func b0 {N: 2}, func b1), output_shapes: list([?], [*])}
odd = Op() {a: [], b: list(), c: list([]), d: unset, e: placeholder "T", f: nan, g: -1, h: "caf\xe9", i: list("a", "b"), t: DT_134}
"bad name" = ""("in put:0")
versions = NoOp()
"" = Op(a:b:0, ^"b c", "a:b", "a:b:c", ^"^x", a:0, "") @ "a device"
dims = Op() {k: ["batch"=?,"\n"=3,0,-2], u: ["x"=?]}
versions { producer: 134 min_consumer: 12 }
version 7
function twice(x: DT_FLOAT, w: DT_RESOURCE) -> (y: DT_FLOAT) {_noinline: true} | signature { is_stateful: true }
  read = ReadVariableOp(w) {dtype: DT_FLOAT}
  mul = Mul(x, read:value:0) {T: DT_FLOAT}
  return y = mul:z:0, ^done = read
end
function args(v: DT_FLOAT&, a: T, b: N*T, c: *Tin, d: N*DT_INT32, e: T&, f: "DT_FLOAT", g: DT_INVALID) -> () | signature { input_arg { } input_arg { description: "d" } input_arg { is_ref: true } input_arg { } input_arg { } input_arg { } input_arg { } input_arg { type_list_attr: "U" type_attr: "T" } attr { name: "T" type: "type" } control_output: "c" } arg_attr { key: 0 value { attr { key: "_output_shapes" value { list { } } } } } resource_arg_unique_id { key: 1 value: 5 }
  return = Identity(v)
  end = NoOp()
  return
end
gradient twice = twice_grad
registered_gradient MyOp = my_grad
)";

TEST(Listing, ExamplesReadBack) {
  const std::string text(kExamples);
  const std::string unordered = "input_arg { type_list_attr: \"U\" type_attr: \"T\" }";
  std::string sorted = text;
  sorted.replace(sorted.find(unordered), unordered.size(),
                 "input_arg { type_attr: \"T\" type_list_attr: \"U\" }");
  EXPECT_EQ(relisted(text), sorted);
  EXPECT_EQ(relisted(sorted), sorted);
}

TEST(Listing, MetaGraphsAndSavedModels) {
  const std::string meta =
      R"(metagraph { tags: "serve" tensorflow_version: "1.15.5" stripped_default_attrs: true }
op_list { name: "Add" input_arg { name: "x" type_attr: "T" } }
x = Placeholder() {dtype: DT_FLOAT}
library {}
saver { filename_tensor_name: "save/Const:0" version: V2 }
collection variables VariableDef { variable_name: "v:0" initializer_name: "v/Assign" trainable: true }
collection variables bytes "\xff"
collection train_op node train
collection losses node loss:0
collection losses node "a b"
collection user int 7
collection user int -1
collection rate float 0.5
collection rate float nan(0x7fc00123)
collection blob bytes "\x00\xff"
collection none unset
collection empty node
collection saved_model_assets any type_url: "type.googleapis.com/tensorflow.AssetFileDef" value: "\n\000"
collection saved_model_assets any raw ""
collection while_context WhileContextDef { context_name: "w" back_prop: true }
signature serving_default { inputs { key: "x" value { name: "x:0" dtype: DT_FLOAT tensor_shape { dim { size: -1 } } } } }
signature "a b" {}
asset { tensor_info { name: "asset:0" } filename: "vocab.txt" }
object 0 { children { node_id: 1 local_name: "w" } user_object { identifier: "_generic_user_object" } }
object 1 {}
concrete_function f { bound_inputs: 1 }
raw meta_graph "\xa2\x06\x01x"
)";
  EXPECT_EQ(relisted(meta), meta);
  EXPECT_EQ(parse_listing(meta, "", nullptr).kind, Kind::kMetaGraphDef);
  const std::string saved =
      "saved_model { saved_model_schema_version: 1 }\n" + meta + "metagraph\nmetagraph {}\n" +
      "raw stripped_op_list \"\"\nraw graph_def \"\"\nraw object_graph_def \"\"\n" + meta;
  EXPECT_EQ(relisted(saved), saved);
  EXPECT_EQ(parse_listing(saved, "", nullptr).kind, Kind::kSavedModel);
  EXPECT_EQ(relisted("saved_model { raw \"\\xa2\\x06\\x01x\" }\n"),
            "saved_model { raw \"\\xa2\\x06\\x01x\" }\n");
  EXPECT_EQ(relisted(""), "");
}

TEST(Listing, Values) {
  for (const std::string_view text :
       {"3",
        "-9223372036854775808",
        "9223372036854775807",
        "3.0",
        "-0.0",
        "0.0",
        "inf",
        "-inf",
        "nan",
        "nan(0x7fc00123)",
        "nan(0xffc00000)",
        "nan(0x7f800001)",
        "1e-45",
        "3.4028235e+38",
        "0.1",
        "1e+10",
        "\"\"",
        "\"\\\"\\\\\\n\\t\\r\\x00\\x7f\"",
        "\"caf\xc3\xa9\"",
        "true",
        "false",
        "DT_INVALID",
        "DT_FLOAT_REF",
        "DT_-5",
        "[]",
        "[*]",
        "[1,?,0]",
        "list()",
        "list(1,2)",
        "list(1.0, nan)",
        "list(true, false)",
        "list(DT_FLOAT)",
        "list([], [*])",
        "list(\"a\", \"\")",
        "list(tensor(DT_FLOAT [], 1.0))",
        "list(func f {a: list(func g {b: unset})}, func \"a b\")",
        "func f",
        "placeholder \"\\xff\"",
        "unset",
        "raw \"\\x1a\\x01a\\x12\\x00\"",
        "tensor(DT_FLOAT [])",
        "tensor(DT_FLOAT)",
        "tensor(DT_INVALID [])",
        "tensor(DT_FLOAT [2], 1.0, nan(0x7fc00001))",
        "tensor(DT_DOUBLE [1], nan(0x7ff8000000000001))",
        "tensor(DT_DOUBLE [1], 0.1)",
        "tensor(DT_HALF [3], 0.5, nan(0x7e01), inf)",
        "tensor(DT_BFLOAT16 [1], -1.5)",
        "tensor(DT_INT32 [2], -1, 2147483647)",
        "tensor(DT_UINT8 [1], 255)",
        "tensor(DT_INT64 [1], -1)",
        "tensor(DT_UINT32 [1], 4294967295)",
        "tensor(DT_UINT64 [1], 18446744073709551615)",
        "tensor(DT_BOOL [2], true, false)",
        "tensor(DT_COMPLEX64 [1], 1.0, -2.0)",
        "tensor(DT_COMPLEX128 [1], 1.0, -2.0)",
        "tensor(DT_STRING [2], \"\", \"\\xff\")",
        "tensor(DT_FLOAT [2], content(1.0, -0.0))",
        "tensor(DT_INT8 [2], content(-128, 127))",
        "tensor(DT_UINT8 [2], content(0, 255))",
        "tensor(DT_INT16 [1], content(-2))",
        "tensor(DT_BOOL [1], content(true))",
        "tensor(DT_HALF [2], content(6.1035156e-05, 65504.0))",
        "tensor(DT_BFLOAT16 [1], content(3.390625))",
        "tensor(DT_INT4 [2], content(-8, 7))",
        "tensor(DT_UINT64 [1], content(18446744073709551615))",
        "tensor(DT_COMPLEX64 [1], content(1.0, 2.0))",
        "tensor(DT_STRING [1], base64 \"AAE=\")",
        "tensor(DT_FLOAT [1], base64 \"AQCAfw==\")",
        "tensor(DT_BOOL [1], base64 \"Ag==\")",
        "tensor(DT_FLOAT8_E5M2 [1] | float8_val: \"8\")",
        "tensor(DT_FLOAT [1], 1.0 | version_number: 3)",
        "tensor(DT_FLOAT [1] | int_val: 7)",
        "tensor(DT_HALF [1] | half_val: 70000)",
        "tensor(DT_FLOAT [1], content(1.0) | float_val: 2)",
        "tensor(DT_RESOURCE [] | resource_handle_val { name: \"v\" })",
        "tensor(DT_FLOAT | tensor_shape { dim { size: 1 } unknown_rank: true })",
        "tensor(DT_VARIANT [] | variant_val { type_name: \"(})\" metadata: \"\\001\" })",
        "tensor(DT_FLOAT [1] | raw \"\\xa2\\x06\\x01x\")"}) {
    EXPECT_EQ(value_of(std::string(text)), text);
  }
}

TEST(Listing, ValuesReadInOtherFormsToo) {
  const std::map<std::string, std::string> table{
      {"1.", "1.0"},
      {"1E3", "1000.0"},
      {"1e+3", "1000.0"},
      {"0.10000000149011612", "0.1"},
      {"  list( 1 , 2 )", "list(1,2)"},
      {"\"\\343\\'\"", "\"\\xe3'\""},
      {"\"\\303\\251\"", "\"\xc3\xa9\""},
      {"tensor(DT_FLOAT [2], 1, 2)", "tensor(DT_FLOAT [2], 1.0, 2.0)"},
      {"list(\\\n 1, \\\r\n 2)", "list(1,2)"},
      {"raw \"\\x18\\x05\"", "5"},
      {"raw \"\"", "unset"},
      {"func f {}", "func f"},
      {"[ 1 , \"n\" = ? ]", "[1,\"n\"=?]"},
      {"DT_130", "DT_UINT4_REF"},
      {"tensor(DT_FLOAT [1] | tensor_shape { dim { size: 2 } })",
       "tensor(DT_FLOAT [1,2])"},  // as protobuf merges
  };
  for (const auto& [text, printed] : table) {
    EXPECT_EQ(value_of(text), printed);
  }
}

TEST(Listing, CommentsJoinsAndLineEnds) {
  EXPECT_EQ(relisted("\xef\xbb\xbf# all\n\n  a = B(c, \\\n d) # e\r\n\r\n\"#\" = X()\\\n"),
            "a = B(c, d)\n\"#\" = X()\n");
  EXPECT_EQ(relisted("a = B() | experimental_type { \\\n type_id: TFT_TENSOR } # c"),
            "a = B() | experimental_type { type_id: TFT_TENSOR }\n");
}

TEST(Listing, UnusualMessagesSurvive) {
  tensorflow::NodeDef node;
  node.set_name("n");
  node.set_op("Op");
  node.GetReflection()->MutableUnknownFields(&node)->AddVarint(100, 1);
  EXPECT_EQ(node_of(node), "n = Op() | raw \"\\xa0\\x06\\x01\"");
  node.mutable_experimental_type()->set_type_id(tensorflow::TFT_ARRAY);
  EXPECT_EQ(node_of(node), "n = Op() | raw \":\\x03\\x08\\xe9\\x07\\xa0\\x06\\x01\"");
  tensorflow::AttrValue value;
  value.mutable_list()->add_i(1);
  value.mutable_list()->add_s("a");
  std::string out;
  print_attr_value(out, value.SerializeAsString(), false);
  EXPECT_EQ(out, "raw \"\\n\\x06\\x12\\x01a\\x1a\\x01\\x01\"");
  // The last of two entries with one key counts; packed and unpacked numbers read the same.
  out.clear();
  print_node(out,
             std::string_view("\x0a\x01n\x2a\x07\x0a\x01"
                              "a\x12\x02\x18\x01\x2a\x0b\x0a\x01"
                              "a\x12\x06\x0a\x04\x18\x05\x18\x06",
                              25),
             false);
  EXPECT_EQ(out, "n = \"\"() {a: list(5,6)}");
}

TEST(Listing, BigTensorsAreElided) {
  tensorflow::NodeDef node;
  node.set_name("w");
  node.set_op("Const");
  tensorflow::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
  tensor.set_dtype(tensorflow::DT_FLOAT);
  tensor.mutable_tensor_shape()->add_dim()->set_size(65);
  tensor.set_tensor_content(std::string(65 * 4, '\0'));
  EXPECT_EQ(node_of(node), "w = Const() {value: tensor(DT_FLOAT [65], <260 bytes, crc32c ecf39e09>)}");
  EXPECT_NE(node_of(node, true).find("base64 \"AAAA"), std::string::npos);
  tensor.set_tensor_content(std::string(64 * 4, '\0'));
  EXPECT_NE(node_of(node).find("content(0.0, "), std::string::npos);
  tensor.clear_tensor_content();
  for (int i = 0; i < 65; ++i) tensor.add_float_val(static_cast<float>(i));
  EXPECT_NE(node_of(node).find("<260 bytes, crc32c "), std::string::npos);
  EXPECT_NE(node_of(node, true).find("63.0, 64.0)"), std::string::npos);
  tensor.clear_float_val();
  tensor.set_dtype(tensorflow::DT_STRING);
  tensor.add_string_val(std::string(2000, 'x'));
  tensor.add_string_val("y");

  // Found again by type, length and checksum, whatever the node is called by then.
  tensorflow::GraphDef graph;
  *graph.add_node() = node;
  const std::string bytes = graph.SerializeAsString();
  TensorIndex index;
  index.add(Kind::kGraphDef, bytes);
  const std::string text = listed(Kind::kGraphDef, bytes, false);
  EXPECT_EQ(parse_listing(text, "", &index).message, bytes);
  EXPECT_EQ(parse_refusal(text),
            "t.gtxt: line 1: tensor of 'w' is elided; hint: --tensors-from FILE, or gedit list --full");
  std::string other = text;
  other.replace(other.find("crc32c "), 9, "crc32c 00");
  EXPECT_THROW(parse_listing(other, "", &index), Error);
}

TEST(Listing, ValuesNestAHundredDeep) {
  std::string text = "1";
  for (int i = 0; i < 100; ++i) text = "func f {a: " + text + "}";
  EXPECT_EQ(value_of(text), text);
  EXPECT_THROW(value_of("func f {a: " + text + "}"), Error);
  std::string lists = "list(func f)";
  for (int i = 0; i < 40; ++i) lists = "list(func f {a: " + lists + "})";
  EXPECT_EQ(value_of(lists), lists);
  // Deeper ones are still listed, and come back.
  Scanner scanner(text);
  std::string value = parse_attr_value(scanner);
  for (int i = 0; i < 50; ++i) {
    tensorflow::AttrValue outer;
    outer.mutable_func()->set_name("f");
    std::string func = outer.func().SerializeAsString();
    const auto field = [](char tag, const std::string& content) {
      std::string record(1, tag);
      for (size_t size = content.size(); size >= 128; size >>= 7) record += static_cast<char>(size | 128);
      size_t size = content.size();
      while (size >= 128) size >>= 7;
      return record + static_cast<char>(size) + content;
    };
    const std::string entry =
        "\x0a\x01"
        "a" +
        field('\x12', value);
    value = field('\x52', func + field('\x12', entry));
  }
  std::string printed;
  print_attr_value(printed, value, false);
  EXPECT_EQ(value_of(printed), printed);
  std::string bracket = "tensor(DT_VARIANT [] | ";
  for (int i = 0; i < 100000; ++i) bracket += "variant_val { tensors { ";
  EXPECT_THROW(value_of(bracket), Error);
}

// --- refusals ---

TEST(Listing, Refusals) {
  const std::map<std::string, std::string> table{
      {"a", "line 1: column 1: statement 'a': no such statement, and no node without '='"},
      {"colection a node b",
       "line 1: column 1: statement 'colection': no such statement, and no node without '='; "
       "hint: did you mean 'collection'?"},
      {"a =", "line 1: column 4: expected an op, found the end of the text"},
      {"\na = \n", "line 2: column 5: expected an op, found the end of the line"},
      {"a = B", "line 1: column 6: expected '(', found the end of the text"},
      {"a = B(c", "line 1: column 8: expected ')', found the end of the text"},
      {"a = B(c,)", "line 1: column 9: expected an input, found ')'"},
      {"a = B(c:)", "line 1: column 9: expected a port, found ')'"},
      {"a = B() x", "line 1: column 9: expected the end of the line, found 'x'"},
      {"a = B() @ {}", "line 1: column 11: expected a device, found '{'"},
      {"a = B() {x: 1, x: 2}", "line 1: column 16: key 'x' is given twice"},
      {"a = B() {y: 1, x: 2, y: 3}", "line 1: column 22: key 'y' is given twice"},
      {"a = B() {x}", "line 1: column 11: expected ':', found '}'"},
      {"a = B() {x: }", "line 1: column 13: expected a value, found '}'"},
      {"a = B() {x: foo}", "line 1: column 13: expected a value, found 'foo'"},
      {"a = B() {x: 1", "line 1: column 14: expected '}', found the end of the text"},
      {"a = B() {x: 99999999999999999999}", "line 1: column 13: integer out of range"},
      {"a = B() {x: 1-2}", "line 1: column 13: integer out of range"},
      {"a = B() {x: 1e999}", "line 1: column 13: number out of range"},
      {"a = B() {x: 1.2.3}", "line 1: column 13: not a number"},
      {"a = B() {x: nan(0x7f800000)}", "line 1: column 13: these are not the bits of a nan of this type"},
      {"a = B() {x: nan(0x)}", "line 1: column 13: these are not the bits of a nan of this type"},
      {"a = B() {x: DT_FLOTA}", "line 1: column 13: type 'DT_FLOTA': no such type"},
      {"a = B() {x: \"abc}", "line 1: column 13: no closing quote on this line"},
      {"a = B() {x: \"\\q\"}", "line 1: column 14: no such escape sequence in a quoted string"},
      {"a = B() {x: \"\\x1\"}", "line 1: column 14: \\x needs two hexadecimal digits"},
      {"a = B() {x: \"\\777\"}", "line 1: column 14: \\ooo is past 377"},
      {"a = B() {x: \"\xff\"}", "line 1: column 14: not UTF-8 (other bytes are written \\xhh)"},
      {"a = B() {x: list(1, 2.0)}", "line 1: column 21: a list holds values of one kind"},
      {"a = B() {x: list(unset)}", "line 1: column 18: expected a value, found 'unset'"},
      {"a = B() {x: [1,]}", "line 1: column 16: expected an integer, found ']'"},
      {"a = B() {x: [*,1]}", "line 1: column 15: expected ']', found ','"},
      {"a = B() {x: raw \"\\x08\"}",
       "line 1: column 13: not a protobuf message (a number is cut off or too long)"},
      {"a = B() {x: tensor(DT_NO [])}", "line 1: column 20: no such type"},
      {"a = B() {x: tensor(DT_INT32 [], 1.5)}", "line 1: column 33: not an integer"},
      {"a = B() {x: tensor(DT_INT32 [], 3000000000)}", "line 1: column 33: integer out of range"},
      {"a = B() {x: tensor(DT_UINT8 [], content(256))}", "line 1: column 41: integer out of range"},
      {"a = B() {x: tensor(DT_BOOL [], 1)}", "line 1: column 32: expected true or false, found '1'"},
      {"a = B() {x: tensor(DT_STRING [], content(\"a\"))}",
       "line 1: column 42: DT_STRING has no elements that can be written here"},
      {"a = B() {x: tensor(DT_RESOURCE [], 1)}",
       "line 1: column 36: DT_RESOURCE has no elements that can be written here"},
      {"a = B() {x: tensor(DT_FLOAT [], base64 \"A\")}", "line 1: column 33: not base64"},
      {"a = B() {x: tensor(DT_FLOAT [], <4 bytes, crc32c 1>)}",
       "line 1: column 33: the crc32c is not eight hexadecimal digits"},
      {"a = B() {x: tensor(DT_FLOAT [] | foo: 1)}",
       "line 1: column 37: message type \"tensorflow.TensorProto\" has no field named \"foo\""},
      {"a = B() | name: \"\\377\"", "line 1: column 11: a string in this text is not UTF-8"},
      {"versions { producer: 1", "line 1: column 12: a bracket in this text is not closed on its line"},
      {"versions { producer: \"1 }", "line 1: column 12: a quote in this text is not closed on its line"},
      {"versions { raw \"\\x08\" }",
       "line 1: column 12: not a protobuf message (a number is cut off or too long)"},
      {"saver {}", "line 1: column 1: this statement needs a 'metagraph' line before it"},
      {"a = B()\nmetagraph {}", "line 2: column 1: 'metagraph' stands before what it holds"},
      {"metagraph\nmetagraph",
       "line 2: column 1: a second MetaGraphDef needs a 'saved_model' line before both"},
      {"metagraph\nsaved_model {}", "line 2: column 1: 'saved_model' can only be the first line"},
      {"saved_model {}\na = B()", "line 2: column 1: this statement needs a 'metagraph' line before it"},
      {"metagraph\nsignature a {}\nsignature a {}", "line 3: column 1: signature 'a' is given twice"},
      {"metagraph\nobject 1 {}", "line 2: column 8: objects are numbered from 0: this one is 0"},
      {"metagraph\ncollection a node b\ncollection a int 1",
       "line 3: column 14: items of this collection are of kind node"},
      {"metagraph\ncollection a foo", "line 2: column 14: kind 'foo': no such kind of collection item"},
      {"raw nowhere \"\"", "line 1: column 5: message 'nowhere': no such message"},
      {"raw graph_def \"\\x08\"",
       "line 1: column 14: not a protobuf message (a number is cut off or too long)"},
      {"function f() -> ()\n", "line 2: column 1: a function has no end"},
      {"function f() -> ()\nreturn\n",
       "line 3: column 1: expected the end of the function, found the end of the text"},
      {"function f() () ", "line 1: column 14: expected '->', found '('"},
      {"function f(a: T) -> () | signature { input_arg {} input_arg {} }\nreturn\nend",
       "line 1: column 26: the signature behind '|' has 2 arguments where the function has 1"},
      {"function f() -> ()\nreturn a = b, a = c\nend", "line 2: column 15: output 'a' is given twice"},
      {"a = \xc3\xa9", "line 1: column 5: expected an op, found '\xc3\xa9'"},
      {std::string("a = \0", 5), "line 1: column 5: expected an op, found '\\000'"},
  };
  for (const auto& [text, message] : table) EXPECT_EQ(parse_refusal(text), "t.gtxt: " + message) << text;
}

// --- laws over real files ---

// Which of the three a real file is, if any: what it holds must have been written by that message.
std::optional<Kind> kind_of(std::string_view bytes) {
  tensorflow::SavedModel saved;
  const int size = static_cast<int>(bytes.size());
  if (saved.ParseFromArray(bytes.data(), size) && saved.saved_model_schema_version() == 1) {
    return Kind::kSavedModel;
  }
  tensorflow::MetaGraphDef meta;
  if (meta.ParseFromArray(bytes.data(), size) && meta.graph_def().node_size() > 0 &&
      !meta.graph_def().node(0).op().empty()) {
    return Kind::kMetaGraphDef;
  }
  tensorflow::GraphDef graph;
  if (graph.ParseFromArray(bytes.data(), size) && graph.node_size() > 0 && !graph.node(0).op().empty()) {
    return Kind::kGraphDef;
  }
  return std::nullopt;
}

TEST(ListingLaws, HoldOverRealFiles) {
  std::map<Kind, size_t> seen;
  google::protobuf::LogSilencer quiet;
  for (const std::string& path : corpus_files()) {
    if (!path.ends_with(".pb") && !path.ends_with(".meta")) continue;
    const auto file = InputFile::open(path);
    const std::optional<Kind> kind = kind_of(file->bytes());
    if (!kind) continue;
    SCOPED_TRACE(path);
    ++seen[*kind];
    const std::string full = listed(*kind, file->bytes(), true);
    const Detected detected = detect(full, "f");
    EXPECT_EQ(detected.kind, *kind);
    EXPECT_EQ(detected.format, Format::kListing);
    const ParsedListing again = parse_listing(full, path, nullptr);
    ASSERT_EQ(again.kind, *kind);
    EXPECT_TRUE(listed(*kind, again.message, true) == full);
    EXPECT_TRUE(sorted_bytes(*kind, again.message) == sorted_bytes(*kind, file->bytes()));

    TensorIndex tensors;
    tensors.add(*kind, file->bytes());
    const std::string elided = listed(*kind, file->bytes(), false);
    const ParsedListing restored = parse_listing(elided, path, &tensors);
    EXPECT_TRUE(listed(*kind, restored.message, false) == elided);
    EXPECT_TRUE(sorted_bytes(*kind, restored.message) == sorted_bytes(*kind, file->bytes()));
    EXPECT_EQ(elided.find("raw "), std::string::npos) << elided.substr(elided.find("raw ") - 200, 400);
  }
  std::cout << "real files: " << seen[Kind::kGraphDef] << " GraphDefs, " << seen[Kind::kMetaGraphDef]
            << " MetaGraphDefs, " << seen[Kind::kSavedModel] << " SavedModels\n";
}

}  // namespace gedit::listing_test
