#include "cli/options.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "base/error.h"
#include "base/size.h"
#include "base/wire.h"
#include "cli/progress.h"
#include "edit/around/devices.h"
#include "model/collections.h"
#include "model/finding.h"
#include "model/folder.h"
#include "model/graph_path.h"
#include "model/ops_file.h"
#include "weights/training_state.h"

namespace gedit {
namespace {

std::optional<Kind> kind_of_word(const std::string& word) {
  if (word == "graph") return Kind::kGraphDef;
  if (word == "metagraph") return Kind::kMetaGraphDef;
  if (word == "saved_model") return Kind::kSavedModel;
  return std::nullopt;
}

// `61 + 38`, of what was read; nothing everywhere is one 0.
template <typename Text>
std::string sum_text(const std::vector<Counts>& counts, uint64_t Counts::*what, Text text) {
  std::string sum;
  bool any = false;
  for (const Counts& one : counts) {
    sum += (sum.empty() ? "" : " + ") + text(one.*what);
    any = any || one.*what != 0;
  }
  return any ? sum : text(0);
}

}  // namespace

Counts count(const Model& model) {
  return with_file(model, [&] {
    const Tally tally = model.graph().tally();
    return Counts{tally.nodes, tally.variables, tally.functions, model.message.size()};
  });
}

Counts decode_and_count(Model& model) {
  with_file(model, [&] { model.graph().decode(); });
  return count(model);
}

void InputOptions::setup(CommandLine& line) {
  line.add_option("FILE", path_,
                  R"(GraphDef, MetaGraphDef or SavedModel in any form, or an event file: its last graph; -
                     is standard input)")
      ->required();
  setup_options(line);
}

void InputOptions::setup_options(CommandLine& line) {
  line.add_option(
          "--as", as_,
          "Take FILE for this: graph, metagraph or saved_model; of an event file the last graph of that kind")
      ->one_of({"graph", "metagraph", "saved_model"})
      ->type_name("KIND");
  line.add_option("--tag-set", tag_set_, "The MetaGraph with these tags, of a SavedModel that holds several")
      ->type_name("TAG,..");
  line.add_option("--ops", ops_files_, "Definitions of custom ops: an OpList, binary or text")
      ->type_name("FILE");
}

LoadOptions InputOptions::options() const {
  LoadOptions options;
  options.as = kind_of_word(as_);
  options.without_graph = without_graph;
  for (std::string_view left = tag_set_; !left.empty();) {
    const size_t comma = left.find(',');
    options.tag_set.emplace_back(left.substr(0, comma));
    left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 1);
  }
  return options;
}

Model InputOptions::load(const std::string& tensors_from) const {
  LoadOptions load_options = options();
  load_options.tensors_from = tensors_from;
  const std::string path = path_of_graph(path_);
  const Progress reading("reading " + path, path == "-");
  return gedit::load(path, load_options);
}

std::string InputOptions::path_of_graph(const std::string& named) const {
  if (named.find('=') != std::string::npos && !exists(named))
    throw Error(Cause::kInput, "no such file or directory").in(named).hint("FILE stands before OLD=NEW");
  const GraphPath found = graph_path(named);
  if (!found.note.empty() && !quiet) say_note(found.note);
  return found.path;
}

Model InputOptions::load_one(const std::string& named) const {
  const std::string path = path_of_graph(named);
  Model model = [&] {
    const Progress reading("reading " + path, path == "-");
    return gedit::load(path, options());
  }();
  if (model.meta_graphs.size() > 1 && tag_set_.empty()) {
    constexpr size_t kMostSets = 8;
    std::string sets;
    for (const MetaGraph& meta :
         std::span(model.meta_graphs).first(std::min(model.meta_graphs.size(), kMostSets))) {
      std::string set;
      for (const std::string_view tag : tags(meta)) set.append(set.empty() ? "" : ",").append(tag);
      sets += (sets.empty() ? "--tag-set " : " or ") + printable(set);
    }
    if (model.meta_graphs.size() > kMostSets) sets += " or ..";
    throw Error(Cause::kUsage, "holds " + std::to_string(model.meta_graphs.size()) + " MetaGraphs")
        .in(path)
        .hint(sets);
  }
  return model;
}

