// Completion of commands, verbs, options and their values, rendered from what the commands declare.
#pragma once

#include <string>
#include <string_view>

namespace gedit {

// What `shell` (bash, zsh or fish) is to read. Where nothing is offered, files are completed.
std::string completion(std::string_view shell);

}  // namespace gedit
