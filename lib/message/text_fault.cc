#include "message/text_fault.h"

#include <algorithm>

namespace gedit {
namespace {

std::string line_and_column(std::string_view text, size_t offset) {
  const PlaceInText place = place_of(text, offset);
  return "line " + std::to_string(place.line) + ": column " + std::to_string(place.column);
}

}  // namespace

std::string TextFault::with_place(std::string_view text) const {
  return line_and_column(text, offset) + ": " + message;
}

PlaceInText place_of(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t newline = before.rfind('\n');
  const size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  return {static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
          before.size() - line_start + 1};
}

Error error_at(std::string_view text, size_t offset, std::string_view file, std::string message) {
  return Error(Cause::kInput, std::move(message)).of(line_and_column(text, offset)).in(file);
}

}  // namespace gedit
