// gedit checkpoint merge: the tensors of several checkpoints as one.
#include "base/error.h"
#include "checkpoint/edit.h"
#include "checkpoint/open.h"
#include "cli/checkpoints.h"
#include "commands.h"

namespace gedit {
namespace {

class MergeCheckpoints final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("CKPT", operands_,
                    R"(A prefix, a file of the checkpoint, a directory, a SavedModel; NAME=CKPT: NAME/ comes
                       before its keys)")
        ->required()
        ->type_name("[NAME=]CKPT");
    line.add_option("--on-conflict", on_conflict_, "error (default), or the first or last of one name wins")
        ->one_of({"error", "first", "last"})
        ->type_name("RULE");
    target_.setup(line);
    target_.setup_index_only(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    if (operands_.size() < 2) throw Error(Cause::kUsage, "merge needs two checkpoints");
    std::vector<MergeInput> inputs;
    CheckpointCounts before;
    for (const std::string& text : operands_) {
      inputs.push_back(open_input(text));
      const CheckpointCounts one = count(inputs.back().checkpoint);
      before.tensors += one.tensors;
      before.bytes += one.bytes;
    }
    const OnConflict rule = on_conflict_ == "first"  ? OnConflict::kFirst
                            : on_conflict_ == "last" ? OnConflict::kLast
                                                     : OnConflict::kError;
    Checkpoint merged = merge_checkpoints(std::move(inputs), rule);
    KeyChanges changes;
    if (target_.dry_run()) {
      for (const Tensor& tensor : merged.tensors) changes.push_back({"", tensor.name});
    }
    target_.write(std::move(merged), before, changes, operand_.quiet());
    return 0;
  }

 private:
  // NAME=CKPT, unless there is a checkpoint of that whole name.
  MergeInput open_input(const std::string& text) const {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || find_checkpoint(text))
      return {"", target_.open(operand_, text)};
    std::string name = text.substr(0, equals);
    while (name.ends_with('/')) name.pop_back();
    return {name, target_.open(operand_, text.substr(equals + 1))};
  }

  std::vector<std::string> operands_;
  CheckpointOperand operand_;
  CheckpointTarget target_;
  std::string on_conflict_;
};

}  // namespace

CommandInfo checkpoint_merge_command() {
  return {
      .summary = "makes one checkpoint of several",
      .synopsis = "[NAME=]CKPT.. [--on-conflict RULE] -o PREFIX",
      .text = R"(
Writes the union; NAME/ comes before each key of NAME=CKPT. Slices of one tensor that lie in several
checkpoints come together. Two object-based checkpoints need names: their roots become children of a new root.

No value is read: the index is written anew, data files are reflinked, else hard-linked, else copied, and
numbered anew. A data file is never written to.
)",
      .examples = R"(
gedit checkpoint merge a=run1 b=run2 -o both
gedit checkpoint merge base finetuned --on-conflict last -o model
)",
      .make = make_command<MergeCheckpoints>,
  };
}

}  // namespace gedit
