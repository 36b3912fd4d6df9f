// The checkpoints of a merge's operands as one: docs/rules.md#merge-checkpoint.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "checkpoint/bundle.h"
#include "edit/merging/names.h"
#include "edit/merging/request.h"

namespace gedit {

class MergedCheckpoint {
 public:
  // Opens them and decides all keys; `parts` outlive it. Throws Error: kInput for one that cannot be read,
  // kRefused where an operand has variables and no checkpoint, and where two have one key.
  MergedCheckpoint(const MergeParts& parts, NameConflict on_conflict, std::vector<std::string>& warnings);

  // An operand's own; null where it has none.
  const Checkpoint* of(const MergePart& part) const { return values_[part.number].checkpoint.get(); }
  // Whether there is only one, whose keys stay.
  bool keeps_keys() const { return keeps_keys_; }
  // The key in the merged checkpoint of an operand's key.
  std::string key_of(const MergePart& part, const std::string& key) const;
  // The value under an operand's key. Throws Error (kRefused) where there is none.
  const Tensor& value_of(const MergePart& part, const std::string& key) const;

  // Null where no operand has one.
  std::shared_ptr<Checkpoint> merged() const;

 private:
  struct Values {
    std::shared_ptr<Checkpoint> checkpoint;
    std::string path;
    std::string prefix;                                 // before every key
    std::unordered_map<std::string, std::string> keys;  // those that become something else
  };

  void open(std::vector<std::string>& warnings);
  void name_keys(NameConflict on_conflict);

  const MergeParts& parts_;
  std::vector<Values> values_;  // by part
  bool keeps_keys_ = false;
};

}  // namespace gedit
