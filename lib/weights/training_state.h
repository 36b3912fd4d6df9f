// The `checkpoint` state file of a training folder, written so that tf.train.latest_checkpoint finds what is
// there. docs/rules.md#checkpoint-state
#pragma once

#include <string>
#include <vector>

namespace gedit {

// The names below `folder` that its state file shall have, the latest one last: those of the file whose
// checkpoints are there; where there is no such file, all checkpoints of the folder, by the time of their
// indexes. Throws Error (kInput) where there is none.
std::vector<std::string> known_checkpoints(const std::string& folder);

// Writes the file, with paths below the folder. Throws Error (kWrite).
void write_state(const std::string& folder, const std::vector<std::string>& names);

// Makes the checkpoint at `prefix` the latest one of its folder.
void note_checkpoint(const std::string& prefix);

}  // namespace gedit
