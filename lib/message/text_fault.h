// What is wrong in a text, and where.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace gedit {

struct TextFault {
  size_t offset;  // in bytes
  std::string message;

  // `line 3: column 7: MESSAGE`, of `text`.
  std::string with_place(std::string_view text) const;
};

// Line and column (in bytes), both from 1, of an offset.
struct PlaceInText {
  size_t line, column;
};
PlaceInText place_of(std::string_view text, size_t offset);

// kInput, `FILE: line 17: column 9: MESSAGE`.
Error error_at(std::string_view text, size_t offset, std::string_view file, std::string message);

}  // namespace gedit
