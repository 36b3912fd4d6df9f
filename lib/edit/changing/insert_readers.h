// The nodes that read what `gedit insert` puts a node behind: which of them read the new node, and which keep
// what they read (docs/rules.md#insert).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edit/basis/changes.h"
#include "edit/changing/insert_place.h"

namespace gedit {

// What hands a value on to a save operation alone, and what a restore operation's values are assigned by.
NodeSet nodes_of_savers(const Facts& facts);

class InsertReaders {
 public:
  // Decides what every reader becomes. Throws Error (kRefused) where one cannot read the new node.
  explicit InsertReaders(const InsertPlace& place);

  void apply(Changes& changes);

 private:
  bool stays(NodeId id);
  const InsertedBehind* target_of(NodeId reader, std::string_view input) const;
  void check_no_loop(NodeId reader) const;
  void warn_of_order(NodeId reader, const InsertedBehind& target);
  void read(NodeId id);

  const InsertPlace& place_;
  const Graph& graph_;
  std::optional<NodeSet> saver_nodes_;
  std::vector<std::pair<NodeId, std::string>> rewired_;
  std::vector<std::pair<std::string, std::string>> said_;
  std::vector<std::string> warnings_;
};

}  // namespace gedit
