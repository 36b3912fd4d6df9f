// Where two classes that are not the same part first, going from the outputs towards what they are made of.
#pragma once

#include <string>

#include "prove/numbering.h"

namespace gedit {

struct Parting {
  std::string a, b;  // nodes of the main graphs, or the calls that hold them
  std::string why;
  bool unknown = false;                         // one of the two is nothing that anybody knows
  bool by_value = false, by_attribute = false;  // a constant or an attribute, not how the two are built
};

class Partings {
 public:
  Partings(ProofState& state, Side& side_a, Side& side_b, Numbering& a, Numbering& b)
      : state_(state), side_a_(side_a), side_b_(side_b), a_(a), b_(b) {}

  Parting first(ClassId a, ClassId b);  // they differ
  Parting unknown(ClassId id);          // what in it is not known

  // Classes that make it up, itself included; nothing past the steps that may be taken for all.
  uint64_t count(ClassId id);

 private:
  std::string attribute_difference(NodeId a, NodeId b);

  ProofState& state_;
  Side& side_a_;
  Side& side_b_;
  Numbering& a_;
  Numbering& b_;
  using LoopInputs = std::unordered_map<uint32_t, std::vector<ClassId>>;  // by part
  LoopInputs& loop_inputs_a() { return in_a_ ? *in_a_ : in_a_.emplace(a_.loop_inputs()); }
  LoopInputs& loop_inputs_b() { return in_b_ ? *in_b_ : in_b_.emplace(b_.loop_inputs()); }
  std::optional<LoopInputs> in_a_, in_b_;
  uint64_t steps_left_ = 30'000'000;
};

}  // namespace gedit
