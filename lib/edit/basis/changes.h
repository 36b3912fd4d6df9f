// What an edit did, by name: what `-n` lists, and what else the user is to hear.
//
// Every edit is a function
//
//   Changes edit(Model& model, Registry& ops, const EditRequest& request);
//
// which changes the selected MetaGraph of the model, or throws Error: kUsage for a request that says nothing
// sensible, kInput for bytes that are broken, kRefused where the result would not be what was asked for.
// After an Error the model may be half changed; whoever called throws it away, and nothing has been written.
// What is asked for stands in EditRequest, want_changes among it: without that the lists may stay empty, for
// a graph can have a million nodes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gedit {

struct Changes {
  std::vector<std::pair<std::string, std::string>> added;    // node, op
  std::vector<std::pair<std::string, std::string>> removed;  // node, op
  std::vector<std::pair<std::string, std::string>> changed;  // node or signature, what became of it
  std::vector<std::pair<std::string, std::string>> cut;      // tensor, tensor that stands in its place
  std::vector<std::string> warnings, notes;
  bool list_removed = false;  // asked for: a graph that loses a million nodes need not name them all

  // `+ name = Op`, `- name = Op` and `~ name: what`, a line each (docs/rules.md#changes).
  std::string text() const;
};

}  // namespace gedit
