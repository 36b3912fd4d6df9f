// Verbs that write all values of a checkpoint anew: how many data files, which part of the work.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/checkpoints.h"
#include "cli/weights.h"
#include "weights/rewrite.h"

namespace gedit {

class RewritingOptions {
 public:
  void setup(CommandLine& line);  // --shards, --part

  // By tensor of the checkpoint, the object graph included; without a selector all.
  std::vector<bool> hits(const Weights& weights, const std::string& selector) const;

  // Opens the operand, has its tensors changed, and writes them.
  void run(const CheckpointOperand& operand, CheckpointTarget& target,
           const std::function<void(const Weights& weights, std::vector<NewTensor>& tensors)>& change) const;

  // Writes tensors that are those of `like`, changed.
  void write(const Weights& like, std::vector<NewTensor> tensors, CheckpointTarget& target, bool quiet) const;

 private:
  size_t shards_ = 0;
  PartOption part_;
};

}  // namespace gedit
