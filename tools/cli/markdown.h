// The tables of README.md, rendered from what is declared.
#pragma once

#include <string>

namespace gedit {

std::string commands_markdown();
std::string selectors_markdown();

}  // namespace gedit
