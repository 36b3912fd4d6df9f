// gedit help: the overview, the help of a command, and what else is rendered from the declarations.
#include "cli/help.h"

#include "cli/called.h"
#include "cli/markdown.h"
#include "cli/say.h"
#include "cli/selectors.h"
#include "commands.h"

namespace gedit {
namespace {

class Help final : public Command {
 public:
  void setup(CommandLine& line) override {
    std::vector<std::string> names;
    for (const CommandInfo* info : top_commands()) names.emplace_back(info->name);
    names.emplace_back(kSelectors);
    line.add_option("COMMAND", words_,
                    "The command, and its verb, or selectors; without one: what commands there are")
        ->offers(names);
    line.add_flag("--man", man_, "As a man page, for man -l -");
    line.add_flag("--markdown", markdown_, "The table of all commands, or that of selectors, in Markdown");
    line.add_flag("--names", names_, "The names of all commands, one a line");
  }

  int run() override {
    if (names_) {
      for (const CommandInfo& info : commands()) print(std::string(info.name) + "\n");
    } else if (words_ == std::vector<std::string>{std::string(kSelectors)}) {
      print(markdown_ ? selectors_markdown() : selectors_text());
    } else if (words_.empty()) {
      print(markdown_ ? commands_markdown() : man_ ? as_called(main_man_page()) : overview());
    } else {
      print(man_ ? as_called(man_page(named())) : help_text(named()));
    }
    return 0;
  }

 private:
  static constexpr std::string_view kSelectors = "selectors";

  const CommandInfo& named() const {
    std::string name;
    for (const std::string& word : words_) name += (name.empty() ? "" : " ") + word;
    if (const CommandInfo* info = find_command(name)) return *info;
    const CommandInfo* first = find_command(words_[0]);
    if (first == nullptr || verbs_of(*first).empty())
      throw no_such("command", name, top_commands(), called());
    throw no_such("verb", words_[1], verbs_of(*first), program_name(*first));
  }

  std::vector<std::string> words_;
  bool man_ = false, markdown_ = false, names_ = false;
};

}  // namespace

CommandInfo help_command() {
  return {
      .summary = "tells about a command",
      .synopsis = "[COMMAND [VERB] | selectors] [--man] [--markdown] [--names]",
      .text = R"(
Prints what `gedit COMMAND --help` prints, or the man page of the command; of selectors the forms that they
have in every command.
)",
      .examples = R"(
gedit help copy
gedit help --man copy | man -l -
gedit help selectors
)",
      .make = make_command<Help>,
  };
}

}  // namespace gedit
