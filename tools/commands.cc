#include "commands.h"

#include <array>

namespace gedit {

std::span<const CommandInfo> commands() {
  static const std::array kCommands{
<<<<<<< HEAD
      kInspect,    kSelect, kList,  // look
      kCopy,                        // cut and join
      kCheckpoint,                  // weights
      kRename,                      // change
      kConvert,                     // files
      kHelp,                        // help
=======
      kInspect, kSelect, kList,  // look
      kCopy,    kInsert, kSync,  // cut and join
      kRename,  kSet,            // change
      kConvert,                  // files
      kHelp,                     // help
>>>>>>> edits
  };
  return kCommands;
}

const CommandInfo* find_command(std::string_view name) {
  for (const CommandInfo& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace gedit
