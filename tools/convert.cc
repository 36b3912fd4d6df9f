// gedit convert: between GraphDef, MetaGraphDef and SavedModel, binary, text, listing and JSON.
#include "checkpoint/open.h"
#include "cli/options.h"
#include "cli/verifying.h"
#include "commands.h"
#include "edit/savers/checkpoint_keys.h"

namespace gedit {
namespace {

class Convert final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    output_.setup(line);
    output_.setup_state(line);
    verifying_.setup(line);
    line.add_option("--checkpoint", checkpoint_, "Variables of a MetaGraphDef that becomes a SavedModel")
        ->type_name("CKPT");
    line.add_option("--tags", tags_, "Tags of the SavedModel; default: its own, of a new one serve")
        ->type_name("TAG,..");
    line.add_option("--tensors-from", tensors_from_, "File with the tensors that a listing elides")
        ->type_name("FILE");
    line.add_flag("--drop-unknown", output_.base.drop_unknown,
                  "Leave out fields that text and JSON cannot hold");
  }

  int run() override {
    input_.quiet = output_.quiet();
    Model model = input_.load(tensors_from_);
    output_.check(model);
    verifying_.read(model);
    verifying_.prepare(input_, output_);
    if (!tags_.empty()) {
      output_.base.tags = split_list({tags_});
      if (model.meta_graphs.size() > 1 && !input_.tag_set_given())
        throw Error(Cause::kUsage, "holds several MetaGraphs; --tag-set says whose tags these are")
            .in(model.path);
      if (model.kind != Kind::kGraphDef) give_tags(model, output_.base.tags);
    }
    attach_values(model);
    output_.save(model, {}, {}, output_.note_of_file(model));
    return 0;
  }

 private:
  // Where the result keeps values beside it and the source does not already lie there as it must.
  void attach_values(Model& model) {
    const Target target = target_of(model, output_.destination(model));
    const bool twin = model.kind == Kind::kSavedModel && target.kind == Kind::kMetaGraphDef &&
                      !output_.to_standard_output();
    const bool folder = target.directory;  // a SavedModel may be a file alone, and have its values elsewhere
    const std::string named = twin ? checkpoint_of(model, checkpoint_) : checkpoint_;
    if (named.empty()) return;
    if (!twin && !folder)
      throw Error(Cause::kUsage, "--checkpoint goes with a SavedModel, or from one to a .meta");
    std::vector<std::string> warnings;
    output_.base.values = std::make_shared<Checkpoint>(open_checkpoint(named, &warnings));
    for (const std::string& warning : warnings) say_warning(warning);
    if (model.kind == Kind::kMetaGraphDef) require_keys(model, *output_.base.values, named);
  }

  InputOptions input_;
  OutputOptions output_;
  Verifying verifying_;
  std::string tags_, tensors_from_, checkpoint_;
};

}  // namespace

CommandInfo convert_command() {
  return {
      .summary = "changes the kind or the format of a file",
      .synopsis = R"(FILE -o OUT [-f pb|pbtxt|meta|gtxt|json|saved_model|events] [--checkpoint CKPT]
                     [--tags serve] [--tensors-from FILE])",
      .text = R"(
Writes FILE as OUT's suffix says, or as --format says: .pb a GraphDef, .meta a MetaGraphDef, .pbtxt protobuf
text, .gtxt the listing, .json protobuf JSON, a directory a SavedModel. The same kind and format is a byte
copy. Between binary, text, listing and JSON of one kind nothing is lost but the order of map entries. What
another kind cannot hold is named in a warning. Unknown fields are kept in binary and listing; text and JSON
refuse them unless --drop-unknown is given.

What becomes a SavedModel and fills tables gets an init op, since loaders run nothing else: the initializers
of collection table_initializer, else all that can run by themselves, and those of local variables. An
operation that runs them all is taken where there is one; a note names it. Files that a MetaGraphDef names
in collection asset_filepaths go into assets/. --checkpoint also gives a SavedModel in one text file its
values.

FILE may be an event file of TensorBoard, in this and every other command: its last graph is taken, the last
of the kind that --as names where it holds both, and what is written is that graph, not an event file. An
event that is not whole, as a writer leaves it that still runs, is passed over. --format=events writes
OUT/events.out.tfevents.SECONDS.gedit with the graph, to be looked at in TensorBoard.
)",
      .examples = R"(
gedit convert model.meta --checkpoint model -o export/1/
gedit convert graph.pb -f pbtxt -o -
gedit convert graph.pb -f events -o logs/ && tensorboard --logdir logs
)",
      .make = make_command<Convert>,
  };
}

}  // namespace gedit
