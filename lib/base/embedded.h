// Files that are inside the program, compressed: gedit_embed() of cmake/Embed.cmake puts them there.
//   extern "C" const char gedit_page_style[], gedit_page_style_end[];
//   out.write(embedded(gedit_page_style, gedit_page_style_end));
#pragma once

#include <string>

namespace gedit {

// The files of one gedit_embed(), one after the other. A millisecond for each 400 kB.
std::string embedded(const char* begin, const char* end);

}  // namespace gedit
