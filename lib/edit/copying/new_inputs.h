// Nodes that are added for copies to read: Placeholders and StopGradients.
#pragma once

#include <string>
#include <vector>

#include "edit/copying/reads.h"

namespace gedit {

// A Placeholder for every tensor from outside that is neither mapped nor shared. Fills result.inputs and
// `new_nodes`. Throws Error (kRefused) where a copy needs a reference, or a dtype is unknown.
void add_placeholders(const CopyReads& reads, const CopyRequest& request, CopyResult& result,
                      std::vector<std::string>& new_nodes);

// A StopGradient behind a tensor of the original, `written` by the user, as the copies read it. Fills
// result.outputs and `new_nodes`. Throws Error (kRefused) where no copy has or reads it.
void stop_gradient(const CopyReads& reads, const CopyRequest& request, const std::string& written,
                   CopyResult& result, std::vector<std::string>& new_nodes);

}  // namespace gedit
