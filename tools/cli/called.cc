#include "cli/called.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "commands.h"

namespace gedit {
namespace {

constexpr std::string_view kName = "gedit", kPackaged = "gedit-tf";

bool of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-./").find(c) != std::string_view::npos;
}

// Whether what follows the name makes a command line of it.
bool is_command_line(std::string_view rest) {
  const size_t blanks = std::min(rest.find_first_not_of(" \n"), rest.size());  // a line may end there
  if (blanks == 0) return false;
  rest.remove_prefix(blanks);
  const std::string_view word = rest.substr(0, std::ranges::find_if_not(rest, of_a_name) - rest.begin());
  return word.starts_with("--") || word == "COMMAND" || find_command(word) != nullptr;
}

}  // namespace

const std::string& called() {
  static const std::string name = [] {
    const char* told = std::getenv("GEDIT_PROGRAM");
    const std::string_view text = told != nullptr ? told : program_invocation_short_name;
    return std::string(text == kPackaged ? kPackaged : kName);
  }();
  return name;
}

std::string as_called(std::string_view text) {
  if (called() == kName) return std::string(text);
  std::string out;
  for (size_t at = 0;;) {
    const size_t found = text.find(kName, at);
    if (found == std::string_view::npos) return out.append(text.substr(at));
    out.append(text.substr(at, found - at));
    at = found + kName.size();
    const bool word = found == 0 || !of_a_name(text[found - 1]);
    out.append(word && is_command_line(text.substr(at)) ? std::string_view(called()) : kName);
  }
}

std::string with_hint_as_called(std::string_view line) {
  constexpr std::string_view kHint = "; hint: ";
  const size_t found = line.rfind(kHint);
  if (found == std::string_view::npos) return std::string(line);
  const size_t hint = found + kHint.size();
  return std::string(line.substr(0, hint)) + as_called(line.substr(hint));
}

}  // namespace gedit
