// gedit completion: what makes a shell ask `gedit __complete`.
#include <cerrno>
#include <cstdlib>

#include "base/embedded.h"
#include "cli/command_line.h"
#include "cli/say.h"
#include "commands.h"

// Of gedit_embed() in tools/CMakeLists.txt. NOLINTBEGIN(readability-identifier-naming)
extern "C" const char gedit_completion_bash[], gedit_completion_bash_end[], gedit_completion_zsh[],
    gedit_completion_zsh_end[], gedit_completion_fish[], gedit_completion_fish_end[];
// NOLINTEND(readability-identifier-naming)

namespace gedit {
namespace {

std::string script_of(const std::string& shell) {
  if (shell == "bash") return embedded(gedit_completion_bash, gedit_completion_bash_end);
  if (shell == "zsh") return embedded(gedit_completion_zsh, gedit_completion_zsh_end);
  return embedded(gedit_completion_fish, gedit_completion_fish_end);
}

// The script for a program that is called otherwise, as where `gedit` is GNOME's editor.
std::string named_for(std::string script, const std::string& program) {
  for (const std::string before : {"#compdef ", "compdef _gedit ", "complete -F _gedit ", "complete -c "}) {
    const size_t at = script.rfind(before + "gedit");
    if (at != std::string::npos) script.replace(at + before.size(), 5, program);
  }
  return script;
}

class Completion final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("SHELL", shell_, "bash, zsh or fish")->required()->one_of({"bash", "zsh", "fish"});
  }

  int run() override {
    // The wheel's other name is a script, which says how it was called.
    const char* named = std::getenv("GEDIT_PROGRAM");
    print(named_for(script_of(shell_), named != nullptr ? named : program_invocation_short_name));
    return 0;
  }

 private:
  std::string shell_;
};

}  // namespace

CommandInfo completion_command() {
  return {
      .summary = "has a shell complete commands, options and what is in the file",
      .synopsis = "bash|zsh|fish",
      .text = R"(
Prints a script for the shell, which then asks gedit what a word can become: commands, options and their
values, files of the right kind, and what the file that stands on the line holds: nodes a scope at a time,
ops behind op:, attributes behind attr:, functions behind fn:, devices, collections, signatures, tensors of
a checkpoint. What takes long to find is left out; what cannot be read offers nothing.

In ~/.bashrc: source <(gedit completion bash). In ~/.zshrc, behind compinit: source <(gedit completion zsh).
In ~/.config/fish/config.fish: gedit completion fish | source. Packages install all three.
)",
      .examples = R"(
source <(gedit completion bash)
gedit completion fish > ~/.config/fish/completions/gedit.fish
)",
      .make = make_command<Completion>,
  };
}

}  // namespace gedit
