#include "base/argument_list.h"

#include <algorithm>

#include "base/file.h"

namespace gedit {

void each_line(const std::string& path, const std::function<void(std::string_view line)>& use) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // which editors put before UTF-8
  const auto file = InputFile::open(path);
  std::string_view left = file->bytes();
  if (left.starts_with(kByteOrderMark)) left.remove_prefix(kByteOrderMark.size());
  while (!left.empty()) {
    const size_t end = std::min(left.find('\n'), left.size());
    std::string_view line = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) use(line);
  }
}

void each_argument(const std::vector<std::string>& arguments,
                   const std::function<void(std::string_view item, bool in_file)>& use) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with('@')) {
      each_line(argument.substr(1), [&](std::string_view line) { use(line, true); });
    } else {
      use(argument, false);
    }
  }
}

}  // namespace gedit
