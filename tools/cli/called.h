// The name that the program was called by: gedit, or gedit-tf where `gedit` is GNOME's editor.
#pragma once

#include <string>
#include <string_view>

namespace gedit {

// What is to be typed to run the program once more. The wheel's `gedit` is a script around gedit-tf, which
// says so in GEDIT_PROGRAM. A program of any other name is gedit.
const std::string& called();

// Text in which each command line, `gedit COMMAND ..`, begins with that name. Prose stays as it is.
std::string as_called(std::string_view text);

// A line whose hint, which is what follows `; hint: `, is as_called(); all before it may be somebody's names.
std::string with_hint_as_called(std::string_view line);

}  // namespace gedit
