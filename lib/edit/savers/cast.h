// Savers whose checkpoints hold numbers of fewer bits than the variables: docs/rules.md#cast-variables
#pragma once

#include <functional>
#include <set>
#include <string>

#include "edit/basis/changes.h"
#include "edit/basis/facts.h"
#include "edit/basis/names.h"

namespace gedit {

// What savers restore under a key is of type `to` in the checkpoint, and cast before it is assigned; what
// they save is cast before it is written. A key is cast as a whole, where `wanted` takes one of its variables
// and the type is wider than `to`. Gives those keys. Throws Error (kRefused) for keys that no Const holds.
std::set<std::string> cast_savers(Facts& facts, DType to, const std::function<bool(NodeId variable)>& wanted,
                                  NewNames& names, Changes& changes);

}  // namespace gedit
