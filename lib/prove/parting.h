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
  std::unordered_map<uint32_t, std::vector<ClassId>> loop_inputs_;  // of A, by part
  uint64_t steps_left_ = 30'000'000;
};

}  // namespace gedit
