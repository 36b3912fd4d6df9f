// When a node of a net runs: deadness and frames as far as control edges carry them, so that one that tells
// nothing new can go (docs/rules.md#optimize-controls).
#pragma once

#include <map>
#include <vector>

#include "optimize/flow.h"
#include "prove/conditions.h"

namespace gedit::optimizing {

class Whens {
 public:
  // `loops_end`: what comes out of a loop is there whenever it was entered.
  Whens(const Net& net, const Flow& flow, Classes& classes, bool loops_end = false)
      : loops_end_(loops_end),
        net_(net),
        flow_(flow),
        classes_(classes),
        conditions_(classes),
        when_(flow.always() ? 0 : net.size(), kAlways),
        frame_(when_.size()) {}

  // Of a node whose inputs have been looked at; to be called in the order of the flow.
  void look(Number n) {
    if (!when_.empty()) look_at(n);
  }

  ConditionId of(In in);  // of a tensor, or of a control output
  ConditionId of(Number n) const { return n < when_.size() ? when_[n] : kAlways; }
  ConditionId both(ConditionId a, ConditionId b) { return conditions_.both(a, b); }
  bool implies(ConditionId a, ConditionId b) { return conditions_.both(a, b) == a; }
  // The loop in whose frame what it gives is read; 0: none.
  uint32_t frame(Number n) const { return n < frame_.size() ? frame_[n] : 0; }

 private:
  ClassId class_of(In in);
  ConditionId alive(Number n, ConditionId when);
  ConditionId of_merge(Number n);
  void look_at(Number n);

  const bool loops_end_;
  const Net& net_;
  const Flow& flow_;
  Classes& classes_;
  Conditions conditions_;
  std::vector<ConditionId> when_;  // by node; empty where all of them always run
  std::vector<uint32_t> frame_;
  std::vector<uint32_t> parents_{0};           // of frames
  std::vector<ConditionId> entered_{kAlways};  // by frame: when all that enters it is there
  std::map<std::pair<uint32_t, std::string_view>, uint32_t> frames_;
};

}  // namespace gedit::optimizing
