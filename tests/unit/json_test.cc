// Protobuf JSON: one node a line, and whatever protobuf's own reader takes.
#include "model/json.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/wire.h"
#include "corpus_files.h"
#include "model/detect.h"
#include "refusal.h"
#include "same_message.h"

namespace gedit::json_test {

std::string json_of(Kind kind, std::string_view bytes, bool drop_unknown = false) {
  StringSink sink;
  write_json(kind, bytes, "f.pb", drop_unknown, sink);
  return sink.text;
}

tensorflow::GraphDef graph_of(std::string_view json) {
  tensorflow::GraphDef graph;
  EXPECT_TRUE(graph.ParseFromString(parse_json(Kind::kGraphDef, json, "f.json")));
  return graph;
}

std::string parse_refusal(std::string_view json, Kind kind = Kind::kGraphDef) {
  return refusal([&] { (void)parse_json(kind, json, "f.json"); });
}

TEST(Json, OneNodeALine) {
  tensorflow::SavedModel saved;
  saved.set_saved_model_schema_version(1);
  auto& meta = *saved.add_meta_graphs();
  meta.mutable_meta_info_def()->add_tags("serve");
  auto& graph = *meta.mutable_graph_def();
  auto& x = *graph.add_node();
  x.set_name("x");
  x.set_op("Const");
  (*x.mutable_attr())["value"].mutable_tensor()->set_tensor_content("abc");
  (*x.mutable_attr())["dtype"].set_type(tensorflow::DT_FLOAT);
  graph.add_node()->set_name("a \"b\", {c} [d] \\ -0");
  graph.mutable_library();
  graph.mutable_versions()->set_producer(5);
  (*meta.mutable_collection_def())["b"].mutable_int64_list()->add_value(-7);
  (*meta.mutable_collection_def())["a:}"].mutable_float_list()->add_value(-0.0F);
  saved.add_meta_graphs();
  const std::string json = json_of(Kind::kSavedModel, saved.SerializeAsString());
  EXPECT_EQ(json, R"({
 "saved_model_schema_version": "1",
 "meta_graphs": [
  {
   "meta_info_def": {"tags":["serve"]},
   "graph_def": {
    "node": [
     {"name":"x","op":"Const","attr":{"dtype":{"type":"DT_FLOAT"},"value":{"tensor":{"tensor_content":"YWJj"}}}},
     {"name":"a \"b\", {c} [d] \\ -0"}
    ],
    "library": {},
    "versions": {"producer":5}
   },
   "collection_def": {
    "a:}":{"float_list":{"value":[-0.0]}},
    "b":{"int64_list":{"value":["-7"]}}
   }
  },
  {}
 ]
}
)");
  EXPECT_EQ(sorted_bytes(Kind::kSavedModel, parse_json(Kind::kSavedModel, json, "f")), sorted_bytes(saved));
  EXPECT_EQ(json_of(Kind::kGraphDef, ""), "{}\n");
}

TEST(Json, FloatsKeepTheirSign) {
  tensorflow::GraphDef graph;
  auto& attr = *graph.add_node()->mutable_attr();
  attr["f"].set_f(-0.0F);
  for (const float f : {0.1F, 1e10F, -1e-7F, 3.4e38F, 1e-45F, -0.0F, INFINITY, -INFINITY})
    attr["g"].mutable_list()->add_f(f);
  for (const double d : {-0.0, 0.1, 1e300, 1.0 / 3}) attr["t"].mutable_tensor()->add_double_val(d);
  attr["i"].set_i(INT64_MIN);
  const std::string json = json_of(Kind::kGraphDef, graph.SerializeAsString());
  EXPECT_EQ(sorted_bytes(graph_of(json)), sorted_bytes(graph)) << json;
  // Written by others: `-0` is a float there, too.
  EXPECT_TRUE(std::signbit(graph_of(R"({"node":[{"attr":{"f":{"f":-0}}}]})").node(0).attr().at("f").f()));
  EXPECT_TRUE(std::isnan(graph_of(R"({"node":[{"attr":{"f":{"f":"NaN"}}}]})").node(0).attr().at("f").f()));
}

