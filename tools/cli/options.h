// Options that several commands share, each group declared once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/say.h"
#include "edit/basis/changes.h"
#include "model/model.h"
#include "model/save.h"
#include "ops/registry.h"

namespace gedit {

// What an edit leaves behind, for the line on standard error.
struct Counts {
  uint64_t nodes = 0, variables = 0, functions = 0, bytes = 0;
};
Counts count(const Model& model);
// The same of a model whose nodes are needed afterwards: what finds them counts them, too.
Counts decode_and_count(Model& model);

// The operand FILE and how to read it.
class InputOptions {
 public:
  void setup(CommandLine& line);
  // The same without the operand, for commands that read several files.
  void setup_options(CommandLine& line);
  void take(std::string path) {
    path_ = std::move(path);
  }  // the operand, for those with operands of their own
  Model load(const std::string& tensors_from = {}) const;
  // The model to edit: of a SavedModel with several MetaGraphs the one that --tag-set picks. Throws where
  // none was named.
  Model load_one() const { return load_one(path_); }
  Model load_one(const std::string& named) const;
  const std::string& path() const { return path_; }

  // What is known of the ops in the model: its functions, --ops FILE, the built-in list, its
  // stripped_op_list.
  // The model outlives it.
  Registry registry(const Model& model) { return registry(model, model.selected); }
  Registry registry(const Model& model, size_t meta_graph);
  bool quiet = false;          // set before load(): nothing is said of another file that is taken
  bool without_graph = false;  // set before load(): an event file without a graph is read, too
  bool tag_set_given() const { return !tag_set_.empty(); }

 private:
  LoadOptions options() const;
  std::string path_of_graph(const std::string& named) const;

  std::string path_, as_, tag_set_;
  std::vector<std::string> ops_files_;
  std::vector<std::shared_ptr<const InputFile>> ops_inputs_;
  Arena ops_arena_;
};

// Where the result goes.
class OutputOptions {
 public:
  void setup(CommandLine& line, bool in_place = true);  // `in_place`: with -i, which needs the one FILE

  void setup_state(CommandLine& line);  // --state, of a command that may write a checkpoint beside OUT

  // Throws Error (kUsage) before anything is done: -i with -o, a terminal as the output, standard input
  // edited in place.
  void check(const Model& model) const;
  Destination destination(const Model& model) const;
  bool given() const { return !path_.empty() || !format_.empty() || in_place_ || overwrite_ || dry_run_; }
  // Whether OUT is to be a GraphDef whatever FILE is: .pb or .pbtxt, by suffix or format.
  bool asks_for_graph() const;
  // Where assets of what becomes a SavedModel may lie besides the model's folder, or empty.
  const std::string& assets() const { return assets_; }
  bool dry_run() const { return dry_run_; }
  bool quiet() const { return quiet_; }
  bool overwrites() const { return overwrite_ || in_place_; }
  bool to_standard_output() const { return !in_place_ && (path_.empty() || path_ == "-"); }
  const std::string& format() const { return format_; }
  // For commands that may be meant to make a SavedModel: the note that OUT, a name without a suffix, becomes
  // one file. None where it says what it is.
  std::vector<std::string> note_of_file(const Model& model) const;

  // Writes the model, says what changed and what was lost. `before` has one for each model that was read;
  // without any the edit added and removed no node, and they are counted while they are written. `lines` are
  // the command's own report, said last.
  void save(Model& model, const std::vector<Counts>& before, const std::vector<std::string>& warnings = {},
            const std::vector<std::string>& notes = {}, const std::vector<std::string>& lines = {});

  Destination base;    // what a command asks for beyond these options
  std::string listed;  // what --dry-run gives on standard output; said when nothing can fail any more
  // Looks at the result, read again, before it takes its place; gives what is to be told (verifying.h).
  std::function<std::string(Model& written)> verify;

 private:
  std::string path_, format_, assets_;
  std::string twin_to_note(const Model& model, const Destination& to) const;

  bool overwrite_ = false, in_place_ = false, dry_run_ = false, quiet_ = false, state_ = false;
};

// `--clear-devices`, of edits that take a part of a graph elsewhere.
class DeviceOption {
 public:
  void setup(CommandLine& line);
  // Ahead of the edit; and with what it left: lists what was cleared, or says which devices are of a cluster.
  void before(Model& model);
  void after(const Model& model, Changes& changes, bool want_changes) const;
  bool clears() const { return clear_; }

 private:
  bool clear_ = false;
  Changes cleared_;
};

// `--color` and NO_COLOR: whether standard output gets colours.
class ColorOption {
 public:
  void setup(CommandLine& line);
  bool on() const;

 private:
  std::string when_ = "auto";
};

// Loads FILE, edits it, and writes OUT or, with -n, lists what would change. `edit` takes the model and what
// is known of its ops, and gives Changes.
// `read`: called with the model as it was read.
void edit_file(InputOptions& input, OutputOptions& output,
               const std::function<Changes(Model& model, Registry& ops)>& edit,
               const std::function<void(const Model& model)>& read = {});

// `a,b:float32[2,3],c` at the commas that are outside of brackets.
std::vector<std::string> split_list(const std::vector<std::string>& texts);

}  // namespace gedit
