// gedit checkpoint copy: tensors once more under other names.
#include "base/error.h"
#include "checkpoint/edit.h"
#include "cli/checkpoints.h"
#include "cli/say.h"
#include "commands.h"

namespace gedit {
namespace {

class CopyTensors final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option("PAIR", pairs_,  // CLI11 2.4 takes no `=` in a name
                    "OLD=NEW: a=b one tensor, a/=b/ a scope, a/= strips it, /=b/ puts all below b; @file");
    target_.setup_in_place(line);
    target_.setup_index_only(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    if (pairs_.empty()) throw Error(Cause::kUsage, "copy needs OLD=NEW");
    const std::vector<NamePair> pairs = parse_name_pairs(pairs_);
    edit_checkpoint(operand_, target_, [&](Checkpoint& checkpoint, KeyChanges* changes) {
      copy_tensors(checkpoint, pairs, changes);
      if (checkpoint.object_based() && !operand_.quiet())
        say_warning("the new keys belong to no object: tf.train.Checkpoint does not restore them");
    });
    return 0;
  }

 private:
  CheckpointOperand operand_;
  CheckpointTarget target_;
  std::vector<std::string> pairs_;
};

}  // namespace

CommandInfo checkpoint_copy_command() {
  return {
      .summary = "has tensors under a second name, with the same bytes",
      .synopsis = "CKPT OLD=NEW.. (-o PREFIX | -i)",
      .text = R"(
As gedit checkpoint rename, with the old names kept: a=b copies one tensor, a/=b/ a scope. Both share their
bytes. In an object-based checkpoint the new keys belong to no object.

No value is read: the index is written anew, data files are reflinked, else hard-linked, else copied. A data
file is never written to.
)",
      .examples = R"(
gedit checkpoint copy dqn online/=target/ -o dqn2
gedit checkpoint copy model step=global_step -i
)",
      .make = make_command<CopyTensors>,
  };
}

}  // namespace gedit
