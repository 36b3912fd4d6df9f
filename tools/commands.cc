#include "commands.h"

#include <array>

namespace gedit {

std::span<const CommandInfo> commands() {
  static const std::array kCommands{
      kInspect, kSelect,     kList,      kDiff,   kCheck, kDraw,  // look
      kCopy,    kMerge,      kExtract,   kInsert, kSync,          // cut and join
      kFreeze,  kCheckpoint,                                      // weights
      kRename,  kSet,        kSignature,                          // change
      kConvert,                                                   // files
      kHelp,                                                      // help
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
