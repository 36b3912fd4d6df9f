#include "cli/say.h"

#include <cstdio>

#include "base/error.h"
#include "cli/called.h"

namespace gedit {

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw Error(Cause::kWrite, "cannot be written").in("(standard output)");
  }
}

void say(const std::string& line) {
  const std::string text = with_hint_as_called(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void say_warning(const std::string& text) { say("warning: " + text); }
void say_note(const std::string& text) { say("note: " + text); }

}  // namespace gedit
