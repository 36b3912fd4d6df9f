// Names of files that an operand can mean.
#pragma once

#include "completion/candidates.h"

namespace gedit {

// Folders and the files of the kind that continue `path`, each behind `before`; a checkpoint by its prefix.
// Where there are none, the shell completes.
void offer_graph_files(Candidates& candidates, const std::string& before, const std::string& path);
void offer_checkpoints(Candidates& candidates, const std::string& before, const std::string& path);

// `~/x` as the shell would open it.
std::string expanded(const std::string& path);

}  // namespace gedit
