// Goes over a net once, from what is read to who reads it: every node gets the inputs that stand for its own
// by then, loses control inputs that tell nothing, and then either stays, or another tensor stands for it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "optimize/rules.h"

namespace gedit::optimizing {

class Sweep {
 public:
  // The flow is of the net as it is; all outlive this.
  Sweep(Subject& subject, const Flow& flow, Classes& classes);

  // Whether anything changed.
  bool run();

 private:
  struct Alias {
    In to;
    bool exact = true;  // is there whenever the original is, without the controls besides
  };
  static uint64_t key_of(In in) { return uint64_t{in.node} << 32 | in.index; }

  bool settled(In in) const { return in.argument() || in.node >= gone_.size() || !gone_[in.node]; }
  void resolve(Number n);
  bool is_device_between(Number reader, In in, In to) const;
  void add_control(Number reader, Number control, std::vector<Number>& controls);
  std::vector<Number> needed_controls(Number n, const std::vector<In>& data,
                                      const std::vector<Number>& controls);
  void decide(Number n);
  bool take(Number n, const Decision& decision);
  bool alias(Number n, const Decision& decision);
  bool vanish(Number n, Reason reason);
  bool keep_name(Number n, const Decision& decision);
  std::optional<Number> find_equal(Number n);
  bool share(Number n);
  void resolve_returned();

  Subject& subject_;
  Net& net_;
  const Flow& flow_;
  Whens whens_;
  View view_;
  std::vector<bool> gone_;                                         // by node: something stands for it
  std::unordered_map<uint64_t, Alias> aliases_;                    // by tensor
  std::unordered_map<Number, std::vector<Number>> carried_;        // controls besides, of who reads it
  std::unordered_map<Number, std::vector<Number>> control_alias_;  // of who waits for it
  std::unordered_map<std::string, Number> shared_;
  std::vector<uint32_t> last_waiter_;  // by node: the mark of the last that was found to wait for it
  uint32_t mark_ = 0;
  std::string key_;
  NodeText text_;
  bool changed_ = false;
};

}  // namespace gedit::optimizing
