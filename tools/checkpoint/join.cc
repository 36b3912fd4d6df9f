// gedit checkpoint join: slices of partitioned variables as whole tensors, or the other way round.
#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "cli/rewriting.h"
#include "commands.h"

namespace gedit {
namespace {

struct Partition {
  std::string selector;
  size_t count = 0, axis = 0;
};

// `SELECTOR=N` or `SELECTOR=N,AXIS`.
Partition parse_partition(const std::string& text) {
  const size_t equals = text.rfind('=');
  Partition partition;
  const char* end = text.data() + text.size();
  const char* begin = text.data() + (equals == std::string::npos ? text.size() : equals + 1);
  auto read = std::from_chars(begin, end, partition.count);
  bool good = read.ec == std::errc() && equals != 0 && partition.count >= 2;
  if (good && read.ptr != end) {
    good = *read.ptr == ',';
    if (good) {
      read = std::from_chars(read.ptr + 1, end, partition.axis);
      good = read.ec == std::errc() && read.ptr == end;
    }
  }
  if (!good)
    throw misused(text, "is not SELECTOR=N or SELECTOR=N,AXIS, N from 2 on").of(quoted("--partition", text));
  partition.selector = text.substr(0, equals);
  return partition;
}

class JoinSlices final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option("-s,--select", selector_, "Join these alone")->type_name("SELECTOR");
    line.add_option("--partition", partitions_, "Instead, make N slices of these, along axis 0 or AXIS")
        ->type_name("SELECTOR=N[,AXIS]")
        ->one_each();
    rewriting_.setup(line);
    target_.setup(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    rewriting_.run(operand_, target_, [&](const Weights& weights, std::vector<NewTensor>& tensors) {
      for (const std::string& text : partitions_) {
        const Partition partition = parse_partition(text);
        make_slices(tensors, rewriting_.hits(weights, partition.selector), partition.count, partition.axis);
      }
      if (!partitions_.empty() && selector_.empty()) return;
      if (join_slices(tensors, rewriting_.hits(weights, selector_)) == 0)
        throw refused("nothing there is in slices").in(weights.path);
    });
    return 0;
  }

 private:
  CheckpointOperand operand_;
  CheckpointTarget target_;
  RewritingOptions rewriting_;
  std::string selector_;
  std::vector<std::string> partitions_;
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
