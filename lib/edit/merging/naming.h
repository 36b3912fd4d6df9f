// What the nodes and identities of several graphs are called in one, decided: docs/rules.md#merge-names,
// docs/rules.md#merge-conflicts, docs/rules.md#identities.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "edit/merging/operand.h"

namespace gedit {

// `OPERAND: SUBJECT: already in OTHER`, and the ways out.
Error already_in(const Model& model, const Model& other, const std::string& subject);

// Which node has which name in the merged graph, as far as OperandNames tell.
class NodeNames {
 public:
  // All outlive it.
  void add(const OperandFile& file, const OperandNames& names) { operands_.push_back({&file, &names}); }

  // The operand's node of that name.
  NodeId find_in(size_t operand, std::string_view name) const;
  // The node that got a number and is called so: `x_1`.
  MergePlace find_numbered(std::string_view name) const;
  // Whether a node of any operand has the name, or would have had it.
  bool taken(std::string_view name) const;

 private:
  struct Named {
    const OperandFile* file;
    const OperandNames* names;
  };
  std::vector<Named> operands_;
};

// By operand. Costs nothing for operands that have different names. Nodes that are to be one with an earlier
// operand's (kShare) are only noted. Throws Error (kRefused) where a name is there twice (kError).
std::vector<std::unique_ptr<const OperandNames>> name_operands(const OperandFiles& files,
                                                               NameConflict on_conflict);

}  // namespace gedit
