// Reads everything a checkpoint's entries point at and tells what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/bundle.h"

namespace gedit {

struct Fault {
  std::string rule;     // `file`, `range`, `size`, `slices`, `overlap`, `checksum`
  std::string subject;  // the tensor, or the data file
  std::string message;
};

// Every crc32c, every size, ranges inside files, slices that cover their tensor once, no overlap but aliases.
// Memory stays small; each byte is read once, however many tensors share it.
std::vector<Fault> verify_checkpoint(const Checkpoint& checkpoint);

}  // namespace gedit
