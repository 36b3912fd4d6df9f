// `--outputs`, `--signature` and `--inputs` of gedit extract and freeze: the tensors between which they work.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "prove/verify.h"

namespace gedit {

class WantedOptions {
 public:
  void setup(CommandLine& line);
  template <typename Request>
  void put(Request& request) const {
    request.outputs = split_list(outputs_);
    request.inputs = split_list(inputs_);
    request.signature = signature_;
  }
  // That what was asked for computes what it did, where both were cut at the same tensors: Changes::cut.
  Verification unchanged(const ProofSide& before, const ProofSide& after,
                         const std::vector<std::pair<std::string, std::string>>& cut) const;

 private:
  std::vector<std::string> outputs_, inputs_;
  std::string signature_;
};

}  // namespace gedit
