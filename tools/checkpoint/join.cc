// gedit checkpoint join: slices of partitioned variables as whole tensors, or the other way round.
#include "base/error.h"
#include "cli/rewriting.h"
#include "cli/say.h"
#include "commands.h"

namespace gedit {
namespace {

class JoinSlices final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option("-s,--select", selector_, "Join these alone")->type_name("SELECTOR");
    partition_.setup(line, "Instead, make N slices of these, along axis 0 or AXIS");
    rewriting_.setup(line);
    target_.setup(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    rewriting_.run(operand_, target_, [&](const Weights& weights, std::vector<NewTensor>& tensors) {
      for (const Partition& partition : partition_.partitions())
        make_slices(tensors, rewriting_.hits(weights, partition.selector), partition.count, partition.axis);
      if (partition_.given() && selector_.empty()) return;
      const std::vector<bool> hits = rewriting_.hits(weights, selector_);
      std::vector<std::string> left;
      for (size_t i = 0; i < tensors.size(); ++i) {
        if (hits[i] && !tensors[i].whole) left.push_back(tensors[i].name);
      }
      if (join_slices(tensors, hits) == 0 && left.empty())
        throw refused("nothing there is in slices").in(weights.path);
      if (!left.empty() && !operand_.quiet())
        say_note("slices stay as they are where not all of a tensor are there: " + printable(left[0]) +
                 (left.size() > 1 ? " and " + std::to_string(left.size() - 1) + " more" : ""));
    });
    return 0;
  }

 private:
  CheckpointOperand operand_;
  CheckpointTarget target_;
  RewritingOptions rewriting_;
  PartitionOption partition_;
  std::string selector_;
};

}  // namespace

CommandInfo checkpoint_join_command() {
  return {
      .summary = "makes whole tensors of slices, or slices of them",
      .synopsis = "CKPT [-s SELECTOR | --partition SELECTOR=N[,AXIS]..] -o PREFIX",
      .text = R"(
A model without partitioned variables restores what one with them saved, and the other way round with --partition,
which divides as tf.fixed_size_partitioner does: the first slices are one longer where N does not divide.
)",
      .examples = R"(
gedit checkpoint join partitioned -o whole
gedit checkpoint join whole --partition 'embedding/=4' -o partitioned
)",
      .make = make_command<JoinSlices>,
  };
}

}  // namespace gedit