TEST(Json, ReadsWhatProtobufReads) {
  for (
      const char* json : {
          R"({})",
          R"({"node":[]})",
          R"( { "node" : [ { "name" : "x" } , { "name" : "y", "input": ["x", "^x"] } ] , "versions" : null } )",
          R"({"node":null,"library":null})",
          R"({"debugInfo":{"files":["a"]},"version":3})",
          R"({"debug_info":{"files":["a"]},"version":"3"})",
          R"({"library":{"function":[{"signature":{"name":"f"},"nodeDef":[{"name":"x"}]},{"node_def":[]}],)"
          R"("registeredGradients":[{"gradientFunc":"g"}]}})",
          R"({"node":[{"attr":{"a":{"tensor":{"dtype":1,"tensorContent":"AAEC","intVal":[1,2]}},"b":{"type":130}}}]})",
          R"({"node":[{"name":"\u00e9\n\"}{[]"}]})",
          "{\"node\":[{\"name\":\"]}\"}],\n\"versions\":{\"producer\":5,\"bad_consumers\":[1,2]}}",
      }) {
    tensorflow::GraphDef whole;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &whole).ok()) << json;
    EXPECT_EQ(sorted_bytes(graph_of(json)), sorted_bytes(whole)) << json;
  }
  EXPECT_EQ(graph_of("\xEF\xBB\xBF{\"node\":[{\"name\":\"x\"}]}").node(0).name(), "x");
}

