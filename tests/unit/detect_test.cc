// Files are told apart by content, and what is no graph is named.
#include "model/detect.h"

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "base/wire.h"
#include "corpus_files.h"
#include "graph.pb.h"
#include "meta_graph.pb.h"
#include "model/finding.h"
#include "model/model.h"

namespace gedit::detect_test {

std::string shown(std::string_view bytes, const std::string& path = "f") {
  constexpr std::string_view kKinds[] = {"graph", "meta", "saved"};
  constexpr std::string_view kFormats[] = {"binary", "text", "listing", "json"};
  try {
    const Detected found = detect(bytes, path);
    return std::string(kKinds[static_cast<size_t>(found.kind)]) + " " +
           std::string(kFormats[static_cast<size_t>(found.format)]);
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), Cause::kInput);
    return error.what();
  }
}

tensorflow::GraphDef small_graph() {
  tensorflow::GraphDef graph;
  auto& x = *graph.add_node();
  x.set_name("x");
  x.set_op("Placeholder");
  (*x.mutable_attr())["dtype"].set_type(tensorflow::DT_FLOAT);
  auto& y = *graph.add_node();
  y.set_name("y");
  y.set_op("Identity");
  y.add_input("x");
  graph.mutable_versions()->set_producer(134);
  return graph;
}

std::string function_library() {
  tensorflow::GraphDef graph;
  auto& function = *graph.mutable_library()->add_function();
  function.mutable_signature()->set_name("f");
  function.mutable_signature()->add_input_arg()->set_name("a");
  *function.add_node_def() = small_graph().node(1);
  return graph.SerializeAsString();
}

tensorflow::MetaGraphDef small_meta() {
  tensorflow::MetaGraphDef meta;
  meta.mutable_meta_info_def()->add_tags("serve");
  meta.mutable_meta_info_def()->mutable_stripped_op_list()->add_op()->set_name("Placeholder");
  *meta.mutable_graph_def() = small_graph();
  (*meta.mutable_collection_def())["train_op"].mutable_node_list()->add_value("y");
  (*meta.mutable_signature_def())["serving_default"].set_method_name("predict");
  return meta;
}

tensorflow::SavedModel small_saved(int version) {
  tensorflow::SavedModel saved;
  saved.set_saved_model_schema_version(version);
  *saved.add_meta_graphs() = small_meta();
  return saved;
}

TEST(Detect, BinaryByStructure) {
  EXPECT_EQ(shown(small_graph().SerializeAsString()), "graph binary");
  EXPECT_EQ(shown(small_graph().SerializeAsString(), "a.meta"), "graph binary");
  EXPECT_EQ(shown(small_meta().SerializeAsString(), "a.pb"), "meta binary");
  EXPECT_EQ(shown(small_saved(1).SerializeAsString(), "a.pb"), "saved binary");
  EXPECT_EQ(shown(small_saved(0).SerializeAsString()), "saved binary");
  EXPECT_EQ(shown(function_library()), "graph binary");

  tensorflow::GraphDef versions;
  versions.mutable_versions()->set_producer(22);
  EXPECT_EQ(shown(versions.SerializeAsString()), "graph binary");

  tensorflow::MetaGraphDef only_graph;
  *only_graph.mutable_graph_def() = small_graph();
  EXPECT_EQ(shown(only_graph.SerializeAsString()), "meta binary");
  tensorflow::MetaGraphDef only_saver;
  only_saver.mutable_saver_def()->set_filename_tensor_name("save/Const:0");
  EXPECT_EQ(shown(only_saver.SerializeAsString()), "meta binary");
  tensorflow::MetaGraphDef only_collection;
  (*only_collection.mutable_collection_def())["losses"].mutable_node_list()->add_value("y:0");
  (*only_collection.mutable_collection_def())["train_op"].mutable_node_list()->add_value("y");
  EXPECT_EQ(shown(only_collection.SerializeAsString()), "meta binary");

  tensorflow::SavedModel reversed = small_saved(1);
  std::string bytes;
  append_bytes_field(bytes, 2, reversed.meta_graphs(0).SerializeAsString());
  append_varint_field(bytes, 1, 1);
  EXPECT_EQ(shown(bytes), "saved binary");

  std::string unknown = small_graph().SerializeAsString();
  append_bytes_field(unknown, 99, "from the future");
  EXPECT_EQ(shown(unknown), "graph binary");
}

