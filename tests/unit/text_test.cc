// Protobuf text: what TensorFlow writes is written, what TextFormat reads is read, node by node.
#include "model/text.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/wire.h"
#include "refusal.h"
#include "same_message.h"

namespace gedit::text_test {

using google::protobuf::TextFormat;

std::string text_of(Kind kind, std::string_view bytes, bool drop_unknown = false) {
  StringSink sink;
  write_text(kind, bytes, "f.pb", drop_unknown, sink);
  return sink.text;
}

std::string text_of(const tensorflow::GraphDef& graph) {
  return text_of(Kind::kGraphDef, graph.SerializeAsString());
}

tensorflow::GraphDef graph_of(std::string_view text) {
  tensorflow::GraphDef graph;
  EXPECT_TRUE(graph.ParseFromString(parse_text(Kind::kGraphDef, text, "f.pbtxt")));
  return graph;
}

std::string parse_refusal(std::string_view text, Kind kind = Kind::kGraphDef) {
  return refusal([&] { (void)parse_text(kind, text, "f.pbtxt"); });
}

TEST(Text, IsWrittenAsTensorFlowWritesIt) {
  // Printed by TensorFlow 2.21: text_format.MessageToString(graph).
  const std::string wanted = R"(node {
  name: "é"
  op: "Const"
  attr {
    key: "f"
    value {
      f: 1.0
    }
  }
  attr {
    key: "g"
    value {
      list {
        f: 0.1
        f: 10000000000.0
        f: 1e+16
        f: 1e-07
        f: -0.0
        f: nan
        f: inf
        f: 123456790.0
        f: 3.4e+38
        f: 1000000000000000.0
        f: 0.0001
        f: 1e-05
      }
    }
  }
  attr {
    key: "s"
    value {
      s: "\303\251\000\n\'\""
    }
  }
  attr {
    key: "t"
    value {
      tensor {
        double_val: 0.1
        double_val: 1e+16
        double_val: 1000000000000000.0
        double_val: 0.3333333333333333
        double_val: 1e+300
        double_val: -0.0
      }
    }
  }
  attr {
    key: "z"
    value {
      list {
      }
    }
  }
}
library {
}
)";
  tensorflow::GraphDef graph;
  auto& node = *graph.add_node();
  node.set_name("é");
  node.set_op("Const");
  auto& attr = *node.mutable_attr();
  attr["f"].set_f(1.0F);
  for (const float f :
       {0.1F, 1e10F, 1e16F, 1e-7F, -0.0F, NAN, INFINITY, 123456789.0F, 3.4e38F, 1e15F, 1e-4F, 1e-5F})
    attr["g"].mutable_list()->add_f(f);
  attr["s"].set_s(std::string("\303\251\0\n'\"", 6));
  for (const double d : {0.1, 1e16, 1e15, 1.0 / 3, 1e300, -0.0})
    attr["t"].mutable_tensor()->add_double_val(d);
  attr["z"].mutable_list();
  graph.mutable_library();
  EXPECT_EQ(text_of(graph), wanted);
  // NaN aside, the bytes come back: -0.0 with its sign, the empty library.
  attr["g"].mutable_list()->set_f(5, 5);
  EXPECT_EQ(sorted_bytes(graph_of(text_of(graph))), sorted_bytes(graph));
}

TEST(Text, EveryFloatComesBack) {
  tensorflow::GraphDef graph;
  auto& list = *(*graph.add_node()->mutable_attr())["f"].mutable_list();
  for (uint32_t bits = 0; bits < 0x7f800000U; bits += 0x12345U) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    list.add_f(value);
  }
  list.add_f(std::numeric_limits<float>::denorm_min());
  list.add_f(-std::numeric_limits<float>::infinity());
  EXPECT_EQ(sorted_bytes(graph_of(text_of(graph))), sorted_bytes(graph));
  graph.Clear();
  (*graph.add_node()->mutable_attr())["f"].set_f(std::numeric_limits<float>::denorm_min());
  EXPECT_NE(text_of(graph).find("f: 1.4013e-45\n"), std::string::npos) << "as Python writes it";
}

