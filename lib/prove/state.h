// What both graphs of a proof share while their tensors are numbered, and what one numbering assumes.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "prove/classes.h"
#include "prove/conditions.h"
#include "prove/contents.h"

namespace gedit {

// A tensor: what it is, and when it is there.
struct ProofTensor {
  ClassId what = kDeadClass;
  ConditionId when = kAlways;
  bool operator==(const ProofTensor&) const = default;
};

struct ProofState {
  Classes classes;
  Conditions conditions{classes};
  Contents contents;

  // Something writes: what runs before what counts, and no reads are one.
  bool ordered = false;
  bool by_checksum = true;
  // What shapes alone tell is known.
  bool shapes_count = false;
  // A While may have to be the same as a loop of version 1.
  bool whiles_as_loops = false;

  // Nodes of functions that may still be gone through; a function that calls itself twice has no end.
  int64_t calls_left = 4'000'000;

  // What a node of only constants gives, by the class that it has as it is built; nothing: it is not folded.
  std::unordered_map<ClassId, std::vector<ClassId>> folded;
  static constexpr uint64_t kMostFolded = uint64_t{256} << 20;
  uint64_t fold_left = kMostFolded;  // bytes of such constants of both graphs

  // Seen on the way.
  bool writes = false;  // a node that runs has an effect
  uint64_t switches = 0, merges = 0, variables = 0;

  ClassId unknown(std::string_view what, std::string_view why) {
    return classes.intern(classes.label(KeyForm::kSource, what, why), {});
  }
  // A Const's value as a class.
  ClassId constant(std::string_view tensor_proto) {
    return classes.intern(KeyForm::kConst, {contents.of_tensor(tensor_proto)});
  }
  std::optional<folding::ConstTensor> tensor(ClassId id) const {
    if (classes.label_of(id).form != KeyForm::kConst) return std::nullopt;
    return contents.tensor(classes.inputs(id)[0]);
  }
  std::optional<int32_t> int32_scalar(ClassId id) const {
    if (classes.label_of(id).form != KeyForm::kConst) return std::nullopt;
    return contents.int32_scalar(classes.inputs(id)[0]);
  }
  // Which branch an If takes, of a scalar: then where it is true or no 0.
  std::optional<bool> chooses_then(ClassId id) const {
    if (const std::optional<bool> known = truth(id)) return known;
    const std::optional<int32_t> number = int32_scalar(id);
    return number ? std::optional<bool>(*number != 0) : std::nullopt;
  }
  // Which of so many branches a Case takes: whatever is no branch's number is the last one's.
  std::optional<uint32_t> branch_of(ClassId index, size_t count) const {
    const std::optional<int32_t> number = count == 1 ? 0 : int32_scalar(index);
    if (!number) return std::nullopt;
    const bool in_range = *number >= 0 && static_cast<size_t>(*number) < count;
    return in_range ? static_cast<uint32_t>(*number) : static_cast<uint32_t>(count - 1);
  }
  std::optional<bool> truth(ClassId id) const {
    if (classes.label_of(id).form != KeyForm::kConst) return std::nullopt;
    return contents.truth(classes.inputs(id)[0]);
  }
};

}  // namespace gedit
