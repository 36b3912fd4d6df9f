// The function by which a TF2 SavedModel saves or restores, made smaller
// (docs/rules.md#extract-variables-and-savers).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/arena.h"

namespace gedit {

// Whether the library has a function of that name.
using IsFunction = std::function<bool(std::string_view)>;

// The FunctionDef without the arguments that `dropped` says by their number, without what it did for them,
// and without what only served that. Throws Error (kRefused) where it uses one in a way that cannot be taken
// out, passes it to another function, or the keys of its savers are no Const.
std::string function_without(std::string_view function_def, const std::shared_ptr<Arena>& arena,
                             const std::vector<bool>& dropped, const IsFunction& is_function);

}  // namespace gedit
