// gedit checkpoint dedupe: equal bytes are stored once.
#include "weights/dedupe.h"

#include "base/error.h"
#include "cli/checkpoints.h"
#include "commands.h"

namespace gedit {
namespace {

class DedupeCheckpoint final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    target_.setup(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    target_.options.pack = true;
    edit_checkpoint(operand_, target_, [&](Checkpoint& checkpoint, KeyChanges*) {
      if (share_equal_bytes(checkpoint) == 0)
        throw refused("no two tensors have the same bytes").in(checkpoint.prefix);
    });
    return 0;
  }

 private:
  CheckpointOperand operand_;
  CheckpointTarget target_;
};

}  // namespace

CommandInfo checkpoint_dedupe_command() {
  return {
      .summary = "stores equal bytes once",
      .synopsis = "CKPT -o PREFIX",
      .text = R"(
Tensors with the same bytes (a target network, weights and their fresh averages) share one place; they restore as
before. Bytes are compared, not checksums alone. The data file is written anew.
)",
      .examples = R"(
gedit checkpoint dedupe model -o small
gedit checkpoint dedupe dqn -O -o dqn
)",
      .make = make_command<DedupeCheckpoint>,
  };
}

}  // namespace gedit
