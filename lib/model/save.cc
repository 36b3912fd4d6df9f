#include "model/save.h"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/size.h"
#include "checkpoint/write.h"
#include "model/asset_paths.h"
#include "model/collections.h"
#include "model/events.h"
#include "model/folder.h"
#include "model/init_op.h"
#include "model/json.h"
#include "model/listing.h"
#include "model/text.h"

namespace gedit {
namespace {

std::string_view suffix(std::string_view path) {
  const std::string_view name = base_name(path);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

bool known_format(std::string_view word) {
  return word == "pb" || word == "pbtxt" || word == "meta" || word == "gtxt" || word == "json" ||
         word == "saved_model" || word == "events";
}

Target target_of_word(const Model& model, std::string_view word) {
  if (word == "pb") return {Kind::kGraphDef, Format::kBinary, false};
  if (word == "meta") return {Kind::kMetaGraphDef, Format::kBinary, false};
  if (word == "pbtxt") return {model.kind, Format::kText, false};
  if (word == "gtxt") return {model.kind, Format::kListing, false};
  if (word == "json") return {model.kind, Format::kJson, false};
  if (word == "events") return {Kind::kGraphDef, Format::kBinary, false, true};
  return {Kind::kSavedModel, model.kind == Kind::kSavedModel ? model.format : Format::kBinary, true};
}

// What a file of that suffix is, where it is of another kind than gedit writes; else null.
const char* foreign_kind(std::string_view word) {
  if (word == "onnx") return "an ONNX model";
  if (word == "tflite" || word == "lite") return "a TensorFlow Lite model";
  if (word == "h5" || word == "hdf5" || word == "keras") return "a Keras model";
  if (word == "pt" || word == "pth" || word == "safetensors" || word == "npz" || word == "npy")
    return "weights";
  if (word == "mlmodel" || word == "mlpackage") return "a Core ML model";
  if (word == "ckpt" || word == "index") return "a checkpoint";
  if (word == "svg" || word == "html" || word == "dot" || word == "png" || word == "pdf") return "a picture";
  return nullptr;
}

// The whole message in memory: what was read where nothing was edited.
std::string_view message_of(const Model& model, StringSink& storage) {
  if (!model.edited()) return model.message;
  write_message(model, storage);
  return storage.text;
}

void check_size(const Model& model, uint64_t size) {
  if (size <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) return;
  const char* kind = model.kind == Kind::kGraphDef       ? "a GraphDef"
                     : model.kind == Kind::kMetaGraphDef ? "a MetaGraphDef"
                                                         : "a SavedModel";
  throw Error(Cause::kRefused, "would be " + size_text(size) + ", " + kind + " holds at most 2 GiB")
      .hint("keep weights in a checkpoint: gedit freeze --keep, or a SavedModel");
}

// A file without bytes is what a broken download leaves: nobody reads it as an empty graph.
void refuse_nothing(const Model& model, const OutputFile& out) {
  if (out.written() + out.pending() > 0) return;
  throw Error(Cause::kRefused, "has no node: the output would be empty").in(model.path).hint("gedit inspect");
}

// Bytes of the message where some of them come from elsewhere, which is found out before they are read; else
// 0.
uint64_t streamed_size(const Model& model) {
  if (!model.graph().has_streams()) return 0;
  Counter counter;
  write_message(model, counter);
  return counter.size();
}

void write_in(Model& model, const Target& target, const Destination& destination, Sink& sink, Tally* tally) {
  // What nobody edited, in the form in which it was read, is the file itself.
  if (!model.edited() && target.format == model.format && model.verbatim && !destination.elide) {
    if (tally != nullptr) *tally = model.graph().tally();
    return sink.write(model.file->bytes());
  }
  StringSink storage;
  switch (target.format) {
    case Format::kBinary:
      return write_message(model, sink, tally);
    case Format::kText:
      return write_text(model.kind, message_of(model, storage), model.path, destination.drop_unknown, sink);
    case Format::kJson:
      return write_json(model.kind, message_of(model, storage), model.path, destination.drop_unknown, sink);
    case Format::kListing:
      return print_listing(model.kind, message_of(model, storage), !destination.elide, sink);
  }
}

size_t distinct_variables(const MetaGraph& meta) {
  size_t count = 0;
  for (const Collection& collection : collections(meta)) {
    if (collection.key == collection_key::kVariables) count += collection.items.size();
  }
  return count;
}

// Initializers of tables that no loader runs: those of a SavedModel run its init op
// (docs/tensorflow.md#init-op).
size_t unfilled_tables(const MetaGraph& meta) {
  if (!loader_runs(meta).empty()) return 0;
  for (const Collection& collection : collections(meta)) {
    if (collection.key == collection_key::kTableInitializer) return collection.items.size();
  }
  return 0;
}

}  // namespace

Target target_of(const Model& model, const Destination& destination) {
  if (destination.format == "events") {
    if (destination.path == "-") {
      throw Error(Cause::kUsage, "an event file is written into a directory")
          .in(model.path)
          .hint("-o LOGDIR");
    }
    return target_of_word(model, "events");
  }
  // Event files are asked for by -f alone: what names them is the directory.
  const std::string_view wanted = suffix(destination.path) == "events" ? "" : suffix(destination.path);
  const std::string_view read = model.events ? std::string_view() : suffix(model.path);
  const bool trailing = destination.path.size() > 1 && destination.path.ends_with('/');
  Target target{model.kind, model.format, model.kind == Kind::kSavedModel && model.directory};
  if (destination.path != "-") {
    if (trailing || is_directory(destination.path)) {
      target = target_of_word(model, "saved_model");
    } else if (base_name(destination.path) == "saved_model.pb" && model.kind == Kind::kSavedModel) {
      target = {Kind::kSavedModel, Format::kBinary, false};
    } else if (known_format(wanted) && wanted != read) {
      target = target_of_word(model, wanted);
    } else if (known_format(wanted)) {
      target.directory = false;
    } else if (const char* kind = foreign_kind(wanted); kind != nullptr && !destination.format) {
      throw Error(Cause::kUsage, fmt::format("is named like {}, and would hold a graph", kind))
          .of(quoted("output", destination.path))
          .hint("a name that ends in .pb, .meta, .pbtxt, .gtxt or .json, or -f pb");
    }
  }
  if (destination.format) {
    if (!known_format(*destination.format)) {
      throw Error(Cause::kUsage, "no such format")
          .of(quoted("format", *destination.format))
          .hint("pb, pbtxt, meta, gtxt, json, saved_model, events");
    }
    const Target by_word = target_of_word(model, *destination.format);
    if (target.directory) {
      // A folder's own file is binary or text; the folder itself stays.
      if (*destination.format == "gtxt" || *destination.format == "json" || *destination.format == "meta" ||
          destination.path == "-") {
        target = by_word;
      } else {
        target.format = by_word.format;
      }
    } else {
      const bool kind_by_name =
          destination.path != "-" && (wanted == "meta" || wanted == "pb") && by_word.kind == model.kind;
      const Kind kind = kind_by_name ? target.kind : by_word.kind;
      target = {kind, by_word.format, by_word.directory};
    }
  }
  if (target.directory && destination.path == "-") {
    throw Error(Cause::kUsage, "a SavedModel is a directory")
        .in(model.path)
        .hint("-o DIRECTORY, or -f pb, pbtxt, gtxt, json");
  }
  return target;
}

void give_tags(Model& model, const std::vector<std::string>& tags) {
  constexpr uint32_t kTags = 4;  // MetaInfoDef
  const std::set<std::string_view> wanted(tags.begin(), tags.end());
  for (size_t i = 0; i < model.meta_graphs.size(); ++i) {
    const std::vector<std::string_view> others = gedit::tags(model.meta_graphs[i]);
    if (i != model.selected && std::set<std::string_view>(others.begin(), others.end()) == wanted)
      throw Error(Cause::kRefused, "another MetaGraph has these tags").in(model.path);
  }
  MetaGraph& meta = model.meta();
  std::string info;
  for (Fields fields(meta.part(meta_field::kInfo)); fields.next();) {
    if (!fields->bytes(kTags)) info += fields->raw;
  }
  for (const std::string& tag : tags) append_bytes_field(info, kTags, tag);
  meta.set_part(meta_field::kInfo, std::move(info));
}

void reduce_to_graph(Model& model) {
  model.meta().parts.clear();
  model.meta().edited = true;
  model.kind = Kind::kGraphDef;
}

std::vector<std::string> convert_kind(Model& model, Kind kind, const std::vector<std::string>& tags,
                                      std::vector<std::string>* notes) {
  std::vector<std::string> warnings;
  if (kind == model.kind) return warnings;
  MetaGraph& meta = model.meta();
  if (kind == Kind::kGraphDef) {
    std::string lost;
    const auto add = [&](size_t count, const char* what) {
      if (count == 0) return;
      lost += (lost.empty() ? "" : ", ") + counted(count, what);
    };
    add(distinct_variables(meta), "VariableDef");
    add(meta.parts_of(meta_field::kSignature).size(), "signature");
    add(meta.parts_of(meta_field::kCollection).size(), "collection");
    add(assets(meta).size(), "asset");
    add(meta.has(meta_field::kSaver) ? 1 : 0, "saver_def");
    add(meta.has(meta_field::kObjectGraph) ? 1 : 0, "object graph");
    if (!lost.empty()) warnings.push_back("a GraphDef holds the graph alone; lost: " + lost);
  }
  if (model.kind == Kind::kSavedModel && model.meta_graphs.size() > 1) {
    warnings.push_back(std::to_string(model.meta_graphs.size() - 1) + " other MetaGraphs are left out");
  }
  if (model.kind == Kind::kSavedModel && kind == Kind::kMetaGraphDef && !model.folder.empty()) {
    const std::vector<Asset> files = assets(meta);
    if (!files.empty())
      warnings.push_back("the assets stay behind: '" + printable(files[0].file) + "'" +
                         (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " more" : ""));
  }
  if (kind == Kind::kSavedModel) {
    const InitOp init = give_init_op(meta);
    warnings.insert(warnings.end(), init.warnings.begin(), init.warnings.end());
    if (!init.operation.empty() && notes != nullptr)
      notes->push_back("init op '" + printable(init.operation) + "' fills " + counted(init.tables, "table") +
                       " when the model is loaded");
    if (const size_t tables = unfilled_tables(meta); tables > 0)
      warnings.push_back("no init op: nothing fills its " + counted(tables, "table") + " when it is loaded");
  }
  // The other MetaGraphs stay in memory and are not written: what an edit holds on to must not move.
  MetaGraph& result = model.meta();
  result.edited = true;
  if (kind == Kind::kGraphDef) {
    result.parts.clear();
  } else if (model.kind == Kind::kGraphDef) {
    result.parts.push_back({meta_field::kGraph, {}});  // marks the graph's place
    result.set_part(meta_field::kInfo, "");
  }
  if (kind == Kind::kSavedModel) {
    if (gedit::tags(result).empty()) {
      std::string info(result.part(meta_field::kInfo));
      for (const std::string& tag : tags) append_bytes_field(info, 4, tag);
      result.set_part(meta_field::kInfo, std::move(info));
    }
    std::string version;
    append_varint_field(version, 1, 1);  // saved_model_schema_version
    model.parts = {{1, model.arena->keep(std::move(version))}, {2, {}}};
  }
  model.kind = kind;
  return warnings;
}

namespace {

std::unique_ptr<CheckpointOutput> values_beside(const Destination& destination, const std::string& prefix) {
  if (destination.values == nullptr) return nullptr;
  WriteOptions options;
  options.overwrite = destination.overwrite;
  options.copy_data = destination.copy_data;
  return std::make_unique<CheckpointOutput>(*destination.values, prefix, options);
}

// The files that the model views; gives the bytes in them.
uint64_t read_through(const Model& model, OutputFile& out) {
  uint64_t size = 0;
  if (model.file) {
    out.read_through(model.file);
    size += model.message.size();
  }
  for (const std::shared_ptr<const InputFile>& file : model.more_files) {
    out.read_through(file);
    size += file->bytes().size();
  }
  return size;
}

// A fingerprint says what is in the files beside it (docs/tensorflow.md#savedmodel-folder).
void note_fingerprint(const std::string& folder, Saved& saved) {
  if (exists(join_path(folder, "fingerprint.pb")))
    saved.notes.emplace_back("fingerprint.pb is left out: it holds for the model before");
}

// Of a SavedModel's file that was written into its folder alone.
void drop_fingerprint(const Model& model, const std::string& path, Saved& saved) {
  const std::string beside = join_path(dir_name(path), "fingerprint.pb");
  const bool unchanged = !model.edited() && base_name(path) == base_name(model.path) && model.verbatim;
  if (model.kind != Kind::kSavedModel || unchanged || !base_name(path).starts_with("saved_model.pb")) return;
  if (std::remove(beside.c_str()) == 0)
    saved.notes.emplace_back("fingerprint.pb is gone: it held for the model before");
}

// What was written, as it will be read from its place.
void inspect(const Destination& destination, const std::string& path, Kind kind) {
  if (!destination.inspect) return;
  LoadOptions options;
  options.as = kind;
  Model written = load(path, options);
  written.path = destination.path;
  destination.inspect(written);
}

// By way of a file that nobody sees, for standard output, a device or a pipe.
void save_through(Model& model, const Target& target, const Destination& destination, OutputFile& out,
                  Tally* tally) {
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(none);
  OutputFile unseen((folder / ("gedit-" + std::to_string(::getpid()))).string(), true);
  read_through(model, unseen);
  write_in(model, target, destination, unseen, tally);
  unseen.finish();
  inspect(destination, unseen.path_meanwhile(), target.kind);
  const std::shared_ptr<const InputFile> written = InputFile::open(unseen.path_meanwhile());
  out.write_from(written, written->bytes());
}

void save_folder(Model& model, const Target& target, const Destination& destination, bool was_folder,
                 Saved& saved) {
  if (target.format == Format::kBinary) check_size(model, streamed_size(model));
  SavedModelFolder folder(destination.path, destination.overwrite, was_folder ? model.folder : "");
  const bool text = target.format == Format::kText;
  OutputFile file(folder.path(text ? "saved_model.pbtxt" : "saved_model.pb"), false);
  read_through(model, file);
  write_in(model, {target.kind, text ? Format::kText : Format::kBinary, true}, destination, file, nullptr);
  file.commit();
  saved.bytes = file.written();
  check_size(model, saved.bytes);
  if (was_folder) {
    const bool values = destination.values == nullptr && !destination.without_values;
    const bool same = values && !model.edited() && target.format == model.format && model.verbatim;
    folder.take_over(model, values, same);
    if (!same && !destination.all_files) note_fingerprint(model.folder, saved);
  } else if (!destination.all_files) {
    folder.add_assets(model);
  }
  folder.add_files(destination.files);
  if (destination.values != nullptr) {
    const std::unique_ptr<CheckpointOutput> values =
        values_beside(destination, join_path(folder.make("variables"), "variables"));
    values->commit();
  }
  inspect(destination, folder.path(""), target.kind);
  folder.commit();
}

// The folder that TensorBoard is pointed at; it is made, and taken away again where nothing gets there.
class LogFolder {
 public:
  explicit LogFolder(const std::string& path) : path_(path) {
    std::error_code error;
    made_ = std::filesystem::create_directories(path, error);
    if (!is_directory(path)) {
      throw Error(Cause::kWrite, exists(path) ? "not a directory" : error.message()).in(path);
    }
  }
  ~LogFolder() {
    std::error_code not_empty;
    if (made_) std::filesystem::remove(path_, not_empty);
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;

 private:
  std::string path_;
  bool made_ = false;
};

void save_events(const Model& model, const Destination& destination, Saved& saved) {
  if (destination.values != nullptr)
    throw Error(Cause::kUsage, "an event file has no checkpoint beside it").in(model.path);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  const LogFolder folder(destination.path);
  OutputFile out(join_path(destination.path, event_file_name(now.count())), destination.overwrite);
  if (model.file) out.read_through(model.file);
  write_events(model, now.count(), out);
  check_size(model, out.written() + out.pending());
  out.finish();
  inspect(destination, out.path_meanwhile(), model.kind);
  out.commit();
  saved.bytes = out.written();
  saved.tally = model.graph().tally();
}

// A MetaGraphDef with a saver is no SavedModel without its values.
void require_values(const Model& model, const Destination& destination) {
  if (destination.values != nullptr || !model.meta().has(meta_field::kSaver)) return;
  throw Error(Cause::kRefused, "has a saver, and a SavedModel needs the values")
      .in(model.path)
      .hint("--checkpoint PREFIX");
}

}  // namespace

Saved save(Model& model, const Destination& destination, bool count) {
  const Target target = target_of(model, destination);
  Saved saved;
  const bool was_folder = model.kind == Kind::kSavedModel && !model.folder.empty();
  if (target.directory && model.kind == Kind::kMetaGraphDef) require_values(model, destination);
  const bool alone = model.kind == Kind::kSavedModel && !was_folder;
  std::vector<std::string> missing;
  if (target.directory && model.kind == Kind::kMetaGraphDef && !destination.all_files)
    missing = give_assets(model);
  saved.warnings = convert_kind(model, target.kind, destination.tags, &saved.notes);
  if (alone && target.directory && destination.values == nullptr && model.meta().has(meta_field::kSaver))
    saved.warnings.emplace_back("has a saver and no values; hint: --checkpoint PREFIX");
  saved.warnings.insert(saved.warnings.end(), missing.begin(), missing.end());
  if (target.events) {
    save_events(model, destination, saved);
    return saved;
  }
  if (target.directory) {
    save_folder(model, target, destination, was_folder, saved);
    return saved;
  }
  if (destination.values != nullptr && destination.path == "-") {
    throw Error(Cause::kUsage, "a checkpoint cannot be written beside standard output").hint("-o FILE");
  }
  if (destination.values != nullptr && target.kind == Kind::kSavedModel) {
    throw Error(Cause::kRefused, "its values would not lie in variables/, where they are looked for")
        .in(destination.path)
        .hint("the folder instead of the file in it");
  }
  const uint64_t size = target.format == Format::kBinary ? streamed_size(model) : 0;
  check_size(model, size);
  OutputFile out(destination.path, destination.overwrite);
  const uint64_t read = read_through(model, out);
  if (target.format == Format::kBinary) out.expect(std::max(size, read));
  Tally* const tally = count ? &saved.tally : nullptr;
  const bool unseen = !out.path_meanwhile().empty();
  if (destination.inspect && !unseen) {
    save_through(model, target, destination, out, tally);
  } else {
    write_in(model, target, destination, out, tally);
  }
  if (target.format == Format::kBinary) check_size(model, out.written() + out.pending());
  refuse_nothing(model, out);
  if (destination.inspect && unseen) {
    out.finish();
    inspect(destination, out.path_meanwhile(), target.kind);
  }
  // The graph comes last, so that whoever sees it finds its values; where it cannot, the old values are back.
  const std::unique_ptr<CheckpointOutput> values = values_beside(destination, twin_prefix(destination.path));
  if (values != nullptr) {
    out.finish();
    values->commit([&] { out.commit(); });
  } else {
    out.commit();
  }
  saved.bytes = out.written();
  drop_fingerprint(model, destination.path, saved);
  return saved;
}

}  // namespace gedit
