// A hash map by text that owns its keys and is asked with views.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gedit {

struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};

template <typename T>
using ByText = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

}  // namespace gedit
