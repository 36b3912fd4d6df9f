#include "cli/selectors.h"

#include "cli/text.h"

namespace gedit {

std::span<const SelectorForm> selector_forms() {
  static const std::vector<SelectorForm> forms{
      {{"conv1/*", "tower_?/**"}, "glob on names: * stays within a scope, ** crosses /"},
      {{"tower_0/"}, "the scope: tower_0 itself and everything under it"},
      {{"re:^a.*b$"}, "regular expression, searched"},
      {{"op:Conv2D", "op:*NonMax*"}, "type of operation"},
      {{"attr:padding=SAME", "dtype:float16", "device:*GPU*", "size>1M"}, "properties"},
      {{"shape:[?,8]", "rank:2"}, "an output has such a shape; ? is any size"},
      {{"var:", "var:trainable"}, "variables"},
      {{"collection:losses"}, "the members of a collection"},
      {{"fn:NAME//sel"}, "inside library functions, NAME a glob"},
      {{"+X", "X+", "2+X", "X+3"}, "and what it reads, and who reads it, n steps far"},
      {{"A..B"}, "everything on a path from A to B"},
      {{"X & Y", "X , Y", "!X", "( )"}, "and, or, not"},
      {{"@file"}, "one selector a line"},
  };
  return forms;
}

std::string selectors_text() {
  std::string text;
  for (const auto& [forms, meaning] : selector_forms()) {
    std::string list;
    for (const std::string_view form : forms) list += (list.empty() ? "" : ", ") + std::string(form);
    text += "  " + padded(list, 23) + "  " + std::string(meaning) + "\n";
  }
  return text;
}

}  // namespace gedit
