// What an edit did, by name: what `-n` lists, and what else the user is to hear.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gedit {

struct Changes {
  std::vector<std::pair<std::string, std::string>> added;    // node, op
  std::vector<std::pair<std::string, std::string>> removed;  // node, op
  std::vector<std::pair<std::string, std::string>> changed;  // node or signature, what became of it
  std::vector<std::string> warnings, notes;
  bool list_removed = false;  // asked for: a graph that loses a million nodes need not name them all

  // `+ name = Op`, `- name = Op` and `~ name: what`, a line each (docs/rules.md#changes).
  std::string text() const;
};

}  // namespace gedit
