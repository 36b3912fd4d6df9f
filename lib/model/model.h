// What a file holds, around its graph: a GraphDef, a MetaGraphDef or a SavedModel, taken apart as far as
// edits need it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "graph/graph.h"
#include "model/kind.h"

namespace gedit {

namespace graph_field {  // GraphDef
constexpr uint32_t kNode = 1, kLibrary = 2, kVersions = 4;
}
namespace meta_field {  // MetaGraphDef
constexpr uint32_t kInfo = 1, kGraph = 2, kSaver = 3, kCollection = 4, kSignature = 5, kAsset = 6,
                   kObjectGraph = 7;
}

// A MetaGraphDef: its fields in file order, the graph taken out. A bare GraphDef is one without fields.
struct MetaGraph {
  Graph graph;
  std::vector<Part> parts;  // of them the field graph_def marks where the graph stands
  bool edited = false;      // a part was set
  // By object of a SavedModel's object graph, the node that stands for it, as long as calls told so that are
  // inlined by now (object_nodes.h).
  std::unordered_map<uint32_t, std::string> called_objects{};

  // The content of the last field `number`, empty where there is none.
  std::string_view part(uint32_t number) const;
  bool has(uint32_t number) const;

  // Contents of all fields `number`: entries of a map, items of a list.
  std::vector<std::string_view> parts_of(uint32_t number) const;
  // Puts these in their place; more or fewer than before follow the last one, or stand where the number
  // belongs.
  void set_parts(uint32_t number, std::vector<std::string> contents);
  void set_part(uint32_t number, std::string content);  // one alone
};

struct Model {
  std::string path;  // as given; "-" is standard input
  Kind kind = Kind::kGraphDef;
  Format format = Format::kBinary;
  bool directory = false;                          // a SavedModel's folder, or a file of that name inside one
  std::string folder;                              // then: where variables/ and assets/ lie
  std::string assets_folder;                       // where assets may lie besides (--assets), or empty
  std::map<std::string, std::string> asset_files;  // of its assets, those that lie elsewhere: name -> file

  std::shared_ptr<const InputFile> file;
  bool verbatim = false;           // the file is the message, and says all of it: nothing is from elsewhere
  std::optional<uint64_t> events;  // of an event file, from which the graph was taken: how many
  bool cut = false;                // then: there is a piece of one more
  std::shared_ptr<Arena> arena;
  std::vector<MetaGraph> meta_graphs;  // exactly one but in a SavedModel
  size_t selected = 0;                 // the one that is edited
  std::vector<Part> parts;             // of a SavedModel, in file order; meta_graphs stand for their fields
  std::string_view message;            // the whole as it was read, serialized
  // What else the model views: files that were merged into it, and their models.
  std::vector<std::shared_ptr<const InputFile>> more_files;
  std::shared_ptr<const void> keeps;

  MetaGraph& meta() { return meta_graphs[selected]; }
  const MetaGraph& meta() const { return meta_graphs[selected]; }
  Graph& graph() { return meta().graph; }
  const Graph& graph() const { return meta().graph; }
  bool edited() const;
};

struct LoadOptions {
  std::optional<Kind> as;            // what the user says it is
  std::vector<std::string> tag_set;  // picks the MetaGraph with exactly these tags, in any order
  std::string tensors_from;          // a file whose tensors stand in for a listing's elided ones
  bool without_graph = false;        // an event file without a graph gives a model without MetaGraphs
};

// Reads what `path` names: a file, a SavedModel's folder, `-`. Of an event file the last graph, that of kind
// `as` where it is given; from then on it is a GraphDef or MetaGraphDef like any other. Throws Error.
Model load(const std::string& path, const LoadOptions& options = {});

// A model of serialized bytes that the arena keeps; for what is not a file.
Model model_of(std::string path, Kind kind, Format format, std::string_view message,
               std::shared_ptr<Arena> arena);

// The model as one message of its kind. The tally counts the selected graph.
void write_message(const Model& model, Sink& sink, Tally* tally = nullptr);
void write_meta_graph(const MetaGraph& meta, Sink& sink, Tally* tally = nullptr);

// Tags of a MetaGraph, as stored.
std::vector<std::string_view> tags(const MetaGraph& meta);

// The error with the file, and where it knows the byte, with the place in the file.
[[noreturn]] void rethrow(const Model& model, const Malformed& error);
[[noreturn]] void rethrow(const Model& model, const Error& error);

// Runs `work` and names the file in what it throws.
template <typename Work>
auto with_file(const Model& model, Work work) {
  try {
    return work();
  } catch (const Malformed& error) {
    rethrow(model, error);
  } catch (const Error& error) {
    rethrow(model, error);
  }
}

// Runs `work` on two models and names the file whose bytes are malformed.
template <typename Work>
auto with_files(const Model& a, const Model& b, Work work) {
  try {
    return work();
  } catch (const Malformed& error) {
    for (const Model* model : {&a, &b}) {
      const std::string_view bytes = model->message;
      if (error.at() >= bytes.data() && error.at() <= bytes.data() + bytes.size()) rethrow(*model, error);
    }
    throw;
  }
}

}  // namespace gedit