TEST(Detect, NamesAreNotToBeUtf8) {
  tensorflow::GraphDef graph = small_graph();
  std::string bytes = graph.SerializeAsString();
  std::string node;
  append_bytes_field(node, 1, "caf\xe9");
  append_bytes_field(node, 2, "NoOp");
  append_bytes_field(bytes, 1, node);
  EXPECT_EQ(shown(bytes), "graph binary");
}

TEST(Detect, NothingInItIsBySuffix) {
  EXPECT_EQ(shown("", "a"), "graph binary");
  EXPECT_EQ(shown("", "a.pb"), "graph binary");
  EXPECT_EQ(shown("", "a.meta"), "meta binary");
  EXPECT_EQ(shown("", "m/saved_model.pb"), "saved binary");
  EXPECT_EQ(shown("", "m/saved_model.pbtxt"), "saved text");
  EXPECT_EQ(shown("", "a.pbtxt"), "graph text");
  EXPECT_EQ(shown("", "a.gtxt"), "graph listing");
  EXPECT_EQ(shown("# nothing\n\n", "a.gtxt"), "graph listing");
  EXPECT_EQ(shown("# nothing\n\n", "a.pbtxt"), "graph text");
  EXPECT_EQ(shown(std::string_view("\x12\x00", 2), "a.pb"), "graph binary");
  EXPECT_EQ(shown(std::string_view("\x12\x00", 2), "a.meta"), "meta binary");
  EXPECT_EQ(shown("{}", "a.json"), "graph json");
}

TEST(Detect, TextByItsWords) {
  EXPECT_EQ(shown("node { name: \"x\" op: \"NoOp\" }"), "graph text");
  EXPECT_EQ(shown("\xEF\xBB\xBF# c\nnode: <name: 'x'>"), "graph text");
  EXPECT_EQ(shown("node: [ {name: 'x'} ]"), "graph text");
  EXPECT_EQ(shown("versions { producer: 1 }\nnode { }"), "graph text");
  EXPECT_EQ(shown("library { function { } }"), "graph text");
  EXPECT_EQ(shown("meta_info_def { }"), "meta text");
  EXPECT_EQ(shown("graph_def { node { } }"), "meta text");
  EXPECT_EQ(shown("saved_model_schema_version: 1\nmeta_graphs { }"), "saved text");
  EXPECT_EQ(shown("meta_graphs { }"), "saved text");
  EXPECT_EQ(shown("node { name: \"" + std::string(200000, 'a')), "graph text");
}

TEST(Detect, ListingsByTheirLines) {
  EXPECT_EQ(shown("x = NoOp()\n"), "graph listing");
  EXPECT_EQ(shown("# c\n\"bad name\" = \"\" (\"in put:0\") {}\n"), "graph listing");
  EXPECT_EQ(shown("versions = NoOp()\n"), "graph listing");
  EXPECT_EQ(shown("a=B()"), "graph listing");
  EXPECT_EQ(shown("raw graph_def \"\""), "graph listing");
  EXPECT_EQ(shown("versions { producer: 1 }\nx = NoOp()\n"), "graph listing");
  EXPECT_EQ(shown("library {}\nversion 3\n"), "graph listing");
  EXPECT_EQ(shown("function f(a: DT_FLOAT) -> ()\n  return\nend\n"), "graph listing");
  EXPECT_EQ(shown("metagraph { tags: \"serve\" }\nx = NoOp()\n"), "meta listing");
  EXPECT_EQ(shown("saved_model { }\nmetagraph {}\n"), "saved listing");
  EXPECT_EQ(shown("versions { producer: 1 }\n"), "graph text") << "the same in both";
  EXPECT_EQ(shown("versions { producer: 1 }\n", "a.gtxt"), "graph listing");
  EXPECT_EQ(shown("--steps=1\n"), "f: text, but no graph");
}

