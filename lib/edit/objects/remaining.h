// Which objects of a TF2 SavedModel stay, once it is known which of them stand for something that stays
// (docs/rules.md#extract-object-graph).
#pragma once

#include <vector>

#include "model/saved_objects.h"

namespace gedit {

// By object, whether it stays. `alive`: by object, whether what it stands for is there; of no meaning for
// objects that stand for nothing, which stay while they lead to one that is alive, or to none that is not.
// `function_stays`: by concrete function. A dead object that is the only way to one that is alive becomes a
// plain user object: the path of a variable is its key in the checkpoint.
std::vector<bool> remaining_objects(SavedObjects& objects, const std::vector<bool>& alive,
                                    const std::vector<bool>& function_stays);

}  // namespace gedit