Registry InputOptions::registry(const Model& model, size_t meta_graph) {
  const MetaGraph& meta = model.meta_graphs[meta_graph];
  Registry registry;
  registry.add_library([&meta] { return meta.graph.part(graph_field::kLibrary); });
  for (const std::string& path : ops_files_) {
    ops_inputs_.push_back(InputFile::open(path));
    registry.add_op_list(read_op_list(*ops_inputs_.back(), ops_arena_));
  }
  registry.add_builtin();
  registry.add_op_list(last_bytes(meta.part(meta_field::kInfo), 2));
  return registry;
}

void OutputOptions::setup(CommandLine& line, bool in_place) {
  line.add_option("-o,--output", path_, "Write to OUT; - is standard output")->type_name("OUT");
  line.add_option(
          "-f,--format", format_,
          "pb, pbtxt, meta, gtxt, json, saved_model or events; default: by the suffix of OUT, else as FILE")
      ->offers({"pb", "pbtxt", "meta", "gtxt", "json", "saved_model", "events"})
      ->type_name("FORMAT");
  line.add_option("--assets", assets_, "Where assets for a SavedModel lie that are not in FILE's folder")
      ->type_name("DIR");
  line.add_flag("-O,--overwrite", overwrite_, "Replace OUT where it exists");
  if (in_place) line.add_flag("-i,--in-place", in_place_, "Edit FILE itself");
  line.add_flag("-n,--dry-run", dry_run_, "Print what would change and write nothing");
  line.add_flag("-q,--quiet", quiet_, "Say nothing but errors");
}

void OutputOptions::setup_state(CommandLine& line) {
  line.add_flag("--state", state_, "Note the checkpoint beside OUT in the folder's `checkpoint` file");
}

// The prefix of the checkpoint that is to be noted, or nothing.
std::string OutputOptions::twin_to_note(const Model& model, const Destination& to) const {
  if (!state_) return {};
  if (to.values == nullptr) throw Error(Cause::kUsage, "no checkpoint is written").of("--state");
  if (target_of(model, to).directory)
    throw Error(Cause::kUsage, "a SavedModel's folder has no `checkpoint` file").of("--state");
  return twin_prefix(to.path);
}

void OutputOptions::check(const Model& model) const {
  if (in_place_ && !path_.empty()) throw Error(Cause::kUsage, "-i and -o exclude each other");
  if (in_place_ && model.events)
    throw Error(Cause::kUsage, "an event file cannot be edited in place").in(model.path).hint("-o FILE");
  if (in_place_ && model.path == "-")
    throw Error(Cause::kUsage, "standard input cannot be edited in place").hint("-o FILE");
  if (in_place_ && !std::filesystem::is_regular_file(model.path) && !is_directory(model.path))
    throw Error(Cause::kUsage, "is no regular file and cannot be edited in place")
        .in(model.path)
        .hint("-o FILE");
  if (!assets_.empty() && !is_directory(assets_))
    throw Error(Cause::kUsage, "no such directory").of(quoted("--assets", assets_));
  if (dry_run_) return;
  if (!in_place_ && path_.empty() && ::isatty(STDOUT_FILENO) != 0) {
    throw Error(Cause::kUsage, "standard output is a terminal")
        .hint("-o FILE, or -o - to have it there all the same");
  }
  target_of(model, destination(model));  // refuses what cannot be
}

bool OutputOptions::asks_for_graph() const {
  if (!format_.empty()) return format_ == "pb" || format_ == "pbtxt";
  const std::string_view name = base_name(path_);
  return (name.ends_with(".pb") || name.ends_with(".pbtxt")) && !name.starts_with("saved_model.pb");
}

Destination OutputOptions::destination(const Model& model) const {
  Destination destination = base;
  destination.path = in_place_ ? model.path : path_.empty() ? "-" : path_;
  destination.overwrite = overwrite_ || in_place_;
  if (!format_.empty()) destination.format = format_;
  return destination;
}

std::vector<std::string> OutputOptions::note_of_file(const Model& model) const {
  if (to_standard_output() || in_place_ || !format_.empty() ||
      base_name(path_).find('.') != std::string_view::npos)
    return {};
  const Target target = target_of(model, destination(model));
  if (target.directory || target.kind == Kind::kSavedModel) return {};
  return {printable(path_) + " is a " + std::string(kind_word(target.kind)) +
          " in one file; a SavedModel: -o " + printable(path_) + "/"};
}

