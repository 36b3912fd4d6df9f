#include "edit/basis/key_value.h"

#include "base/error.h"
#include "base/file.h"

namespace gedit {

std::vector<std::string> read_pairs(const std::vector<std::string>& arguments) {
  std::vector<std::string> pairs;
  for (const std::string& argument : arguments) {
    if (!argument.starts_with('@')) {
      pairs.push_back(argument);
      continue;
    }
    const std::shared_ptr<const InputFile> file = InputFile::open(argument.substr(1));
    for (std::string_view left = file->bytes(); !left.empty();) {
      const size_t end = left.find('\n');
      std::string_view line = left.substr(0, end);
      left = end == std::string_view::npos ? std::string_view() : left.substr(end + 1);
      while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
        line.remove_suffix(1);
      if (!line.empty() && line[0] != '#') pairs.emplace_back(line);
    }
  }
  return pairs;
}

std::vector<InputPair> parse_input_map(const std::vector<std::string>& arguments) {
  std::vector<InputPair> pairs;
  for (const std::string& pair : read_pairs(arguments)) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size()) {
      throw Error(Cause::kUsage, "is no KEY=VALUE").of("'" + printable(pair) + "'");
    }
    pairs.push_back({pair.substr(0, equals), pair.substr(equals + 1)});
    if (pairs.back().key.starts_with('^') != pairs.back().value.starts_with('^')) {
      throw Error(Cause::kUsage, "maps a control input to a tensor or the other way")
          .of("'" + printable(pair) + "'")
          .hint("^a=^b");
    }
  }
  return pairs;
}

}  // namespace gedit
