// Finds the command, parses, runs, catches: the only catch in the program.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/near.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/say.h"
#include "commands.h"
#include "model/text.h"

namespace gedit {
namespace {

// A mapped input that another process shortens is a SIGBUS at the next look. The output is a file without a
// name, or one that was not renamed yet, so leaving at once leaves nothing behind.
void leave_on_shrunk_input(int /*signal*/) {
  constexpr std::string_view kMessage = "gedit: an input became shorter while it was read\n";
  static_cast<void>(!::write(STDERR_FILENO, kMessage.data(), kMessage.size()));
  ::_exit(static_cast<int>(Cause::kInput));
}

int fail(std::string_view command, const std::exception& error, Cause cause) {
  std::fflush(stdout);
  say("gedit" + std::string(command.empty() ? "" : " ") + std::string(command) + ": " + error.what());
  return static_cast<int>(cause);
}

int run(const CommandInfo& info, std::vector<std::string> arguments) {
  try {
    const std::unique_ptr<Command> command = info.make();
    CommandLine line(program_name(info));
    command->setup(line);
    if (!line.parse(std::move(arguments))) {
      print(help_text(info));
      return 0;
    }
    const int status = command->run();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw Error(Cause::kWrite, "cannot be written").in("(standard output)");
    }
    return status;
  } catch (const Error& error) {
    return fail(info.name, error, error.cause());
  } catch (const std::bad_alloc&) {
    return fail(info.name, Error(Cause::kInput, "not enough memory"), Cause::kInput);
  } catch (const std::exception& error) {  // a bug in gedit: still one line, still nothing written
    return fail(info.name, error, Cause::kInput);
  }
}

int run_command(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    std::fputs(overview().c_str(), arguments.empty() ? stderr : stdout);
    return arguments.empty() ? static_cast<int>(Cause::kUsage) : 0;
  }
  if (arguments[0] == "--version") {
    std::puts("gedit " GEDIT_VERSION);
    return 0;
  }
  const std::string name = arguments[0];
  if (const CommandInfo* info = find_command(name)) {
    arguments.erase(arguments.begin());
    return run(*info, std::move(arguments));
  }
  Near near(name);
  for (const CommandInfo& info : commands()) near.offer(info.name);
  const char* kind = name.starts_with('-') ? "option" : "command";
  const std::string hint = near.best().empty() ? "gedit --help lists them" : near.did_you_mean();
  return fail("", Error(Cause::kUsage, std::string("no such ") + kind).of(quoted(kind, name)).hint(hint),
              Cause::kUsage);
}

}  // namespace
}  // namespace gedit

int main(int argc, char** argv) {
  std::signal(SIGBUS, gedit::leave_on_shrunk_input);
  std::signal(SIGPIPE, SIG_DFL);
  gedit::silence_protobuf();
  return gedit::run_command({argv + 1, argv + argc});
}
