// Keeps the bytes that edits make, so that everything else can go on viewing.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace gedit {

// Views stay valid for as long as the arena lives, whatever is added later, from whatever thread.
class Arena {
 public:
  std::string_view keep(std::string bytes) {
    const std::lock_guard<std::mutex> adding(adding_);
    return kept_.emplace_back(std::move(bytes));
  }

 private:
  std::mutex adding_;
  std::deque<std::string> kept_;
};

}  // namespace gedit
