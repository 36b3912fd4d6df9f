// The `checkpoint` state file, in which TensorFlow notes the latest checkpoints of a directory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gedit {

struct CheckpointState {
  std::string latest;            // model_checkpoint_path, as written
  std::vector<std::string> all;  // all_model_checkpoint_paths
  std::vector<double> times{};   // all_model_checkpoint_timestamps, seconds since 1970: by place in `all`
  double preserved = 0;          // last_preserved_timestamp; 0: none
};

bool looks_like_state(std::string_view bytes);

// Throws Error (kInput) where the text is no CheckpointState, or names no checkpoint.
CheckpointState parse_state(std::string_view text, const std::string& path);

}  // namespace gedit
