#include "commands.h"

#include "cli/text.h"

namespace gedit {

CommandInfo listed(std::string_view name, std::string_view group, CommandInfo info) {
  return {name,
          group,
          one_line(info.summary),
          one_line(info.synopsis),
          paragraphs(info.text),
          trimmed(info.examples),
          info.make};
}

const CommandInfo* find_command(std::string_view name) {
  for (const CommandInfo& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace gedit
