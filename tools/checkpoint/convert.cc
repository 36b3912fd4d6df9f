// gedit checkpoint convert: any checkpoint as one plain V2 checkpoint.
#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "checkpoint/listing.h"
#include "cli/checkpoints.h"
#include "commands.h"

namespace gedit {
namespace {

class ConvertCheckpoint final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option("--shards", shards_, "This many data files (default 1)")
        ->within(1, 99999)
        ->type_name("N");
    line.add_option("--max-size", max_size_, "As many data files as keep below this size")->type_name("SIZE");
    target_.setup(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    WriteOptions& options = target_.options;
    // The listing of a checkpoint says itself how many data files there are.
    options.pack = shards_ != 0 || !max_size_.empty() || !is_checkpoint_listing(operand_.path());
    options.shards = std::max<size_t>(shards_, 1);
    if (!max_size_.empty()) {
      if (shards_ != 0)
        throw Error(Cause::kUsage, "--max-size says how many data files there are").of("--shards");
      const auto size = parse_size(max_size_);
      if (!size || *size == 0) throw Error(Cause::kUsage, "not a size").of(quoted("--max-size", max_size_));
      options.max_size = *size;
    }
    edit_checkpoint(operand_, target_, [](Checkpoint&, KeyChanges*) {});
    return 0;
  }

 private:
  CheckpointOperand operand_;
  CheckpointTarget target_;
  size_t shards_ = 0;
  std::string max_size_;
};

}  // namespace

CommandInfo checkpoint_convert_command() {
  return {
      .summary = "writes values anew: from V1, or in other data files",
      .synopsis = "CKPT [--shards N | --max-size SIZE] -o PREFIX",
      .text = R"(
V1, big-endian, compressed indexes and scattered data files become one plain V2 checkpoint. Bytes that tensors
share stay shared; what no tensor points at is left behind. A listing, NAME.ckpt.gtxt, becomes a checkpoint
with the data files that it says.
)",
      .examples = R"(
gedit checkpoint convert model.chkpt-0 -o model
gedit checkpoint convert model --max-size 2G -o sharded
)",
      .make = make_command<ConvertCheckpoint>,
  };
}

}  // namespace gedit
