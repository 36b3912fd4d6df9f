// ProofTensor classes: two tensors are of one class where they are the same function of the same sources. A
// class is its key, (label, classes of inputs), compared in full.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gedit {

using ClassId = uint32_t;
constexpr ClassId kDeadClass = 0;  // the value of what never runs

using LabelId = uint32_t;

// Labels with a meaning of their own; all others are ops with their attributes, or sources. Where it says
// "number", the key holds a number in the place of a class.
enum class KeyForm : uint8_t {
  kNode,      // inputs are classes
  kSource,    // no inputs
  kShared,    // state that is known by a shared name; inputs are classes
  kConst,     // number of a content
  kOutput,    // class of a node, number of the output
  kHandle,    // class of the value that it leads to
  kChoice,    // class of the predicate, classes where it is false and true
  kWhile,     // classes of its functions, and of what the variables begin with that the body changes
  kMerge,     // class, number of a condition, ... by position
  kLoopVar,   // number of a part of the partition
  kArgument,  // number
  kLambda,    // number of arguments, then class, number of a condition, ...
  kOwn,       // class of a node, number among those that are built alike, number of a condition
  kAfter,     // class of a value, class of what ran before
  kBefore,    // classes of what ran before, sorted
  kUnion,     // two numbers of conditions
};

struct Label {
  KeyForm form = KeyForm::kNode;
  std::string text;     // what tells two labels apart
  std::string unknown;  // why nothing can be proved of it; empty where it can
};

// The op of a node's label, which begins with it; empty of others.
std::string_view op_of(const Label& label);

// Whether the element `i` of the key is a class, not a number.
bool holds_class(KeyForm form, size_t i);

class Classes {
 public:
  Classes();

  LabelId label(KeyForm form, std::string_view text, std::string_view unknown = {});
  const Label& label_of(ClassId id) const { return labels_[keys_[begins_[id]]]; }
  LabelId label_id_of(ClassId id) const { return keys_[begins_[id]]; }
  const Label& label(LabelId id) const { return labels_[id]; }

  ClassId intern(LabelId label, std::span<const uint32_t> inputs);
  ClassId intern(LabelId label, std::initializer_list<uint32_t> inputs) {
    return intern(label, std::span<const uint32_t>(inputs.begin(), inputs.size()));
  }
  // The one without text.
  ClassId intern(KeyForm form, std::initializer_list<uint32_t> inputs) {
    return intern(forms_[static_cast<size_t>(form)], inputs);
  }
  ClassId intern(KeyForm form, std::span<const uint32_t> inputs) {
    return intern(forms_[static_cast<size_t>(form)], inputs);
  }
  std::span<const uint32_t> inputs(ClassId id) const {
    return {keys_.data() + begins_[id] + 1, keys_.data() + begins_[id + 1]};
  }

  // Whether something that it is made of happens at a time of its own: reads, writes, is not known.
  bool happens(ClassId id) const { return happens_[id]; }
  // Whether it, or something that it is made of, is not known.
  bool unknown(ClassId id) const { return unknown_[id]; }
  void set_unknown(ClassId id) { unknown_[id] = happens_[id] = true; }  // a loop's variable, found out late
  uint32_t size() const { return static_cast<uint32_t>(begins_.size() - 1); }

 private:
  struct Slot {
    ClassId id = 0;     // 0: it is free
    uint32_t hash = 0;  // of the key
  };

  void grow();

  std::vector<Label> labels_;
  std::unordered_map<std::string, LabelId> label_ids_;
  std::vector<LabelId> forms_;
  std::vector<uint32_t> keys_;    // label, inputs, one behind the other
  std::vector<uint32_t> begins_;  // of each class in keys_, and the end
  std::vector<bool> unknown_, happens_;
  std::vector<Slot> slots_;
};

}  // namespace gedit
