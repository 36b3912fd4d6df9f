// The nodes that read what `gedit insert` puts a node behind: which of them read the new node, and which keep
// what they read (docs/rules.md#insert).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "edit/basis/changes.h"
#include "edit/changing/insert_place.h"

namespace gedit {

class InsertReaders {
 public:
  // Decides what every reader becomes. Throws Error (kRefused) where one cannot read the new node.
  explicit InsertReaders(const InsertPlace& place);

  void apply(Changes& changes);

 private:
  bool stays(NodeId id);
  void find_saver_nodes();
  void check_no_loop(NodeId reader) const;
  void read(NodeId id);

  const InsertPlace& place_;
  const Graph& graph_;
  NodeSet saver_nodes_;
  std::vector<std::pair<NodeId, std::string>> rewired_;
  std::vector<std::pair<std::string, std::string>> said_;
};

}  // namespace gedit
