// Which names the nodes of several graphs have in one: docs/rules.md#merge-names,
// docs/rules.md#merge-conflicts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "edit/merging/operand.h"

namespace gedit {

using MergeParts = std::vector<std::unique_ptr<MergePart>>;

// A node of one operand.
struct MergePlace {
  size_t part = 0;
  NodeId node = kNoNode;

  friend bool operator==(const MergePlace&, const MergePlace&) = default;
};

// `OPERAND: SUBJECT: already in OTHER`, and the ways out.
Error already_in(const MergePart& part, const MergePart& other, const std::string& subject);

// Decides what the nodes and identities are called. Costs nothing for operands that have different names.
// Nodes that are to be one with an earlier file's (kShare) are only noted.
class MergedNames {
 public:
  // Throws Error (kRefused) where a name is there twice (kError).
  MergedNames(MergeParts& parts, NameConflict on_conflict);
  MergedNames(const MergedNames&) = delete;  // the parts ask this one
  MergedNames& operator=(const MergedNames&) = delete;

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
  struct Twin {
    NodeId node;
    MergePlace earlier;
  };

  void decide_nodes();
  void decide_identities();
  void check_shared_name(const MergePart& part, std::string_view node_def,
                         std::unordered_map<std::string, const MergePart*>& owners) const;
  static void take_shared_name(const MergePart& part, std::string_view name, std::string_view node_def,
                               std::unordered_map<std::string, const MergePart*>& owners);
  int64_t instance_key(size_t part, int64_t key) const;
  bool may_meet(const MergePart& a, const MergePart& b) const;
  bool taken(std::string_view name) const;
  MergePlace find_numbered(std::string_view name) const;

  MergeParts& parts_;
  NameConflict on_conflict_;
  std::unordered_set<std::string> added_;              // names of new nodes
  std::unordered_map<std::string, int> next_numbers_;  // by what free_name() was asked for
  std::vector<std::vector<Twin>> twins_;               // by part
  // By operand and key; made when it is first asked for, since few graphs have any.
  mutable std::map<std::pair<size_t, int64_t>, int64_t> instance_keys_;
};

}  // namespace gedit