TEST(Detect, ListingsAreToldFromOtherFiles) {
  const auto is_listing = [](std::string_view text) { return shown(text).ends_with(" listing"); };
  for (const std::string_view text : {"# c\n\na = B()\n", "\"a b\" = B(", "metagraph\nx = Y()\n",
                                      "metagraph { }", "saved_model { saved_model_schema_version: 1 }",
                                      "versions { producer: 1 }\nx = Y()\n", "function f(", "version 3\n"}) {
    EXPECT_TRUE(is_listing(text)) << text << ": " << shown(text);
  }
  for (const std::string_view text : {"versions { producer: 1 }\n", "library {}\n"})
    EXPECT_EQ(shown(text, "a.gtxt"), "graph listing") << text << " is the same in both";
  EXPECT_EQ(shown("metagraph\n"), "meta listing") << "all that stands for an empty one";
  EXPECT_EQ(shown("metagraph of a city\n"), "f: text, but no graph");
  for (const std::string_view text :
       {"", "\n", "node {\n", "node { name: \"a\" }", "versions {\n  producer: 1\n}\n", "{\"node\": []}",
        "\x0a\x05hello", "saved_model_schema_version: 1\n", "meta_info_def {", "library {\n  function {\n",
        "version: 3", "model_checkpoint_path: \"x\"", "versions { producer: 1 } node { name: \"x\" }",
        "a = b\n", "<html>", "version https://git-lfs.github.com/spec/v1\n"}) {
    EXPECT_FALSE(is_listing(text)) << text << ": " << shown(text);
  }
}

TEST(Detect, JsonByItsKeys) {
  EXPECT_EQ(shown(R"({"node": [{"name": "x"}]})"), "graph json");
  EXPECT_EQ(shown(R"( {"versions": {}, "x": 1})"), "graph json");
  EXPECT_EQ(shown(R"({"metaInfoDef": {}})"), "meta json");
  EXPECT_EQ(shown(R"({"meta_info_def": {}})"), "meta json");
  EXPECT_EQ(shown(R"({"savedModelSchemaVersion": "1"})"), "saved json");
  EXPECT_EQ(shown(R"({"meta_graphs": []})"), "saved json");
  EXPECT_EQ(shown(R"({"half": "}{", "b": 1})"), "f: JSON, but of no graph (its first key is 'half')");
  EXPECT_EQ(shown(R"({"format": "x", "modelTopology": {"node": []}})"), "f: a TensorFlow.js model");
  EXPECT_EQ(shown(R"({"class_name": "Sequential", "config": {"a": [1, "]"]}})"),
            "f: a Keras model in JSON, which is no graph");
}

