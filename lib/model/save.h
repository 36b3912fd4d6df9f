// Writing a model where the user wants it: the kind and the format that the name asks for, whole or not at
// all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/model.h"

namespace gedit {

// A file that goes into a SavedModel's folder; `to` is below it: assets/vocab.txt.
struct FolderFile {
  std::string from, to;
  bool copy = false;  // never a hard link: it is not the model's own
};

struct Checkpoint;

struct Destination {
  std::string path;                     // "-": standard output
  std::optional<std::string> format{};  // pb, pbtxt, meta, gtxt, json, saved_model, events
  bool overwrite = false;
  bool drop_unknown = false;  // text and JSON: leave out what they cannot hold, instead of refusing
  bool elide = false;         // listing: long tensors as length and checksum
  // Written beside the output: under its twin prefix (folder.h), or as a SavedModel's variables/.
  std::shared_ptr<Checkpoint> values{};
  bool copy_data = false;       // of `values`: bytes are moved, not linked
  bool without_values = false;  // a SavedModel's own variables/ is left behind
  // Files that go into a SavedModel's folder besides what the model's own folder holds; `to` is below it.
  std::vector<FolderFile> files{};
  bool all_files = false;  // `files` has the assets, which are not looked for beside the model
  std::vector<std::string> tags{"serve"};
  // Looks at the graph, complete and read again, before it takes any place; what it throws leaves all as it
  // was. Standard output is then written at once, in the end.
  std::function<void(Model& written)> inspect{};
};

// What the destination asks for.
struct Target {
  Kind kind;
  Format format;
  bool directory;       // a SavedModel's folder
  bool events = false;  // an event file in the folder of that name
};

// By `-f`, else by the suffix, else as it was read; where the suffix is the input's own, nothing changes.
// What was read from an event file is written as the graph that was in it, and as an event file only where
// that is asked for. Throws Error (kUsage) for a directory on standard output and an unknown format.
Target target_of(const Model& model, const Destination& destination);

struct Saved {
  uint64_t bytes = 0;                 // of the graph file
  std::vector<std::string> warnings;  // what the other kind cannot hold
  std::vector<std::string> notes;     // what it was given
  Tally tally;                        // of the graph that was edited, where it was written as binary
};

// Throws Error: kRefused (exists, over 2 GiB, cannot be held), kWrite.
Saved save(Model& model, const Destination& destination, bool count = false);

// Other tags for the MetaGraph that is picked. Throws Error (kRefused) where another one has them.
void give_tags(Model& model, const std::vector<std::string>& tags);

// Leaves of the model its graph, a GraphDef; for an edit whose result is one.
void reduce_to_graph(Model& model);

// Turns the model into another kind (docs/rules.md#convert-kinds); says what is lost.
std::vector<std::string> convert_kind(Model& model, Kind kind, const std::vector<std::string>& tags,
                                      std::vector<std::string>* notes = nullptr);

}  // namespace gedit
