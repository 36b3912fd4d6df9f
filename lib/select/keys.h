// What a selector hits among the tensors of a checkpoint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "checkpoint/bundle.h"
#include "select/selector.h"

namespace gedit {

// By tensor, whether it is hit. Names, globs, scopes, `re:`, `dtype:`, `size>1M` (bytes), `,` `&` `!` `( )`;
// in an object-based checkpoint a name may be a key or the path of an object. Throws Error (kUsage) for what
// only a graph has (op:, device:, walks, ...).
std::vector<bool> select_tensors(const Checkpoint& checkpoint, const Selector& selector);

// `matches nothing` as an error with the nearest name.
Error nothing_hit(const Checkpoint& checkpoint, std::string_view selector);

// As select_tensors(), refusing (kRefused) what hits nothing, with the nearest name.
std::vector<bool> require_tensors(const Checkpoint& checkpoint, std::string_view selector);

// A tensor that belongs to other objects, too: TensorFlow keeps a variable once, under the shortest path.
struct HeldElsewhere {
  std::string_view key;
  std::string other;  // the key that it would have by a path that begins otherwise
};
// Of the tensors that are hit those that lists hold, as an optimizer's, and other objects by a name, at a
// path that none of the selectors hits.
std::vector<HeldElsewhere> held_elsewhere(const Checkpoint& checkpoint, const std::vector<bool>& hits,
                                          const std::vector<std::string>& selectors);

}  // namespace gedit