TEST(Detect, OthersAreNamed) {
  EXPECT_EQ(shown("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"),
            "f: a git-lfs pointer, not the file; hint: git lfs pull");
  EXPECT_EQ(shown("<!DOCTYPE html><html>"), "f: an HTML page, not the file; hint: fetch the file itself");
  EXPECT_EQ(shown(std::string_view("\x89HDF\r\n\x1a\n\0\0", 10)),
            "f: an HDF5 file (Keras .h5); hint: save the model as a SavedModel");
  EXPECT_EQ(shown(std::string_view("\x1c\0\0\0TFL3\0\0", 10)),
            "f: a TFLite model; hint: gedit edits the graph it was made from");
  EXPECT_EQ(shown("PK\x03\x04 and so on"),
            "f: a zip archive (.keras, .npz, or packed files); hint: unpack it");
  EXPECT_EQ(shown("\x1f\x8b\x08 and so on"), "f: gzip-compressed; hint: gunzip it");
  EXPECT_EQ(shown("\x93NUMPY\x01"), "f: a numpy array");
  EXPECT_EQ(shown("\x80\x04K\x01."), "f: a Python pickle");
  EXPECT_EQ(shown(std::string_view("\xff\xfen\0o\0", 6)), "f: text in UTF-16; hint: convert it to UTF-8");
  EXPECT_EQ(shown("model_checkpoint_path: \"a\"\n"),
            "f: a checkpoint's state file; hint: gedit checkpoint list takes it");
  EXPECT_EQ(shown("# c\nnode { # d\n  name: \"a\" calculator: \"B\" }"),
            "f: a MediaPipe graph (a CalculatorGraphConfig)");
  EXPECT_EQ(shown("signature { name: \"f\" }"), "f: a FunctionDef");
  EXPECT_EQ(shown("step_stats { }"), "f: a RunMetadata");
  EXPECT_EQ(shown("feature { name: \"x\" }"),
            "f: protobuf text of another message (its first field is 'feature')");
  EXPECT_EQ(shown("this is not a graph"), "f: text, but no graph");
  EXPECT_EQ(shown("\x08\x03"), "f: a protobuf message of another kind");
  EXPECT_EQ(shown("\x01\x02\xff\xff"), "f: bytes of no known kind");
  EXPECT_EQ(shown("\x01\x02\xff\xff", "m.data-00000-of-00001"),
            "m.data-00000-of-00001: the data of a checkpoint, which is named without '.data-...'");

  std::string onnx;
  append_varint_field(onnx, 1, 8);
  append_bytes_field(onnx, 2, "pytorch");
  append_bytes_field(onnx, 7, "\x0a\x00");
  EXPECT_EQ(shown(onnx), "f: an ONNX model");
}

// What protobuf keeps as unknown fields makes no other message of a graph.
TEST(Detect, UnknownFieldsWithin) {
  const std::string graph = small_graph().SerializeAsString();
  EXPECT_EQ(shown("\x08\x14" + graph), "graph binary") << "a number where nodes stand";
  EXPECT_EQ(shown(graph + std::string("\x22\x02\x20\x05")), "graph binary") << "within versions";
  tensorflow::MetaGraphDef meta;
  *meta.mutable_graph_def() = small_graph();
  meta.mutable_meta_info_def()->mutable_stripped_op_list()->add_op()->set_name("Identity");
  meta.mutable_meta_info_def()->mutable_stripped_op_list()->mutable_op(0)->add_input_arg();
  EXPECT_EQ(shown(meta.SerializeAsString()), "meta binary") << "an argument without a name";
  std::string entry;
  append_bytes_field(entry, 4, std::string("\x22\x00", 2));
  std::string bytes = meta.SerializeAsString();
  append_bytes_field(bytes, meta_field::kCollection, entry);
  EXPECT_EQ(shown(bytes), "meta binary") << "a collection that is none";
}

// Source files and the traces through them; a MetaGraphDef with nothing known in it begins with text as well.
TEST(Detect, DebugInformationHoldsTraces) {
  const std::string file = bytes_field(1, "/home/someone/python/model_of_this.py");
  const std::string trace = bytes_field(1, "y@f") + bytes_field(2, bytes_field(1, "\x08\x01"));
  const std::string number = "\x09" + std::string(8, '\x07');
  const std::string debug = "f: debug information of a SavedModel; hint: name its directory";
  EXPECT_EQ(shown(file + bytes_field(2, trace)), debug);
  EXPECT_EQ(shown(file + bytes_field(4, number + bytes_field(2, "\x10\x05")) +
                  bytes_field(5, bytes_field(1, "y@f") + "\x11" + std::string(8, '\x07')) +
                  bytes_field(6, number + bytes_field(2, ""))),
            debug);
  const std::string meta = bytes_field(1, bytes_field(9, std::string(40, 'u'))) + bytes_field(2, "");
  EXPECT_EQ(shown(meta, "m.meta"), "meta binary");
  EXPECT_EQ(shown(file + bytes_field(2, "no map's entry")), "f: a protobuf message of another kind");
  // A graph is known by its nodes, whatever is said around it; bytes that are no names are no saver.
  const std::string graph = small_graph().SerializeAsString();
  EXPECT_EQ(shown(bytes_field(1, bytes_field(1, "\x01\x02")) + bytes_field(2, graph)), "meta binary");
  std::string version;
  append_varint_field(version, 1, 1);
  EXPECT_EQ(shown(version + bytes_field(3, bytes_field(1, graph))), "f: a protobuf message of another kind");
}

