// What a merge is asked to do, of what, and what comes of it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "edit/basis/changes.h"
#include "model/model.h"
#include "model/save.h"
#include "ops/registry.h"

namespace gedit {

struct Checkpoint;

// What happens where two files define one name.
enum class NameConflict : uint8_t {
  kError,
  kUniquify,  // the later file's becomes `x_1`
  kShare,     // one where both say the same, else an error
};

struct MergeOperand {
  std::string name;  // everything goes under `name/`; empty: nothing does
  Model model;
  Registry ops;                 // what is known of the ops in it
  std::string checkpoint = {};  // with its values; empty: its own, where it brings one along
};

struct MergeRequest {
  std::vector<std::string> input_map;  // KEY=VALUE
  NameConflict on_conflict = NameConflict::kError;
  bool values = false;  // one checkpoint with the values of all is made
  bool prune = false;
  bool want_changes = false;  // fill what Changes lists
  bool want_names = false;    // fill MergeChanges::operands, which hold every name
};

// What became of one operand: where a node has another name, or what reads a tensor reads another.
struct MergedOperand {
  std::string name;
  std::vector<std::pair<std::string, std::string>> nodes, inputs;  // its own, that of the merged graph
};

struct MergeChanges : Changes {
  Model model;  // of the richest kind among the operands
  std::shared_ptr<Checkpoint> values;
  std::vector<FolderFile> assets;
  std::vector<MergedOperand> operands;
};

}  // namespace gedit
