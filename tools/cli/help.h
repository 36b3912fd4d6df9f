// Help and man pages, rendered from what the commands declare for their parser.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "commands.h"

namespace gedit {

std::string overview();                          // gedit --help
std::string help_text(const CommandInfo& info);  // gedit COMMAND --help
std::string man_page(const CommandInfo& info);   // gedit-COMMAND(1), in man's language
std::string main_man_page();                     // gedit(1)

std::vector<CommandLine::Entry> entries_of(const CommandInfo& info);

}  // namespace gedit
