// gedit checkpoint rename: other names for tensors.
#include "base/error.h"
#include "checkpoint/edit.h"
#include "cli/checkpoints.h"
#include "commands.h"

namespace gedit {
namespace {

class RenameTensors final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option("PAIR", pairs_,  // CLI11 2.4 takes no `=` in a name
                    "OLD=NEW: a=b one tensor, a/=b/ a scope, a/= strips it, /=b/ puts all below b; @file");
    line.add_option("-e,--expression", expressions_, "sed on names, RE2 syntax, after the pairs")
        ->one_each()
        ->type_name("s/RE/REPL/[g]");
    target_.setup_in_place(line);
    target_.setup_index_only(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    if (pairs_.empty() && expressions_.empty()) throw Error(Cause::kUsage, "rename needs OLD=NEW");
    Renaming renaming;
    for (NamePair& pair : parse_name_pairs(pairs_)) renaming.add(std::move(pair));
    for (const std::string& text : expressions_) renaming.add(Substitution(text));
    edit_checkpoint(operand_, target_, [&](Checkpoint& checkpoint, KeyChanges* changes) {
      rename_tensors(checkpoint, renaming, changes);
    });
    return 0;
  }

 private:
  CheckpointOperand operand_;
  CheckpointTarget target_;
  std::vector<std::string> pairs_, expressions_;
};

}  // namespace

CommandInfo checkpoint_rename_command() {
  return {
      .summary = "renames tensors and scopes",
      .synopsis = "CKPT OLD=NEW.. [-e s/RE/REPL/[g]].. (-o PREFIX | -i)",
      .text = R"(
a=b renames one tensor, a/=b/ a scope, a/= strips it, /=b/ puts all below b. @FILE has one pair a line. Pairs
apply at once, so a=b b=a swaps; then the -e. In an object-based checkpoint OLD and NEW are paths of objects.

No value is read: the index is written anew, data files are reflinked, else hard-linked, else copied. A data
file is never written to.
)",
      .examples = R"(
gedit checkpoint rename model a/w=decoder/kernel old/=new/ -o renamed
gedit checkpoint rename model -e 's#^tower_0/##' -i
)",
      .make = make_command<RenameTensors>,
  };
}

}  // namespace gedit
