// How a name is made unique: `x`, else `x_1`, `x_2`, ...
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace gedit {

// The first of `wanted`, `wanted_1`, `wanted_2`, ... for which taken(name) is false. `next` is the first
// number that is tried, and then the one behind the last.
template <typename Taken>
std::string first_free(std::string_view wanted, Taken taken, int& next) {
  std::string name(wanted);
  while (taken(name)) {
    name.resize(wanted.size());
    name += '_';
    name += std::to_string(next++);
  }
  return name;
}

template <typename Taken>
std::string first_free(std::string_view wanted, Taken taken) {
  int next = 1;
  return first_free(wanted, taken, next);
}

// The same for who is asked for many, and where a name that was taken stays so: each is looked for behind the
// last of its kind.
class FreeNames {
 public:
  template <typename Taken>
  std::string first(std::string_view wanted, Taken taken) {
    std::string name(wanted);
    return taken(name) ? first_free(wanted, taken, next_.try_emplace(name, 1).first->second) : name;
  }

 private:
  std::unordered_map<std::string, int> next_;  // by what was wanted
};

}  // namespace gedit
