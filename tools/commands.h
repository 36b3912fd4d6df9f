// The subcommands: what each one is, and the table of all of them.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace gedit {

class CommandLine;

// One subcommand. setup() declares operands and options on the parser and opens nothing; run() does the work
// with a few calls into the library and gives the exit status. What goes wrong is thrown as Error and caught
// in main() alone.
class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;
  virtual void setup(CommandLine& line) = 0;
  virtual int run() = 0;
};

template <typename Subclass>
std::unique_ptr<Command> make_command() {
  return std::make_unique<Subclass>();
}

// What the file of a command says of it, prose as cli/text.h has it; name and group are those of
// commands.txt.
struct CommandInfo {
  std::string_view name = {};                    // `copy`, `checkpoint rename`
  std::string_view group = {};                   // heading in `gedit --help`
  std::string summary = {};                      // one line, lower case
  std::string synopsis = {};                     // behind `gedit NAME`
  std::string text = {};                         // paragraphs for the help and the man page
  std::string examples = {};                     // two at least, one a line
  std::unique_ptr<Command> (*make)() = nullptr;  // none: there are its verbs alone
};

std::string program_name(const CommandInfo& info);    // `gedit checkpoint rename`, as it was called
std::string_view last_word(const CommandInfo& info);  // `rename`

// In the order in which people read them: command_table.cc, made of commands.txt.
std::span<const CommandInfo> commands();
CommandInfo listed(std::string_view name, std::string_view group, const CommandInfo& info);
const CommandInfo* find_command(std::string_view name);
// Those without a verb, or the verbs of `command`.
std::vector<const CommandInfo*> top_commands();
std::vector<const CommandInfo*> verbs_of(const CommandInfo& command);
// `verb 'lst': no such verb; hint: did you mean 'list'?`, or that `gedit checkpoint --help` lists them.
Error no_such(const std::string& kind, const std::string& word, const std::vector<const CommandInfo*>& known,
              const std::string& program);

}  // namespace gedit
