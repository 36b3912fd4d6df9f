#include "base/size.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

namespace gedit {
namespace {

std::string numbered(std::string_view many, uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", many, noun, number == 1 ? "" : "s");
}

}  // namespace

std::string size_text(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::string_view unit;
  for (const std::string_view next : {"kB", "MB", "GB", "TB", "PB"}) {
    value /= 1000;
    unit = next;
    if (value < 999.95) break;
  }
  return unit == "GB" && value < 10 ? fmt::format("{:.2f} {}", value, unit)
                                    : fmt::format("{:.1f} {}", value, unit);
}

std::string count_text(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string count_text(uint64_t number, std::string_view noun) {
  return numbered(count_text(number), number, noun);
}

std::string counted(uint64_t number, std::string_view noun) {
  return numbered(std::to_string(number), number, noun);
}

std::string counted_or_no(uint64_t number, std::string_view noun) {
  return numbered(number == 0 ? "no" : std::to_string(number), number, noun);
}

std::string short_count_text(uint64_t number) {
  if (number < 1000) return std::to_string(number);
  auto value = static_cast<double>(number);
  char unit = ' ';
  for (const char next : std::string_view("kMGTPE")) {
    value /= 1000;
    unit = next;
    if (value < 999.5) break;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
}

std::optional<uint64_t> parse_size(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit.ends_with('B')) unit.remove_suffix(1);
  if (unit == "K" || unit == "k") {
    value *= 1e3;
  } else if (unit == "M" || unit == "m") {
    value *= 1e6;
  } else if (unit == "G" || unit == "g") {
    value *= 1e9;
  } else if (!unit.empty()) {
    return std::nullopt;
  }
  if (!(value < 1e18)) return std::nullopt;
  return static_cast<uint64_t>(std::llround(value));
}

}  // namespace gedit
