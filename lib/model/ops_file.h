// `--ops FILE`: the OpList of a library of custom ops.
#pragma once

#include <string_view>

#include "base/file.h"
#include "graph/arena.h"

namespace gedit {

// The serialized OpList in the file, which is binary or text. Text is parsed into the arena; binary is
// viewed. Throws Error (kInput).
std::string_view read_op_list(const InputFile& file, Arena& arena);

}  // namespace gedit
