#include "commands.h"

#include "base/near.h"
#include "cli/called.h"
#include "cli/text.h"

namespace gedit {

CommandInfo listed(std::string_view name, std::string_view group, const CommandInfo& info) {
  return {name,
          group,
          one_line(info.summary),
          one_line(info.synopsis),
          paragraphs(info.text),
          trimmed(info.examples),
          info.make};
}

std::string program_name(const CommandInfo& info) { return called() + " " + std::string(info.name); }

std::string_view last_word(const CommandInfo& info) { return info.name.substr(info.name.rfind(' ') + 1); }

const CommandInfo* find_command(std::string_view name) {
  for (const CommandInfo& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::vector<const CommandInfo*> top_commands() {
  std::vector<const CommandInfo*> found;
  for (const CommandInfo& one : commands()) {
    if (one.name.find(' ') == std::string_view::npos) found.push_back(&one);
  }
  return found;
}

std::vector<const CommandInfo*> verbs_of(const CommandInfo& command) {
  const std::string start = std::string(command.name) + " ";
  std::vector<const CommandInfo*> found;
  for (const CommandInfo& one : commands()) {
    if (one.name.starts_with(start)) found.push_back(&one);
  }
  return found;
}

Error no_such(const std::string& kind, const std::string& word, const std::vector<const CommandInfo*>& known,
              const std::string& program) {
  Near near(word);
  for (const CommandInfo* info : known) near.offer(last_word(*info));
  const std::string what = word.starts_with('-') ? "option" : kind;
  return Error(Cause::kUsage, "no such " + what)
      .of(quoted(what, word))
      .hint(near.best().empty() ? program + " --help lists them" : near.did_you_mean());
}

}  // namespace gedit
