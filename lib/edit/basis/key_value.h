// `OLD=NEW` and `KEY=VALUE`, as users write them.
#pragma once

#include <string>
#include <vector>

namespace gedit {

// Arguments in their order; in the place of `@file` its lines, without empty ones and those that begin with
// `#`.
std::vector<std::string> read_pairs(const std::vector<std::string>& arguments);

// What reads KEY is to read VALUE. Both are tensors, or both control inputs.
struct InputPair {
  std::string key, value;
};
// Of `KEY=VALUE`, `^KEY=^VALUE` and `@file`. Throws Error (kUsage).
std::vector<InputPair> parse_input_map(const std::vector<std::string>& arguments);

}  // namespace gedit