TEST(Text, FieldsInOrderAndMerged) {
  // Library before the nodes, in two parts; versions in two parts; a node after everything.
  std::string bytes;
  append_bytes_field(bytes, 2,
                     std::string("\x12\x06\x0a\x01"
                                 "f\x12\x01"
                                 "g",
                                 8));
  append_bytes_field(bytes, 4, "\x08\x07");
  append_bytes_field(bytes, 1, "\x0a\x01x");
  append_bytes_field(bytes, 2,
                     std::string("\x12\x06\x0a\x01"
                                 "h\x12\x01"
                                 "k",
                                 8));
  append_bytes_field(bytes, 1, "\x0a\x01y");
  append_bytes_field(bytes, 4, "\x10\x05");
  EXPECT_EQ(text_of(Kind::kGraphDef, bytes), R"(node {
  name: "x"
}
node {
  name: "y"
}
library {
  gradient {
    function_name: "f"
    gradient_func: "g"
  }
  gradient {
    function_name: "h"
    gradient_func: "k"
  }
}
versions {
  producer: 7
  min_consumer: 5
}
)");
  EXPECT_EQ(sorted_bytes(Kind::kGraphDef, parse_text(Kind::kGraphDef, text_of(Kind::kGraphDef, bytes), "f")),
            sorted_bytes(Kind::kGraphDef, bytes));
}

TEST(Text, NestsInMetaGraphsAndSavedModels) {
  const std::string text = R"(saved_model_schema_version: 1
meta_graphs {
  meta_info_def {
    tags: "serve"
  }
  graph_def {
    node {
      name: "x"
    }
    versions {
      producer: 5
    }
  }
  collection_def {
    key: "a"
    value {
      node_list {
        value: "x"
      }
    }
  }
  collection_def {
    key: "b"
    value {
      float_list {
        value: 1.0
      }
    }
  }
}
meta_graphs {
  graph_def {
    library {
    }
  }
}
)";
  const std::string bytes = parse_text(Kind::kSavedModel, text, "f");
  EXPECT_EQ(text_of(Kind::kSavedModel, bytes), text);
  EXPECT_EQ(sorted_bytes(Kind::kSavedModel, bytes), sorted_bytes(*whole_file(Kind::kSavedModel, text)));
}

TEST(Text, AcceptsWhatTextFormatAccepts) {
  for (const char* text : {
           "",
           "# only a comment",
           "node { name: \"x\" op: \"y\" } node: { name: 'z' }",
           "node < name: 'x' attr < key: 'a' value < i: 3 > > >",
           "node { name: 'x'; op: 'y', input: 'a'; } ; node { } , versions { producer: 3 },",
           "node: [ { name: 'x' }, { name: 'y' } ] node []",
           "node [ { name: 'x' } # c }\n , < name: 'y' > # d ]\n ]",
           "node { name: 'a' 'b' \"c\" } version: 3",
           "node{name:'\\'}{' op:\"\\\"#\"}# } \nlibrary<function{signature{name:'f'}}>versions{producer:+1}",
           "library { function { node_def { name: 'x' } } function: [{}, {}] gradient [{function_name: 'f'}] "
           "}",
           "versions { producer: 0x10 min_consumer: 010 bad_consumers: [1, 2] } version : -3",
           "node { attr { value { type: DT_INT32 } key: 'T' } attr { key: 'no value' } attr { value { } } }",
           "node { attr { key: 'a' value { list { type: [1, DT_HALF, 130] f: [inf, -inf, nan, 1.0f, -0.0, "
           "1e5] } } } }",
           "node { attr { key: 'a' value { b: t } } attr { key: 'b' value { b: 1 } } attr { key: 'a' value { "
           "b: True } } }",
           "node { attr { key: 's' value { s: '\\001\\x41\\n\\t\\\\\\'\\\"\\a\\u00e9' } } }",
           "debug_info { files: 'a' traces { key: 'k' value { frame_id: 7 } } }",
           "node { name: 'x' } node { bad: 1 }",
           "node { name: 'x' name: 'y' }",
           "versions { } versions { }",
           "library { } library { }",
           "version: 1 version: 2",
           "node { name: 'x' >",
           "node { name: 'x'",
           "node { name: 'x' } }",
           "node { name: 'x }",
           "node { name: 'x\n' }",
           "node: [ { name: 'x' } { name: 'y' } ]",
           "node: [ { name: 'x' }, ]",
           "node: [ , ]",
           "node: [ { name: 'x' }",
           "library: [ { } ]",
           "version: [1]",
           "version",
           "version:",
           "node",
           "node:",
           "node: 3",
           "library: 3",
           "library { nod { } }",
           "Node { }",
           "1 { }",
           "[foo.bar] { }",
           "[foo",
           "node { name: x }",
           "node { \x01 }",
           "\x01",
           "version: 1.5",
           "version: 'a'",
           "version: -",
           "version: 99999999999",
           "node { } garbage",
           "node {{}}",
           "node { [type.googleapis.com/tensorflow.NodeDef] { } }",
           "= {}",
           "node { attr { key: 'a' value { s: '\xff' } } }",
           "version: 3 # c",
           "version: 3; # c",
           "version: 3 ; ; node {}",
           ", node {}",
       }) {
    const auto whole = whole_file(Kind::kGraphDef, text);
    if (whole == nullptr) {
      const std::string said = parse_refusal(text);
      EXPECT_EQ(said.substr(0, 14), "f.pbtxt: line ") << text << ": " << said;
      EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    } else {
      EXPECT_EQ(sorted_bytes(graph_of(text)), sorted_bytes(*whole)) << text;
    }
  }
}

