// What an edit did, by name: what `-n` lists, and what else the user is to hear.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gedit {

struct Changes {
  std::vector<std::pair<std::string, std::string>> added;    // node, op
  std::vector<std::pair<std::string, std::string>> changed;  // node or signature, what became of it
  std::vector<std::string> removed;                          // signatures
  std::vector<std::string> warnings, notes;

  // `+ name = Op`, `- name` and `~ name: what`, a line each (command_reference 0.6).
  std::string text() const;
};

}  // namespace gedit
