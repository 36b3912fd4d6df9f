// Nodes that are added for copies to read: Placeholders and StopGradients.
#pragma once

#include <string>
#include <vector>

#include "edit/copying/reads.h"

namespace gedit {

// A Placeholder for every tensor from outside that is neither mapped nor shared. Fills result.inputs and
// `new_nodes`. Throws Error (kRefused) where a copy needs a reference, or a dtype is unknown.
void add_placeholders(const CopyReads& reads, const CopyRequest& request, CopyChanges& result,
                      std::vector<std::string>& new_nodes);

// A StopGradient behind each tensor of the original that request.stop_gradient names, as the copies read it.
// Fills result.outputs and `new_nodes`. Throws Error (kRefused) where no copy has or reads one.
void stop_gradients(const CopyReads& reads, const CopyRequest& request, CopyChanges& result,
                    std::vector<std::string>& new_nodes);

}  // namespace gedit
