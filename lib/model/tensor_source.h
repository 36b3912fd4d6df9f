// Where a listing's elided tensors come from: the Consts of another file, found by length and checksum.
#pragma once

#include <memory>

#include "model/listing.h"
#include "model/model.h"

namespace gedit {

// Every tensor of the model's nodes and functions that a listing would elide. Reads them all once, for their
// checksums. The names do not matter: a node may have been renamed in the editor.
std::unique_ptr<TensorSource> tensors_of(Model model);

}  // namespace gedit
