// What the program says: its result on standard output, all else on standard error.
#pragma once

#include <string>
#include <string_view>

namespace gedit {

// Standard output; throws Error (kWrite) where it cannot be written.
void print(std::string_view text);

// A line on standard error; its hint names the program as it was called.
void say(const std::string& line);
void say_warning(const std::string& text);  // `warning: ...`
void say_note(const std::string& text);     // `note: ...`

}  // namespace gedit
