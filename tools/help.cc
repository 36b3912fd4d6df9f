// gedit help: the overview, the help of a command, or its man page.
#include "cli/help.h"
#include "base/error.h"
#include "base/near.h"
#include "cli/options.h"
#include "commands.h"

namespace gedit {
namespace {

class Help final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("COMMAND", name_, "The command; without one: what commands there are");
    line.add_flag("--man", man_, "As a man page, for man -l -");
    line.add_flag("--names", names_, "The names of all commands, one a line");
  }

  int run() override {
    if (names_) {
      std::string names;
      for (const CommandInfo& info : commands()) names += std::string(info.name) + "\n";
      print(names);
      return 0;
    }
    if (name_.empty()) {
      print(man_ ? main_man_page() : overview());
      return 0;
    }
    const CommandInfo* info = find_command(name_);
    if (info == nullptr) {
      Near near(name_);
      for (const CommandInfo& one : commands()) near.offer(one.name);
      throw Error(Cause::kUsage, "no such command").of(quoted("command", name_)).hint(near.did_you_mean());
    }
    if (man_) {
      print(man_page(*info));
      return 0;
    }
    print(help_text(*info));
    return 0;
  }

 private:
  std::string name_;
  bool man_ = false, names_ = false;
};

}  // namespace

CommandInfo help_command() {
  return {
      .summary = "tells about a command",
      .synopsis = "[COMMAND] [--man] [--names]",
      .text = R"(
Prints what `gedit COMMAND --help` prints, or the man page of the command.
)",
      .examples = R"(
gedit help copy
gedit help --man copy | man -l -
)",
      .make = make_command<Help>,
  };
}

}  // namespace gedit
