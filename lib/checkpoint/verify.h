// Reads everything a checkpoint's entries point at and tells what is wrong with it.
#pragma once

#include <vector>

#include "base/fault.h"
#include "checkpoint/bundle.h"

namespace gedit {

// Rules: `file`, `range`, `size`, `slices`, `overlap`, `checksum`; the subject is a tensor or a data file.
// Every crc32c, every size, ranges inside files, slices that cover their tensor once (where they
// leave a part out, a warning), no overlap but aliases. Memory stays small; each byte is read once, however
// many tensors share it.
std::vector<Fault> verify_checkpoint(const Checkpoint& checkpoint);

}  // namespace gedit
