// What a path names, for commands that read graphs and checkpoints alike.
#pragma once

#include <string>

namespace gedit {

// Whether it is a checkpoint or a `checkpoint` state file, rather than a file that holds a graph or a
// SavedModel's folder. False for `-`, and for what is not there at all.
bool names_checkpoint(const std::string& path);

// Whether it is a state file itself, not a directory with one.
bool names_checkpoint_state(const std::string& path);

}  // namespace gedit
