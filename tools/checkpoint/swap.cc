// gedit checkpoint swap: variables take the values of their moving averages.
#include "weights/swap.h"
#include "base/error.h"
#include "cli/checkpoints.h"
#include "commands.h"

namespace gedit {
namespace {

class SwapValues final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option("SUFFIX", suffix_, "w takes the value of w and SUFFIX: /ExponentialMovingAverage")
        ->required();
    line.add_flag("--both", both_, "That one takes the value of w");
    target_.setup_in_place(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    edit_checkpoint(operand_, target_, [&](Checkpoint& checkpoint, KeyChanges* changes) {
      swap_values(checkpoint, suffix_, both_, changes);
    });
    return 0;
  }

 private:
  CheckpointOperand operand_;
  CheckpointTarget target_;
  std::string suffix_;
  bool both_ = false;
};

}  // namespace

CommandInfo checkpoint_swap_command() {
  return {
      .summary = "gives variables the values of their moving averages",
      .synopsis = "CKPT SUFFIX [--both] (-o PREFIX | -i)",
      .text = R"(
Each w for which there is w SUFFIX takes its value; with --both the two exchange theirs. In an object-based
checkpoint SUFFIX stands behind the object's path. The index alone changes.
)",
      .examples = R"(
gedit checkpoint swap model /ExponentialMovingAverage -o ema
gedit checkpoint swap model /ExponentialMovingAverage --both -i
)",
      .make = make_command<SwapValues>,
  };
}

}  // namespace gedit
