// What was made of short texts, so that what a graph says a hundred thousand times is made once.
//   remembered.append(entry, out, [&](std::string& text) { print(entry, text); });
#pragma once

#include <string>
#include <string_view>

#include "base/by_text.h"

namespace gedit {

class Remembered {
 public:
  // Appends to `out` what make(out) appends for `key`, and always appends for the same key. What make()
  // throws is thrown, and nothing is remembered.
  template <typename Make>
  void append(std::string_view key, std::string& out, Make make) {
    if (key.size() > kLongest) return make(out);
    const auto known = made_.find(key);
    if (known != made_.end()) {
      out += known->second;
      return;
    }
    const size_t start = out.size();
    make(out);
    if (out.size() - start > kLongest) return;
    held_ += key.size() + out.size() - start;
    if (held_ > kMost) {  // what comes often comes again
      made_.clear();
      held_ = key.size() + out.size() - start;
    }
    made_.emplace(key, out.substr(start));
  }

 private:
  static constexpr size_t kLongest = 1024;  // what is longer is hardly the same twice
  static constexpr size_t kMost = size_t{1} << 19;

  ByText<std::string> made_;
  size_t held_ = 0;
};

}  // namespace gedit
