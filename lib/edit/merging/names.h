// Names in the merged graph, asked for: docs/rules.md#merge-names,
// docs/rules.md#merge-conflicts.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/first_free.h"
#include "edit/merging/naming.h"

namespace gedit {

inline Error already_in(const MergePart& part, const MergePart& other, const std::string& subject) {
  return already_in(part.model, other.model, subject);
}

// The names in the merged graph: those of the operands' nodes, and of nodes that it has besides.
class MergedNames {
 public:
  explicit MergedNames(MergeParts& parts);

  // The nodes of these names in the merged graph; kNoNode where there is none.
  std::vector<MergePlace> find(const std::vector<std::string_view>& names) const;

  // A name for a new node: `wanted`, or the first of `wanted_1`, ... that is free. It is taken then.
  std::string free_name(std::string_view wanted);

  // Takes nodes out that say the same as an earlier file's node of their name. To be called when the inputs
  // of all are decided. Throws Error (kRefused) where two say different things.
  void share();

  // Where the node is written: a node that share() took out is one with another operand's.
  MergePlace written(MergePlace place) const;

  // Calls use(name) with the name of every node in the merged graph.
  template <typename Use>
  void each(Use use) const {
    for (const auto& part : parts_) {
      for (uint32_t i = 0; i < part->graph().size(); ++i) use(part->name_of(part->graph().name(NodeId{i})));
    }
  }

 private:
  MergeParts& parts_;
  NodeNames nodes_;
  std::unordered_set<std::string> added_;  // names of new nodes
  FreeNames free_names_;
};

}  // namespace gedit
