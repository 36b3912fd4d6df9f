// Lists on a command line: an argument is an item, or `@FILE` with one a line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gedit {

// Calls use(line) for each line of the file that is not empty. Lines end with LF or CRLF. Throws Error
// (kInput) where it cannot be read.
void each_line(const std::string& path, const std::function<void(std::string_view line)>& use);

// Calls use(item, in_file) for each, in order. Throws as each_line().
void each_argument(const std::vector<std::string>& arguments,
                   const std::function<void(std::string_view item, bool in_file)>& use);

}  // namespace gedit
