// gedit checkpoint average: the mean of several checkpoints.
#include "base/error.h"
#include "cli/rewriting.h"
#include "commands.h"

namespace gedit {
namespace {

class AverageWeights final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("CKPT", operands_, "Two checkpoints or more with the same tensors")->required();
    line.add_flag("--last", last_, "Integers and booleans that differ are the last one's");
    rewriting_.setup(line);
    target_.setup(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    if (operands_.size() < 2) throw Error(Cause::kUsage, "average needs two checkpoints");
    std::vector<Weights> inputs;
    for (const std::string& path : operands_) inputs.push_back(checkpoint_weights(operand_.open(path)));
    rewriting_.write(inputs.back(), mean_tensors(inputs, last_), target_, operand_.quiet());
    return 0;
  }

 private:
  std::vector<std::string> operands_;
  CheckpointOperand operand_;
  CheckpointTarget target_;
  RewritingOptions rewriting_;
  bool last_ = false;
};

}  // namespace

CommandInfo checkpoint_average_command() {
  return {
      .summary = "averages checkpoints of one model",
      .synopsis = "CKPT.. [--last] -o PREFIX",
      .text = R"(
Means of floating point numbers are taken in double and rounded once. Integers and booleans must be equal, or with
--last are the last one's; strings and the object graph always are.
)",
      .examples = R"(
gedit checkpoint average model.ckpt-800 model.ckpt-900 model.ckpt-1000 --last -o averaged
gedit checkpoint average run1/model run2/model -o both
)",
      .make = make_command<AverageWeights>,
  };
}

}  // namespace gedit
