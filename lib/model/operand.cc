#include "model/operand.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "checkpoint/open.h"
#include "model/detect.h"
#include "model/graph_path.h"

namespace gedit {
namespace {

// A pipe can be read only once.
bool is_regular_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

}  // namespace

bool names_checkpoint(const std::string& path) {
  if (is_regular_file(path)) {
    const std::optional<Content> content = identify_signs(InputFile::open(path)->bytes());
    const bool state = content == Content::kCheckpointState;
    return state || content == Content::kCheckpointIndex || content == Content::kCheckpointV1;
  }
  if (path == "-" || (exists(path) && !is_directory(path))) return false;
  const bool saved_model =
      exists(join_path(path, "saved_model.pb")) || exists(join_path(path, "saved_model.pbtxt"));
  try {
    return !saved_model && find_checkpoint(path).has_value();
  } catch (const Error&) {
    // A `checkpoint` file outlives what it names; then the folder is good for its graph.
    if (is_directory(path) && graph_path(path).path != path) return false;
    throw;
  }
}

bool names_checkpoint_state(const std::string& path) {
  return is_regular_file(path) && identify_signs(InputFile::open(path)->bytes()) == Content::kCheckpointState;
}

}  // namespace gedit
