// gedit checkpoint verify: what is wrong with a checkpoint.
#include "checkpoint/verify.h"

#include "base/size.h"
#include "cli/checkpoints.h"
#include "cli/faults.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "commands.h"

namespace gedit {
namespace {

class VerifyCheckpoint final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    output_.setup(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    const Checkpoint checkpoint = operand_.open();
    const std::vector<Fault> faults = [&] {
      const Progress reading("reading every byte of " + checkpoint.prefix, operand_.quiet());
      return verify_checkpoint(checkpoint);
    }();
    const size_t errors = count_errors(faults);
    output_.print(faults, file_of(checkpoint), {});
    if (!operand_.quiet()) {
      say("tensors " + std::to_string(checkpoint.tensors.size()) + ", data files " +
          std::to_string(checkpoint.shards.size()) + ", " + size_text(referenced_bytes(checkpoint)) + ": " +
          (errors == 0 ? "no faults" : "faults " + std::to_string(errors)) +
          (errors == faults.size() ? "" : ", warnings " + std::to_string(faults.size() - errors)));
    }
    return errors == 0 ? 0 : 1;
  }

 private:
  // Code scanning shows what is in files.
  static std::string file_of(const Checkpoint& checkpoint) {
    return checkpoint.version == 1 ? checkpoint.prefix : index_path(checkpoint.prefix);
  }

  CheckpointOperand operand_;
  FaultOptions output_;
};

}  // namespace

CommandInfo checkpoint_verify_command() {
  return {
      .summary = "reads every byte and tells what is wrong",
      .synopsis = "CKPT [-f FORMAT]",
      .text = R"(
Compares every checksum, size, range and slice, and prints a line for each fault: error RULE SUBJECT: MESSAGE.
RULE is file, range, size, slices, overlap or checksum. Exit status 1 where there is a fault. That slices leave a
part of their tensor uncovered is a warning: TensorFlow 1 writes slots of some partitioned variables so.
)",
      .examples = R"(
gedit checkpoint verify model && echo whole
gedit checkpoint verify model -q -j | jq -r '.[].subject'
)",
      .make = make_command<VerifyCheckpoint>,
  };
}

}  // namespace gedit
