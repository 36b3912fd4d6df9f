// The contexts of v1 conds and loops, where a node is inserted inside one (docs/rules.md#insert-loops):
// TensorFlow knows by a context's values which nodes stand in it, and tf.gradients asks.
#pragma once

#include <string>
#include <vector>

#include "edit/changing/insert_place.h"

namespace gedit {

class InsertContexts {
 public:
  // Decides for the new node of every target in which context it stands: that of the target's node, of an
  // Exit the one around its loop. To be made when the new nodes have names.
  explicit InsertContexts(const InsertPlace& place);

  void apply(Model& model);

 private:
  std::vector<std::string> collections_;  // all of them as they become; none where none changes
};

}  // namespace gedit