TEST(Text, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(graph_of("\xEF\xBB\xBFnode { name: 'x' }").node(0).name(), "x");
}

TEST(Text, LongListsComeInPieces) {
  std::string listed = "node: [", plain;
  for (int i = 0; i < 5000; ++i) {
    const std::string node = "{ name: \"node_" + std::to_string(i) + "\" op: \"NoOp\" } # ] }\n";
    listed += (i > 0 ? ", " : "") + node;
    plain += "node " + node;
  }
  EXPECT_EQ(sorted_bytes(graph_of(listed + "]")), sorted_bytes(graph_of(plain)));
  EXPECT_EQ(graph_of(plain).node(4999).name(), "node_4999");
  std::string broken = listed;
  broken.replace(broken.find("node_4990"), 9, "node_\\q90");
  EXPECT_EQ(parse_refusal(broken + "]"),
            "f.pbtxt: line 4991: column 18: invalid escape sequence in string literal");
}

TEST(Text, ErrorsTellThePlace) {
  std::string lines;
  for (int i = 0; i < 5000; ++i) lines += "node { name: \"n\" op: \"NoOp\" }\n";
  EXPECT_EQ(
      parse_refusal(lines + "node {\n\top: \"x\"\n\tcalculator: \"y\"\n}\n"),
      "f.pbtxt: line 5003: column 12: message type \"tensorflow.NodeDef\" has no field named \"calculator\"");
  EXPECT_EQ(parse_refusal(lines + "  library { function { signature { nam: 'x' } } }"),
            "f.pbtxt: line 5001: column 39: message type \"tensorflow.OpDef\" has no field named \"nam\"");
  EXPECT_EQ(parse_refusal("node {}\n  foo { }"),
            "f.pbtxt: line 2: column 7: message type \"tensorflow.GraphDef\" has no field named \"foo\"");
  EXPECT_EQ(parse_refusal("library { }\nversions { }\nlibrary { }"),
            "f.pbtxt: line 3: column 1: non-repeated field \"library\" is specified multiple times");
  EXPECT_EQ(parse_refusal("library {\n  function { }\n"), "f.pbtxt: line 1: column 9: no '}' closes this");
  EXPECT_EQ(parse_refusal("library {\n  function { \n"),
            "f.pbtxt: line 2: column 12: nothing closes this '{'");
  EXPECT_EQ(parse_refusal("node { }\n}"), "f.pbtxt: line 2: column 1: '}' closes nothing");
  EXPECT_EQ(parse_refusal("node { name: \"x }\n"),
            "f.pbtxt: line 1: column 14: a string that does not end on its line");
  EXPECT_EQ(parse_refusal("meta_graphs { graph_def { node { name: 3 } } }", Kind::kSavedModel),
            "f.pbtxt: line 1: column 40: expected string, got: 3");
  EXPECT_EQ(parse_refusal("node { name: \"x\" op: \"\\377\" }"), "f.pbtxt: node 'x': op is not valid UTF-8");
}

TEST(Text, DepthIsBounded) {
  const auto nested = [](int levels) {
    std::string open, close;
    for (int i = 0; i < levels; ++i) {
      open += "func { attr { key: 'a' value { ";
      close += "} } }";
    }
    return "node { attr { key: 'a' value { " + open + close + "} } }";
  };
  EXPECT_EQ(graph_of(nested(20)).node_size(), 1);
  EXPECT_NE(parse_refusal(nested(40)).find("too deep"), std::string::npos) << parse_refusal(nested(40));
  EXPECT_NE(parse_refusal(nested(200000)).find("too deep"), std::string::npos);
  EXPECT_NE(parse_refusal(std::string(1000000, '{')), "");
  EXPECT_NE(parse_refusal("node " + std::string(1000000, '{')), "");
  EXPECT_NE(parse_refusal("node { attr " + std::string(300000, '<')), "");

  // The same in binary: 34 * 3 levels.
  std::string value;
  for (int i = 0; i < 34; ++i) {
    std::string entry, func, outer;
    append_bytes_field(entry, 2, value);
    append_bytes_field(func, 2, entry);
    append_bytes_field(outer, 10, func);
    value = outer;
  }
  std::string entry, node, graph;
  append_bytes_field(entry, 2, value);
  append_bytes_field(node, 5, entry);
  append_bytes_field(graph, 1, node);
  EXPECT_NE(refusal([&] { text_of(Kind::kGraphDef, graph); }).find("nested deeper than 100 levels"),
            std::string::npos);
}

