// One text looked for in many places, sixteen bytes at a time.
#pragma once

#include <string>
#include <string_view>

namespace gedit {

class TextSearch {
 public:
  explicit TextSearch(std::string text) : text_(std::move(text)) {}  // not empty
  bool finds_in(std::string_view bytes) const;

 private:
  std::string text_;
};

}  // namespace gedit