TEST(Json, ErrorsTellThePlace) {
  std::string lines = "{\"node\": [\n";
  for (int i = 0; i < 5000; ++i) lines += " {\"name\": \"n\", \"op\": \"NoOp\"},\n";
  EXPECT_EQ(parse_refusal(lines + "  {\"name\": \"x\", \"calculator\": 3}]}"),
            "f.json: line 5002: column 17: 'calculator' is no field of NodeDef");
  EXPECT_EQ(parse_refusal(lines + "  {\"name\": \"x\", \"op\" 3}]}"),
            "f.json: line 5002: column 22: expected ':'");
  EXPECT_EQ(parse_refusal("{\"nodes\": []}"), "f.json: line 1: column 2: 'nodes' is no field of GraphDef");
  EXPECT_EQ(parse_refusal("{\n\"versions\": {},\n\"versions\": {}}"),
            "f.json: line 3: column 1: 'versions' is given twice");
  EXPECT_EQ(parse_refusal("{\"graph_def\": {}, \"graphDef\": {}}", Kind::kMetaGraphDef),
            "f.json: line 1: column 19: 'graph_def' is given twice");
  EXPECT_EQ(parse_refusal("{\"node\": [{}"), "f.json: line 1: column 13: expected ',' or ']', found the end");
  EXPECT_EQ(parse_refusal("{\"node\": [{\"name\": \"x}]}"), "f.json: line 1: column 20: no '\"' closes this");
  EXPECT_EQ(parse_refusal("{\"node\": [{} {}]}"), "f.json: line 1: column 14: expected ',' or ']'");
  EXPECT_EQ(parse_refusal("{\"node\": [{}]} x"),
            "f.json: line 1: column 16: more after the end of the JSON object");
  EXPECT_EQ(parse_refusal("{\"version\": }"), "f.json: line 1: column 13: expected a value");
  EXPECT_EQ(parse_refusal("[]"), "f.json: line 1: column 1: expected '{'");
  EXPECT_EQ(parse_refusal(""), "f.json: line 1: column 1: expected '{'");
  EXPECT_EQ(parse_refusal("{\"library\": 3}"), "f.json: line 1: column 13: expected '{'");
  EXPECT_EQ(parse_refusal("{\"node\": {}}"), "f.json: line 1: column 10: expected '['");
  for (const char* json :
       {R"({"node":[3]})", R"({"node":[{"name":3}]})", R"({"node":[{"attr":{"a":{"i":"x"}}}]})",
        R"({"version":1.5})", R"({"node":[{"name":"\ud800"}]})", R"({"node":[{},]})", R"({"node":[,]})",
        R"({"node":[{"attr":{"a":{"f":1e39}}}]})", R"({"versions":{"a":}})",
        R"({"node":[{"attr":{"a":{"s":"*"}}}]})", R"({"version":1,})", R"({,})", R"({"a)"}) {
    const std::string said = parse_refusal(json);
    EXPECT_EQ(said.substr(0, 13), "f.json: line ") << json << ": " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(Json, DepthIsBounded) {
  for (const char* open : {"[", "{", "{\"a\":", "[{\"a\":"}) {
    std::string deep = "{\"node\":[{\"attr\":{\"a\":";
    for (int i = 0; i < 200000; ++i) deep += open;
    EXPECT_NE(parse_refusal(deep), "");
  }
  std::string nested = "{}", closed;
  for (int i = 0; i < 60; ++i) nested = R"({"func":{"attr":{"a":)" + nested + "}}}";
  EXPECT_NE(parse_refusal(R"({"node":[{"attr":{"a":)" + nested + "}}]}"), "");
}

TEST(Json, RefusesWhatItCannotHold) {
  std::string node, graph;
  append_bytes_field(node, 1, "x");
  append_varint_field(node, 99, 1);
  append_bytes_field(graph, 1, node);
  EXPECT_EQ(refusal([&] { json_of(Kind::kGraphDef, graph); }),
            "f.pb: JSON cannot hold field 99 of node 'x'; hint: --drop-unknown");
  EXPECT_EQ(json_of(Kind::kGraphDef, graph, true), "{\n \"node\": [\n  {\"name\":\"x\"}\n ]\n}\n");

  tensorflow::MetaGraphDef meta;
  auto& any = *(*meta.mutable_collection_def())["a"].mutable_any_list()->add_value();
  any.set_type_url("type.googleapis.com/tensorflow.AssetFileDef");
  any.set_value("\x12\x01x");
  const std::string json = json_of(Kind::kMetaGraphDef, meta.SerializeAsString());
  EXPECT_NE(json.find(R"({"@type":"type.googleapis.com/tensorflow.AssetFileDef","filename":"x"})"),
            std::string::npos)
      << json;
  EXPECT_EQ(parse_json(Kind::kMetaGraphDef, json, "f"), meta.SerializeAsString());
  // "@type" may stand anywhere, once.
  const auto any_json = [](const std::string& members) {
    return R"({"collection_def":{"a":{"any_list":{"value":[{)" + members + "}]}}}}";
  };
  EXPECT_EQ(
      parse_json(Kind::kMetaGraphDef,
                 any_json(R"("filename":"x","@type":"type.googleapis.com/tensorflow.AssetFileDef")"), "f"),
      meta.SerializeAsString());
  for (const char* members : {R"("@type":"type.googleapis.com/tensorflow.AssetFileDef","@type":"a/b")",
                              R"("filename":"x")", R"("@type":"a/tensorflow.Nothing")",
                              R"("@type":"a/google.protobuf.BoolValue","value":true,"value":true)",
                              R"("@type":"a/google.protobuf.BoolValue","other":true)"})
    EXPECT_NE(parse_refusal(any_json(members), Kind::kMetaGraphDef), "") << members;
  any.set_value(std::string("\x12\x01x\xf8\x7f\x01", 6));
  EXPECT_EQ(refusal([&] { json_of(Kind::kMetaGraphDef, meta.SerializeAsString()); }),
            "f.pb: JSON cannot hold field collection_def[a].value.any_list.value.2047 of MetaGraphDef; hint: "
            "--drop-unknown");
  any.set_type_url("type.googleapis.com/foo.Bar");
  EXPECT_EQ(refusal([&] { json_of(Kind::kMetaGraphDef, meta.SerializeAsString()); }),
            "f.pb: collection_def[a].value.any_list.value.type_url is 'type.googleapis.com/foo.Bar', a "
            "message that "
            "JSON cannot hold; hint: -f pbtxt or -f gtxt keeps it");
}

std::string attr_json(const tensorflow::AttrValue& value) {
  return attr_value_json(value.SerializeAsString());
}

TEST(Json, OneAttrValue) {
  tensorflow::AttrValue value;
  EXPECT_EQ(attr_json(value), "{}");
  value.set_s("SAME");
  EXPECT_EQ(attr_json(value), R"({"s":"U0FNRQ=="})");
  value.set_i(-3);
  EXPECT_EQ(attr_json(value), R"({"i":"-3"})");
  value.set_b(false);
  EXPECT_EQ(attr_json(value), R"({"b":false})");
  value.set_type(tensorflow::DT_HALF);
  EXPECT_EQ(attr_json(value), R"({"type":"DT_HALF"})");
  value.set_type(static_cast<tensorflow::DataType>(999));
  EXPECT_EQ(attr_json(value), R"({"type":999})");
  value.set_f(-0.0F);
  EXPECT_EQ(attr_json(value), R"({"f":-0.0})");
  value.mutable_shape()->add_dim()->set_size(-1);
  EXPECT_EQ(attr_json(value), R"({"shape":{"dim":[{"size":"-1"}]}})");
  value.mutable_list();
  EXPECT_EQ(attr_json(value), R"({"list":{}})");
  EXPECT_NE(refusal([] { (void)attr_value_json("\x12\x05x"); }), "");
  EXPECT_NE(refusal([] { (void)attr_value_json("\x4a\x01\xff"); }), "");
  // What protobuf says.
  for (const std::string& bytes :
       {std::string("\x12\x02\xff\x00", 4), std::string("\x18\x80\x01", 3), std::string("\x28\x01", 2),
        std::string("\x30\x01", 2), std::string("\x30\x00", 2), std::string("\x18\x01\x30\x02", 4)}) {
    tensorflow::AttrValue parsed;
    ASSERT_TRUE(parsed.ParseFromString(bytes));
    std::string wanted;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(parsed, &wanted).ok());
    EXPECT_EQ(attr_value_json(bytes), wanted);
  }
}

TEST(Json, RealFiles) {
  const std::vector<std::string> files = corpus_files();
  size_t looked_at = 0;
  for (const std::string& path : files) {
    const auto file = InputFile::open(path);
    try {
      if (detect(file->bytes(), path).format != Format::kBinary) continue;
    } catch (const Error&) {
      continue;  // no graph; detect_test looks at these
    }
    const Kind kind = detect(file->bytes(), path).kind;
    std::string json;
    try {
      json = json_of(kind, file->bytes());
    } catch (const Error& error) {
      // The session bundles' signatures: TensorFlow Serving's own message.
      EXPECT_NE(std::string(error.what()).find("tensorflow.serving.Signatures"), std::string::npos)
          << error.what();
      continue;
    }
    ++looked_at;
    EXPECT_EQ(detect(json, "").kind, kind) << path;
    const std::string wanted = sorted_bytes(kind, file->bytes());
    const std::string ours = sorted_bytes(kind, parse_json(kind, json, path));
    const auto whole = new_message(kind);
    const auto status = google::protobuf::util::JsonStringToMessage(json, whole.get());
    ASSERT_TRUE(status.ok()) << path << ": " << status.ToString();
    EXPECT_EQ(ours == sorted_bytes(*whole), true) << path;
    EXPECT_EQ(ours == wanted, true) << path;
  }
  EXPECT_GE(looked_at, at_least(25, 300));
}

}  // namespace gedit::json_test
