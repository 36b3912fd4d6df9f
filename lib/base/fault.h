// What is wrong with a file, found by a command that looks for it: one line each, for people and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"

namespace gedit {

enum class Level : uint8_t { kError, kWarning };

struct Fault {
  std::string rule;     // `checksum`, `dtype`, ...
  std::string subject;  // the tensor, the node, ...
  std::string message;
  Level level = Level::kError;
};

// `error RULE SUBJECT: MESSAGE`, a line a fault; or [{"level","rule","subject","message"}].
void print_faults(const std::vector<Fault>& faults, bool json, Sink& out);

size_t count_errors(const std::vector<Fault>& faults);

}  // namespace gedit
