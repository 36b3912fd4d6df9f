// gedit checkpoint verify: what is wrong with a checkpoint.
#include "checkpoint/verify.h"

#include "base/size.h"
#include "cli/checkpoints.h"
#include "cli/say.h"
#include "commands.h"

namespace gedit {
namespace {

class VerifyCheckpoint final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_flag("-j,--json", json_, "[{\"level\", \"rule\", \"subject\", \"message\"}]");
    operand_.setup_quiet(line);
  }

  int run() override {
    const Checkpoint checkpoint = operand_.open();
    const std::vector<Fault> faults = verify_checkpoint(checkpoint);
    OutputFile out("-", true);
    print_faults(faults, json_, out);
    out.commit();
    if (!operand_.quiet()) {
      say("tensors " + std::to_string(checkpoint.tensors.size()) + ", data files " +
          std::to_string(checkpoint.shards.size()) + ", " + size_text(referenced_bytes(checkpoint)) + ": " +
          (faults.empty() ? "no faults" : "faults " + std::to_string(faults.size())));
    }
    return faults.empty() ? 0 : 1;
  }

 private:
  CheckpointOperand operand_;
  bool json_ = false;
};

}  // namespace

CommandInfo checkpoint_verify_command() {
  return {
      .summary = "reads every byte and tells what is wrong",
      .synopsis = "CKPT [-j]",
      .text = R"(
Compares every checksum, size, range and slice, and prints a line for each fault: error RULE SUBJECT: MESSAGE.
RULE is file, range, size, slices, overlap or checksum. Exit status 1 where there is a fault.
)",
      .examples = R"(
gedit checkpoint verify model && echo whole
gedit checkpoint verify model -q -j | jq -r '.[].subject'
)",
      .make = make_command<VerifyCheckpoint>,
  };
}

}  // namespace gedit
