// The forms of selectors, told once: in `gedit help selectors`, in the help of select and in README.md. What
// they mean to the parser stands in lib/select/selector.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gedit {

struct SelectorForm {
  std::vector<std::string_view> forms;
  std::string_view meaning;
};
std::span<const SelectorForm> selector_forms();

// A line a form, as prose keeps it.
std::string selectors_text();

}  // namespace gedit
