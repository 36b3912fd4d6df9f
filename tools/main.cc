// Finds the command, parses, runs, catches.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/leftover.h"
#include "cli/called.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/json.h"
#include "cli/say.h"
#include "commands.h"
#include "completion/complete.h"

namespace gedit {
namespace {

// A mapped input that another process shortens is a SIGBUS at the next look. The output is a file without a
// name, or one that is taken away here.
void leave_on_shrunk_input(int /*signal*/) {
  remove_leftovers();
  constexpr std::string_view kMessage = "gedit: an input became shorter while it was read\n";
  static_cast<void>(!::write(STDERR_FILENO, kMessage.data(), kMessage.size()));
  ::_exit(static_cast<int>(Cause::kInput));
}

bool wants_json() {
  const char* form = std::getenv("GEDIT_ERRORS");
  return form != nullptr && std::string_view(form) == "json";
}

// Where memory ends nothing is unwound: protobuf's and the standard library's own destructors take memory,
// and what they throw ends the program without a word. Only between two names of a file what was begun is
// undone.
void leave_without_memory() {
  if (signals_held()) throw std::bad_alloc();
  remove_leftovers();
  constexpr std::string_view kLine = "gedit: not enough memory\n";
  constexpr std::string_view kJson =
      R"({"line": "gedit: not enough memory", "file": "", "subject": "", "message": "not enough memory", "hint": ""})"
      "\n";
  const std::string_view message = wants_json() ? kJson : kLine;
  static_cast<void>(!::write(STDERR_FILENO, message.data(), message.size()));
  ::_exit(static_cast<int>(Cause::kInput));
}

// A verb speaks in the name of its command.
int fail(std::string_view command, const std::exception& error, Cause cause) {
  std::fflush(stdout);
  const std::string first(command.substr(0, command.find(' ')));
  const std::string line = called() + (first.empty() ? "" : " " + first) + ": " + error.what();
  if (wants_json()) {
    std::fputs((error_json(with_hint_as_called(line), error) + "\n").c_str(), stderr);
  } else {
    say(line);
  }
  return static_cast<int>(cause);
}

// `gedit signature add|rename|remove ..`: of a command that also has verbs.
std::string verbs_hint(const CommandInfo& info) {
  std::string verbs;
  for (const CommandInfo* verb : verbs_of(info))
    verbs += (verbs.empty() ? "" : "|") + std::string(last_word(*verb));
  return verbs.empty() ? "" : program_name(info) + " " + verbs + " ..";
}

// What was printed may only now be found to have no room.
int flushed(std::string_view command, int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return fail(command, Error(Cause::kWrite, "cannot be written").in("(standard output)"), Cause::kWrite);
}

int run(const CommandInfo& info, std::vector<std::string> arguments) {
  try {
    const std::unique_ptr<Command> command = info.make();
    CommandLine line(program_name(info), verbs_hint(info));
    command->setup(line);
    if (!line.parse(std::move(arguments))) {
      print(help_text(info));
      return flushed(info.name, 0);
    }
    return flushed(info.name, command->run());
  } catch (const Error& error) {
    return fail(info.name, error, error.cause());
  } catch (const std::bad_alloc&) {  // zlib's, and sizes that no memory has
    return fail(info.name, Error(Cause::kInput, "not enough memory"), Cause::kInput);
  } catch (const std::exception& error) {  // a bug in gedit: still one line, still nothing written
    return fail(info.name, error, Cause::kInput);
  }
}

// The command or verb that the first words name, which are taken off; null where they name none.
const CommandInfo* take_command(std::vector<std::string>& words) {
  for (const size_t count : {2, 1}) {
    if (words.size() < count) continue;
    const CommandInfo* info = find_command(count == 2 ? words[0] + " " + words[1] : words[0]);
    if (info == nullptr) continue;
    words.erase(words.begin(), words.begin() + static_cast<ptrdiff_t>(count));
    return info;
  }
  return nullptr;
}

// Takes off what stands before the command of options that most of them have.
std::vector<std::string> take_options(std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 6> kFlags = {"-q", "--quiet", "-j", "--json", "-n", "--dry-run"};
  constexpr std::array<std::string_view, 3> kWithValue = {"--color", "--as", "--tag-set"};
  size_t count = 0;
  while (count < words.size()) {
    const std::string& word = words[count];
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    if (std::ranges::find(kFlags, word) != kFlags.end()) {
      ++count;
    } else if (std::ranges::find(kWithValue, name) != kWithValue.end()) {
      count += name == word ? 2 : 1;
    } else {
      break;
    }
  }
  count = std::min(count, words.size());
  std::vector<std::string> options(words.begin(), words.begin() + static_cast<ptrdiff_t>(count));
  words.erase(words.begin(), words.begin() + static_cast<ptrdiff_t>(count));
  return options;
}

// What there is to choose from: to standard output where it was asked for, else it is an error.
int tell(const std::string& choices, bool asked) {
  std::fputs(choices.c_str(), asked ? stdout : stderr);
  return flushed("", asked ? 0 : static_cast<int>(Cause::kUsage));
}

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

// Pieces of some hundred kilobytes are asked for and given back all the time; to give their pages back to the
// system each time costs as much as what is done with them. The most that is in use at a time stays as it is.
void keep_freed_pages() {
#ifdef __GLIBC__
  constexpr int kKept = 64 << 20, kMapped = 4 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kKept);
  ::mallopt(M_MMAP_THRESHOLD, kMapped);
#endif
}

int run_command(std::vector<std::string> words) {
  if (words.empty() || is_help(words[0])) return tell(overview(), !words.empty());
  if (words[0] == "--version") {
    std::puts("gedit " GEDIT_VERSION);
    return flushed("", 0);
  }
  if (words[0] == "__complete") {  // what the scripts of `gedit completion` call
    print(complete({words.begin() + 1, words.end()}));
    return flushed("", 0);
  }
  std::vector<std::string> options = take_options(words);
  if (words.empty() || is_help(words[0])) return tell(overview(), !words.empty());
  const CommandInfo* info = take_command(words);
  if (info == nullptr) return fail("", no_such("command", words[0], top_commands(), called()), Cause::kUsage);
  words.insert(words.begin(), options.begin(), options.end());
  if (info->make != nullptr) return run(*info, std::move(words));
  if (words.empty() || is_help(words[0])) return tell(help_text(*info), !words.empty());
  return fail(info->name, no_such("verb", words[0], verbs_of(*info), program_name(*info)), Cause::kUsage);
}

}  // namespace
}  // namespace gedit

int main(int argc, char** argv) {
  std::signal(SIGBUS, gedit::leave_on_shrunk_input);
  std::signal(SIGPIPE, SIG_DFL);
  std::set_new_handler(gedit::leave_without_memory);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows past its limit is an error like a full disk
  gedit::remove_leftovers_on_signals();
  gedit::keep_freed_pages();
  gedit::open_many_files();
  return gedit::run_command({argv + 1, argv + argc});
}
