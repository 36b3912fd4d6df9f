// Tensors with the same bytes share them. docs/rules.md#checkpoint-dedupe
#pragma once

#include "checkpoint/bundle.h"

namespace gedit {

// Gives tensors whose bytes are equal, looked at and not by checksum alone, one place; number of places that
// went. The data files change when the checkpoint is packed. Throws Error (kInput).
size_t share_equal_bytes(Checkpoint& checkpoint);

}  // namespace gedit
