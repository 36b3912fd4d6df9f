#include "edit/basis/key_value.h"

#include "base/argument_list.h"
#include "base/error.h"

namespace gedit {
namespace {

std::string_view trimmed_right(std::string_view line) {
  const size_t last = line.find_last_not_of(" \t\r");
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

std::vector<std::string> read_pairs(const std::vector<std::string>& arguments) {
  std::vector<std::string> pairs;
  each_argument(arguments, [&](std::string_view item, bool in_file) {
    if (in_file) item = trimmed_right(item);
    if (!in_file || !(item.empty() || item[0] == '#')) pairs.emplace_back(item);
  });
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
