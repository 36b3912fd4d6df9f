#include "cli/markdown.h"

#include "cli/selectors.h"
#include "commands.h"

namespace gedit {
namespace {

std::string in_cell(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string code(std::string_view text) { return "`" + in_cell(text, "|") + "`"; }
std::string prose(std::string_view text) { return in_cell(text, "|*<"); }

std::string row(const std::string& left, const std::string& right) {
  return "| " + left + " | " + right + " |\n";
}

}  // namespace

std::string commands_markdown() {
  std::string text = row("command", "does") + row("---", "---");
  for (const CommandInfo& info : commands()) text += row(code(info.name), prose(info.summary));
  return text;
}

std::string selectors_markdown() {
  std::string text = row("form", "means") + row("---", "---");
  for (const auto& [forms, meaning] : selector_forms()) {
    std::string list;
    for (const std::string_view form : forms) list += (list.empty() ? "" : ", ") + code(form);
    text += row(list, prose(meaning));
  }
  return text;
}

}  // namespace gedit