TEST(Detect, WhatOtherCommandsRead) {
  tensorflow::OpList ops;
  auto& add = *ops.add_op();
  add.set_name("Add");
  add.add_input_arg()->set_name("x");
  ops.add_op()->set_name("NoOp");
  EXPECT_EQ(identify(ops.SerializeAsString()), Content::kOpList);
  EXPECT_EQ(identify("op { name: \"Add\" }"), Content::kOpList);
  EXPECT_EQ(identify("model_checkpoint_path: \"a\"\n"), Content::kCheckpointState);
  EXPECT_EQ(identify(""), Content::kEmpty);
  EXPECT_EQ(identify("x = NoOp()"), Content::kGraph);
  EXPECT_EQ(identify(small_saved(1).SerializeAsString()), Content::kGraph);
  EXPECT_EQ(find_wire(small_saved(1).SerializeAsString()).words, "a SavedModel");

  std::string event =
      "\x09........\x1a\x0d"
      "brain.Event:2";
  std::string length(8, '\0');
  length[0] = static_cast<char>(event.size());
  std::string record = length;
  const uint32_t crc = masked(crc32c(length));
  for (int shift = 0; shift < 32; shift += 8) record += static_cast<char>(crc >> shift);
  record += event + "crc.";
  EXPECT_EQ(identify(record), Content::kEvents);
  record[8] ^= 1;
  EXPECT_EQ(identify(record), Content::kOther);

  // The first block of a table: no shared prefix, the empty key, its value.
  const std::string magic = "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  const std::string rest(48, '\x01');
  EXPECT_EQ(identify(std::string("\0\0\x02\x08\x01", 5) + rest + magic), Content::kCheckpointIndex);
  EXPECT_EQ(identify(std::string("\0\0\x02\x0a\x00", 5) + rest + magic), Content::kCheckpointV1);
  EXPECT_EQ(identify(std::string("\x20\x10\0\0\x02\x08\x01", 7) + rest + magic), Content::kCheckpointIndex)
      << "packed";
  EXPECT_EQ(identify(std::string("\0\x03"
                                 "abc",
                                 5) +
                     rest + magic),
            Content::kOther);
}

TEST(Detect, TruncatedGraphsTellWhere) {
  tensorflow::GraphDef graph = small_graph();
  const size_t before = graph.node(0).ByteSizeLong() + 2;
  auto& weights = *(*graph.mutable_node(1)->mutable_attr())["value"].mutable_tensor();
  weights.set_tensor_content(std::string(9000, 'w'));
  const std::string bytes = graph.SerializeAsString();
  const size_t length = graph.node(1).ByteSizeLong();
  EXPECT_EQ(shown(bytes.substr(0, before + 3 + 311), "m.pb"),
            "m.pb: byte " + std::to_string(before) + ": node record is " + std::to_string(length) +
                " bytes long, 311 remain; hint: the GraphDef is truncated");

  const std::string meta = small_meta().SerializeAsString();
  const std::string saved = small_saved(1).SerializeAsString();
  EXPECT_EQ(shown(saved.substr(0, saved.size() - 1)),
            "f: byte 2: meta_graphs record is " + std::to_string(meta.size()) + " bytes long, " +
                std::to_string(meta.size() - 1) + " remain; hint: the SavedModel is truncated");
  // From where there is enough to see what it is, every cut is either between two fields or reported.
  for (size_t cut = 30; cut < meta.size(); ++cut) {
    const std::string said = shown(meta.substr(0, cut));
    EXPECT_TRUE(said == "meta binary" || said.find("the MetaGraphDef is truncated") != std::string::npos)
        << cut << ": " << said;
  }
}

