// gedit checkpoint drop: a checkpoint without some tensors.
#include <algorithm>
#include <functional>

#include "base/size.h"
#include "checkpoint/edit.h"
#include "cli/checkpoints.h"
#include "cli/say.h"
#include "commands.h"
#include "select/keys.h"

namespace gedit {
namespace {

class DropTensors final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option("SELECTOR", selectors_, "What goes: all that one of these hits")->required();
    line.add_flag("--compact", target_.options.pack, "Rewrite the data files without what went");
    target_.setup_in_place(line);
    target_.setup_index_only(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    target_.hint = "--compact";
    edit_checkpoint(operand_, target_, [&](Checkpoint& checkpoint, KeyChanges* changes) {
      std::vector<bool> hits(checkpoint.tensors.size(), false);
      for (const std::string& selector : selectors_) {
        const std::vector<bool> more = require_tensors(checkpoint, selector);
        std::transform(hits.begin(), hits.end(), more.begin(), hits.begin(), std::logical_or<>());
      }
      warn_of_others(checkpoint, hits);
      drop_tensors(checkpoint, hits, changes);
    });
    return 0;
  }

 private:
  void warn_of_others(const Checkpoint& checkpoint, const std::vector<bool>& hits) const {
    if (operand_.quiet()) return;
    const std::vector<HeldElsewhere> held = held_elsewhere(checkpoint, hits, selectors_);
    if (held.empty()) return;
    say_warning("other objects lose " + counted(held.size(), "tensor") + " of theirs: " +
                tensor_subject(held.front().key) + " is '" + printable(held.front().other) + "', too");
  }

  CheckpointOperand operand_;
  CheckpointTarget target_;
  std::vector<std::string> selectors_;
};

}  // namespace

CommandInfo checkpoint_drop_command() {
  return {
      .summary = "leaves tensors out",
      .synopsis = "CKPT SELECTOR.. [--compact] (-o PREFIX | -i)",
      .text = R"(
Writes the checkpoint without the tensors that a SELECTOR hits, which are those of gedit checkpoint list. The
object graph is mended, so that the rest restores without complaint. A variable that a model and its optimizer
hold is there once, by the shortest path: it is told where others lose it.

No value is read: the index is written anew, data files are reflinked, else hard-linked, else copied, and keep
the bytes of what went, unless --compact is given. A data file is never written to.
)",
      .examples = R"(
gedit checkpoint drop bert '**/adam_[mv], beta?_power' -o slim
gedit checkpoint drop model 're:/Adam' --compact -o small
)",
      .make = make_command<DropTensors>,
  };
}

}  // namespace gedit
