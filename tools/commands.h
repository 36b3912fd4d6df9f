// The subcommands: what each one is, and the table of all of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

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

struct CommandInfo {
  std::string_view name;
  std::string_view group;     // heading in `gedit --help`
  std::string_view summary;   // one line, lower case
  std::string_view synopsis;  // behind `gedit NAME`
  std::string_view text;      // paragraphs for the help and the man page
  std::string_view examples;  // two at least, one a line: `gedit ...`, then `  what it does`
  std::unique_ptr<Command> (*make)();
};

inline std::string program_name(const CommandInfo& info) { return "gedit " + std::string(info.name); }

// In the order in which people read them.
std::span<const CommandInfo> commands();
const CommandInfo* find_command(std::string_view name);

// Defined in the file of the command: tools/NAME.cc.
extern const CommandInfo kInspect, kSelect, kList, kDiff, kCheck, kDraw, kCopy, kMerge, kExtract, kInsert,
    kSync, kFreeze, kRename, kSet, kSignature, kCheckpoint, kConvert, kHelp;

}  // namespace gedit