TEST(Detect, DamagedByUtf8) {
  std::string damaged;
  tensorflow::GraphDef graph = small_graph();
  (*graph.mutable_node(0)->mutable_attr())["value"].mutable_tensor()->set_tensor_content(
      std::string(200, '\x80'));
  for (const char c : graph.SerializeAsString())
    damaged += static_cast<unsigned char>(c) < 0x80 ? std::string(1, c) : std::string("\xEF\xBF\xBD");
  EXPECT_EQ(shown(damaged),
            "f: damaged: its bytes were passed through a UTF-8 decoder; hint: fetch it again, as binary");
}

TEST(Detect, AnyBytesAreRefusedOrRead) {
  // Every prefix and every single changed byte of three files: an answer or a refusal in one line, never a
  // crash.
  for (const std::string& whole :
       {small_graph().SerializeAsString(), small_saved(1).SerializeAsString(), function_library()}) {
    for (size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(shown(whole.substr(0, i)).find('\n'), std::string::npos);
      for (const int flip : {1, 4, 0x80, 0xff}) {
        std::string changed = whole;
        changed[i] = static_cast<char>(changed[i] ^ flip);
        EXPECT_EQ(shown(changed).find('\n'), std::string::npos);
      }
    }
  }
}

bool has_suffix(const std::string& path, std::string_view suffix) {
  return path.size() >= suffix.size() && std::string_view(path).substr(path.size() - suffix.size()) == suffix;
}

// What the corpus' own README says each file is, by name; empty: nothing is said.
std::string expected(const std::string& path) {
  const auto in = [&](std::string_view part) { return path.find(part) != std::string::npos; };
  if (in("/negatives-") || in("git_lfs_pointer") || in("graph-malformed") || in("fingerprint") ||
      in("keras_metadata") || in("tfhub_module") || in("debug_info") || in("schema.pbtxt") ||
      in("policy_specs"))
    return has_suffix(path, ".pb") || has_suffix(path, ".pbtxt") ? "refused" : "";
  if (in("testdata/bundle/00000000/export.meta")) return "refused";  // its bytes went through a UTF-8 decoder
  if (in("metrics_export_meta_graph.pb")) return "meta text";
  if (in("/kserve-flowers-tf10/")) return has_suffix(path, ".pb") ? "saved binary" : "";
  if (has_suffix(path, "saved_model.pb")) return in("frozen_saved_model") ? "graph binary" : "saved binary";
  if (has_suffix(path, "saved_model.pbtxt")) return "saved text";
  if (has_suffix(path, ".pb")) return "graph binary";
  if (has_suffix(path, ".pbtxt") || has_suffix(path, ".pb.txt") || has_suffix(path, "/model.txt"))
    return "graph text";
  if (has_suffix(path, ".meta")) return "meta binary";
  if (has_suffix(path, ".index") || has_suffix(path, "/checkpoint") || in(".data-") || in("tfevents"))
    return "refused";
  return "";
}

TEST(Detect, RealFiles) {
  const std::vector<std::string> files = corpus_files();
  size_t looked_at = 0;
  for (const std::string& path : files) {
    const auto file = InputFile::open(path);
    const std::string wanted = expected(path);
    const std::string found = shown(file->bytes(), path);
    if (!wanted.empty()) {
      EXPECT_EQ(found.substr(0, path.size()) == path ? "refused" : found, wanted) << path << ": " << found;
    }
    looked_at += wanted.empty() ? 0 : 1;
    if (has_suffix(path, ".index")) {
      EXPECT_EQ(identify(file->bytes()), Content::kCheckpointIndex) << path;
    }
    if (has_suffix(path, "/checkpoint")) {
      EXPECT_EQ(identify(file->bytes()), Content::kCheckpointState) << path;
    }
    if (path.find("tfevents") != std::string::npos) {
      EXPECT_EQ(identify(file->bytes()), Content::kEvents) << path;
    }
    // The first half of a real graph is known for what it is.
    if (found.find(" binary") != std::string::npos && file->bytes().size() > 4096) {
      const std::string half = shown(file->bytes().substr(0, file->bytes().size() / 2), path);
      EXPECT_TRUE(half == found || half.find(" is truncated") != std::string::npos) << half;
    }
  }
  EXPECT_GE(looked_at, at_least(60, 800));
}

}  // namespace gedit::detect_test
