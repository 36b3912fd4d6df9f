// Where the values of variables come out in a main graph: `insert --at-reads` puts a node behind each
// (docs/rules.md#insert-reads).
#pragma once

#include <string>
#include <vector>

#include "edit/basis/facts.h"

namespace gedit {

struct VariableReads {
  std::vector<TensorRef> reads;     // what reads give, where more than savers and initializers ask for it
  std::vector<TensorRef> directly;  // references that other nodes than Identities take for their value
  std::vector<std::string> warnings;
};

// Of the variables that the selector hits. Throws Error (kRefused) where it hits none, or none that is read.
VariableReads reads_of_variables(const Facts& facts, const std::string& selector);

}  // namespace gedit
