// The difference of weights as a table for people and as JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "checkpoint/list.h"
#include "weights/difference.h"

namespace gedit {
namespace {

std::string number_text(double number) {
  if (std::isinf(number)) return "inf";
  return fmt::format("{:.3g}", number);
}

void print_names(const std::string& head, const std::vector<std::string>& names, std::string& text) {
  if (names.empty()) return;
  text += fmt::format("{}  {}: ", head, names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += ", ";
    text += shown_name(names[i]);
  }
  text += '\n';
}

nlohmann::ordered_json json_number(double number) {
  return std::isfinite(number) ? nlohmann::ordered_json(number) : nlohmann::ordered_json("inf");
}

}  // namespace

void print_difference(const WeightsDifference& difference, const std::string& a, const std::string& b,
                      Sink& out) {
  std::string text;
  if (!difference.changed.empty()) {
    text += fmt::format("changed  {} of {}   largest first: relative L2, max |difference|, elements\n",
                        difference.changed.size(), difference.compared);
    for (const TensorDifference& one : difference.changed) {
      text += fmt::format("{:<8} {:<10} {:<15} {}\n", number_text(one.relative), number_text(one.largest),
                          fmt::format("{} of {}", one.different, one.elements), shown_name(one.name));
    }
  }
  print_names("only in " + a, difference.only_a, text);
  print_names("only in " + b, difference.only_b, text);
  if (!difference.unlike.empty()) text += fmt::format("other type or shape  {}\n", difference.unlike.size());
  for (const WeightsDifference::Unlike& one : difference.unlike)
    text += fmt::format("  {}: {}, {}\n", shown_name(one.name), one.a, one.b);
  out.write(text);
}

void print_difference_json(const WeightsDifference& difference, Sink& out) {
  nlohmann::ordered_json json;
  json["compared"] = difference.compared;
  json["changed"] = nlohmann::ordered_json::array();
  for (const TensorDifference& one : difference.changed) {
    json["changed"].push_back({{"name", one.name},
                               {"dtype", dtype_name(one.dtype)},
                               {"shape", one.shape},
                               {"relative", json_number(one.relative)},
                               {"max", json_number(one.largest)},
                               {"different", one.different},
                               {"elements", one.elements}});
  }
  json["only_in_a"] = difference.only_a;
  json["only_in_b"] = difference.only_b;
  json["unlike"] = nlohmann::ordered_json::array();
  for (const auto& one : difference.unlike)
    json["unlike"].push_back({{"name", one.name}, {"a", one.a}, {"b", one.b}});
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text += '\n';
  out.write(text);
}

}  // namespace gedit
