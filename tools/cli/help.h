// Help, man pages and completion, all rendered from the same CLI11 objects that parse.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "commands.h"

namespace gedit {

// The parser of a command, with its operands and options.
void setup_app(CLI::App& app, const CommandInfo& info, Command& command);

std::string overview();                                               // gedit --help
std::string help_text(const CommandInfo& info, const CLI::App& app);  // gedit COMMAND --help
std::string man_page(const CommandInfo& info);                        // gedit-COMMAND(1), in man's language
std::string main_man_page();                                          // gedit(1)

// What CLI11 has against the command line, in gedit's words: `unknown option '--ouputs'; hint: did you mean
// '--outputs'?`
Error usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace gedit
