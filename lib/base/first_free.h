// How a name is made unique: `x`, else `x_1`, `x_2`, ...
#pragma once

#include <string>
#include <string_view>

namespace gedit {

// The first of `wanted`, `wanted_1`, `wanted_2`, ... for which taken(name) is false. `next` is the first
// number that is tried, and then the one behind the last: who is asked for one name often and never gives a
// name back keeps it.
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

}  // namespace gedit
