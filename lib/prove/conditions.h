// When a tensor is there at all: deadness as TensorFlow's executor has it, as sets of what must hold
// (docs/tensorflow.md#dead-tensors).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "prove/classes.h"

namespace gedit {

using ConditionId = uint32_t;
constexpr ConditionId kAlways = 0, kNever = 1;

// A Switch's predicate is false (0) or true (1), a `_SwitchN` has this index; or a Merge, a loop's variable
// or Exit is alive.
struct Holds {
  ClassId of;
  uint32_t branch;
  static constexpr uint32_t kFirstOfMany = 2;  // index 0 of a `_SwitchN`, of which two are not all
  static constexpr uint32_t kAlive = UINT32_MAX;
  auto operator<=>(const Holds&) const = default;
};

// Sets of them; one id for equal sets.
class Conditions {
 public:
  explicit Conditions(Classes& classes);

  ConditionId both(ConditionId a, ConditionId b);
  ConditionId with(ConditionId a, Holds holds);

  // What holds in all of several, and the one thing besides that holds in each alone.
  struct Split {
    ConditionId common;
    std::vector<Holds> apart;
    bool both_sides() const;  // of one predicate, of two
  };
  std::optional<Split> split(std::span<const ConditionId> ids);
  // What holds of two where a predicate alone tells them apart.
  std::optional<ConditionId> either(ConditionId a, ConditionId b);

  // What it is where it is one thing that must hold.
  std::optional<Holds> only(ConditionId id) const;

  // Whether they cannot hold both: where one predicate is false for one and true for the other.
  bool exclude(ConditionId a, ConditionId b) const;

  // Whether something in it is not known.
  bool unknown(ConditionId id) const;

 private:
  ConditionId intern(std::vector<Holds> set);
  std::vector<Holds> implied(ConditionId id) const;

  static constexpr size_t kMost = 64;  // larger sets are told as the union of two
  Classes& classes_;
  std::vector<std::vector<Holds>> sets_;
  std::map<std::vector<Holds>, ConditionId> ids_;
  std::unordered_map<uint64_t, ConditionId> unions_;
};

}  // namespace gedit
