// Keeps the bytes that edits make, so that everything else can go on viewing.
#pragma once

#include <deque>
#include <string>
#include <string_view>

namespace gedit {

// Views stay valid for as long as the arena lives, whatever is added later.
class Arena {
 public:
  std::string_view keep(std::string bytes) { return kept_.emplace_back(std::move(bytes)); }

 private:
  std::deque<std::string> kept_;
};

}  // namespace gedit
