// The tensors between which gedit extract and freeze work: what was asked for, or what a signature names.
#pragma once

#include <string>
#include <vector>

#include "edit/basis/facts.h"
#include "model/model.h"

namespace gedit {

struct WantedTensors {
  std::vector<std::string> outputs;       // what is computed
  std::vector<std::string> inputs;        // where it is cut; T or T:DTYPE[SHAPE]
  std::vector<std::string> of_signature;  // inputs of the signature that gave the outputs
};

// Outputs and inputs of the signature that was asked for, or of the only one that there is, where no outputs
// are named. Throws Error (kUsage, kRefused).
WantedTensors wanted_tensors(const Model& model, const std::vector<std::string>& outputs,
                             const std::vector<std::string>& inputs, const std::string& signature);

// Cuts at what the signature is fed by. Its Placeholders are no cuts: they are given back, and stay whether
// they are needed or not, so that the signature does.
std::vector<NodeId> cut_at_signature(const Facts& facts, WantedTensors& wanted);

}  // namespace gedit