void OutputOptions::save(Model& model, const std::vector<Counts>& before,
                         const std::vector<std::string>& warnings, const std::vector<std::string>& notes,
                         const std::vector<std::string>& lines) {
  Saved saved;
  std::vector<std::string> verified;
  model.assets_folder = assets_;
  if (dry_run_) {
    Counter counter;
    with_file(model, [&] { write_message(model, counter, &saved.tally); });
    saved.bytes = counter.size();
    print(listed);
  } else {
    Destination to = destination(model);
    if (verify) to.inspect = [&](Model& written) { verified.push_back(verify(written)); };
    const std::string twin = twin_to_note(model, to);
    const bool shown = to_standard_output() && ::isatty(STDOUT_FILENO) != 0;
    const Progress writing(verify ? "writing and proving" : "writing", quiet_ || shown);
    saved = with_file(model, [&] { return gedit::save(model, to, !quiet_); });
    if (!twin.empty()) note_checkpoint(twin);
  }
  if (quiet_) return;
  // Text was written from the message, not from the graph.
  const Tally tally = saved.tally.nodes > 0 ? saved.tally : model.graph().tally();
  const Counts after{tally.nodes, tally.variables, tally.functions, model.message.size()};
  const std::vector<Counts> was = before.empty() ? std::vector<Counts>{after} : before;
  const auto text = [](uint64_t number) { return std::to_string(number); };
  // All in one write: where memory ends before it, that is the only line.
  std::string report = "nodes " + sum_text(was, &Counts::nodes, text) + " -> " + text(after.nodes) +
                       ", variables " + sum_text(was, &Counts::variables, text) + " -> " +
                       text(after.variables) + ", functions " + sum_text(was, &Counts::functions, text) +
                       " -> " + text(after.functions) + ", " + sum_text(was, &Counts::bytes, size_text) +
                       " -> " + size_text(saved.bytes);
  const auto add = [&report](const char* word, const std::vector<std::string>& texts) {
    for (const std::string& line : texts) report.append("\n").append(word).append(line);
  };
  add("warning: ", warnings);
  add("warning: ", saved.warnings);
  add("note: ", notes);
  add("note: ", saved.notes);
  add("note: ", verified);
  add("", lines);
  say(report);
}

void DeviceOption::setup(CommandLine& line) {
  line.add_flag("--clear-devices", clear_, "No node of OUT is on a device, in functions neither");
}

void DeviceOption::before(Model& model) {
  if (clear_) cleared_ = with_file(model, [&] { return clear_devices(model); });
}

void DeviceOption::after(const Model& model, Changes& changes, bool want_changes) const {
  with_file(model, [&] {
    if (!clear_) note_jobs(model, changes);
    if (clear_ && want_changes) add_cleared(model, cleared_, changes);
  });
}

void ColorOption::setup(CommandLine& line) {
  line.add_option("--color", when_, "Colours: auto (on a terminal, unless NO_COLOR is set), always or never")
      ->one_of({"auto", "always", "never"})
      ->type_name("WHEN");
}

bool ColorOption::on() const {
  if (when_ != "auto") return when_ == "always";
  const char* none = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) != 0 && (none == nullptr || *none == '\0');
}

void edit_file(InputOptions& input, OutputOptions& output,
               const std::function<Changes(Model& model, Registry& ops)>& edit,
               const std::function<void(const Model& model)>& read) {
  input.quiet = output.quiet();
  Model model = input.load_one();
  if (read) read(model);
  output.check(model);
  Registry ops = input.registry(model);
  Counts before;
  const Changes changes = [&] {
    const Progress deciding("deciding what changes", output.quiet());
    before = decode_and_count(model);
    return with_file(model, [&] { return edit(model, ops); });
  }();
  if (output.dry_run()) output.listed = changes.text();
  output.save(model, {before}, changes.warnings, changes.notes);
}

std::vector<std::string> split_list(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) {
    int depth = 0;
    std::string part;
    for (const char c : text) {
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
      if (c == ',' && depth == 0) {
        if (!part.empty()) parts.push_back(std::move(part));
        part.clear();
      } else {
        part += c;
      }
    }
    if (!part.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace gedit