TEST(Text, RefusesWhatItCannotHold) {
  const auto refused = [](const std::string& bytes) {
    return refusal([&] { text_of(Kind::kGraphDef, bytes); });
  };
  std::string tensor, value, entry, node, graph;
  append_varint_field(tensor, 99, 1);
  append_bytes_field(value, 8, tensor);
  append_bytes_field(entry, 1, "value");
  append_bytes_field(entry, 2, value);
  append_bytes_field(node, 1, "x");
  append_bytes_field(node, 5, entry);
  append_bytes_field(graph, 1, node);
  EXPECT_EQ(refused(graph),
            "f.pb: text cannot hold field attr[value].value.tensor.99 of node 'x'; hint: --drop-unknown");
  EXPECT_EQ(text_of(Kind::kGraphDef, graph, true),
            "node {\n  name: \"x\"\n  attr {\n    key: \"value\"\n    value {\n      tensor {\n      }\n    "
            "}\n  }\n}\n");

  std::string function, signature, library, outer;
  append_bytes_field(signature, 1, "f");
  append_bytes_field(function, 1, signature);
  append_bytes_field(function, 3, node);
  append_bytes_field(library, 1, function);
  append_bytes_field(outer, 2, library);
  EXPECT_NE(refused(outer).find(".99 of node 'x' in function 'f'; hint"), std::string::npos)
      << refused(outer);

  std::string top;
  append_varint_field(top, 3, 1);
  append_bytes_field(top, 77, "new");
  append_bytes_field(top, 3, "the wrong wire type");
  EXPECT_EQ(refused(top), "f.pb: text cannot hold field 77 of GraphDef; hint: --drop-unknown");
  EXPECT_EQ(text_of(Kind::kGraphDef, top, true), "version: 1\n");

  std::string odd, odd_graph;
  append_bytes_field(odd, 1, "x");
  append_bytes_field(odd, 2, "\xff");
  append_bytes_field(odd_graph, 1, odd);
  EXPECT_EQ(refused(odd_graph),
            "f.pb: node 'x': op is not valid UTF-8, which text cannot hold; hint: -f gtxt keeps it");

  const std::string cut = graph.substr(0, graph.size() - 1);
  EXPECT_EQ(refused(cut).substr(0, 20), "f.pb: byte 0: record") << refused(cut);
  std::string bad_inside;
  append_bytes_field(bad_inside, 1, "\x0a\x05x");
  EXPECT_EQ(refused(bad_inside), "f.pb: byte 2: record is 5 bytes long, 1 remain");
}

TEST(Text, AnyIsKeptByteForByte) {
  tensorflow::MetaGraphDef meta;
  auto& any = *(*meta.mutable_collection_def())["a"].mutable_any_list()->add_value();
  any.set_type_url("type.googleapis.com/tensorflow.AssetFileDef");
  any.set_value(std::string("\x12\x01x\xf8\x7f\x01", 6));  // an unknown field in it
  const std::string bytes = meta.SerializeAsString();
  EXPECT_EQ(parse_text(Kind::kMetaGraphDef, text_of(Kind::kMetaGraphDef, bytes), "f"), bytes);
  const std::string expanded = parse_text(
      Kind::kMetaGraphDef,
      "meta_info_def { any_info { [type.googleapis.com/tensorflow.AssetFileDef] { filename: 'x' } } }", "f");
  ASSERT_TRUE(meta.ParseFromString(expanded));
  EXPECT_EQ(meta.meta_info_def().any_info().value(), "\x12\x01x");
}

class Full final : public Sink {
 public:
  void write(std::string_view /*bytes*/) override { throw Error(Cause::kWrite, "no space left"); }
};

TEST(Text, AFullDiskIsReported) {
  tensorflow::GraphDef graph;
  for (int i = 0; i < 10000; ++i) graph.add_node()->set_name("a name that fills the buffer");
  Full full;
  EXPECT_EQ(refusal([&] { write_text(Kind::kGraphDef, graph.SerializeAsString(), "f", false, full); }),
            "f: no space left");
}

}  // namespace gedit::text_test
