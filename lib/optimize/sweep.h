// Goes over a net once, from what is read to who reads it: every node gets the inputs that stand for its own
// by then, loses control inputs that tell nothing, and then either stays, or another tensor stands for it.
#pragma once

#include <span>
#include <string_view>
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
  // After that: whether another sweep is known to change nothing. All that was done is that readers of what
  // only passes on read what that reads, and that equal nodes became one. Every node was looked at with the
  // inputs that it has now; and of the flow nothing counted that such changes make another: no branches,
  // loops and effects are there, and nobody asked how often something is read.
  bool settled() const { return !more_ && flow_.plain() && !flow_.asked_readers(); }

 private:
  struct Alias {
    uint32_t index = 0;  // of the output for which it stands
    In to;
    bool exact = true;  // is there whenever the original is, without the controls besides
  };
  static constexpr In kNothing = {In::kArgument, In::kControl};
  // Lists of some of the nodes that the sweep began with; nothing is kept where there are none.
  template <typename T>
  class Lists {
   public:
    explicit Lists(uint32_t nodes) : nodes_(nodes) {}
    bool has(Number n) const { return !list_of_.empty() && list_of_[n] != 0; }
    // Empty where there is none.
    std::span<const T> of(Number n) const {
      if (!has(n)) return {};
      const size_t list = list_of_[n];
      return {all_.data() + ends_[list - 1], all_.data() + ends_[list]};
    }
    void set(Number n, std::span<const T> list) {
      list_of_.resize(nodes_);
      all_.insert(all_.end(), list.begin(), list.end());
      list_of_[n] = static_cast<uint32_t>(ends_.size());
      ends_.push_back(static_cast<uint32_t>(all_.size()));
    }

   private:
    uint32_t nodes_;
    std::vector<uint32_t> list_of_;  // by node: the number of its list, 0 for none
    std::vector<uint32_t> ends_{0};  // by list: where it ends, and the next begins
    std::vector<T> all_;
  };
  static uint64_t key_of(In in) { return uint64_t{in.node} << 32 | in.index; }
  std::optional<Alias> alias_of(In in) const;
  std::span<const Number> waits_of(Number gone) const;

  bool settled(In in) const { return in.argument() || in.node >= gone_.size() || gone_[in.node] == 0; }
  bool reads_what_stays(Number n) const;
  void resolve(Number n);
  bool resolve_data(Number n);
  bool is_device_between(Number reader, In in, In to) const;
  bool adds_up_switched(Number n, std::span<const In> data) const;
  void add_control(Number reader, Number control, std::vector<Number>& controls);
  void keep_needed(Number n, std::span<const In> data, std::vector<Number>& controls);
  void decide(Number n);
  bool reads_constant_first(Number n) const;
  bool take(Number n, const Decision& decision);
  bool carry_out(Number n, const Decision& decision);
  bool is_source(Number n) const;
  bool copies_memory(Number n, const Decision& decision) const;
  bool brings_effect(Number n, In stands) const;
  std::optional<bool> find_carried(Number n, const Decision& decision, std::vector<Number>& carried);
  bool alias(Number n, const Decision& decision);
  bool tell(Number n, const Decision& decision, bool as_often);
  bool vanish(Number n, Reason reason);
  bool keep_name(Number n, const Decision& decision);
  std::optional<Number> find_equal(Number n);
  bool may_change_places(Number n) const;
  bool changes_places(Number n);
  ContentId content_of(Number n);
  Number find_by_key(Number n);
  bool share(Number n);
  void resolve_returned();

  Subject& subject_;
  Net& net_;
  const Flow& flow_;
  Whens whens_;
  View view_;
  std::vector<uint8_t> gone_;         // by node: something stands for it
  BlankVector<In> stands_;            // by node that is gone: for its output 0 and who waits for it, exactly
  Lists<Alias> aliases_;              // of what else is gone
  Lists<Number> carried_;             // controls besides, of who reads it
  Lists<Number> control_alias_;       // of who waits for it
  std::vector<Number> first_const_;   // by content: of Consts that wait for nothing, on no device
  Classes shared_;                    // what else computes the same from the same is one
  std::vector<Number> first_shared_;  // by class
  // By node: who was looked at of those that read it first, until there are two.
  static constexpr Number kNobody = UINT32_MAX, kSeveral = UINT32_MAX - 1;
  BlankVector<Number> first_reader_;
  std::unordered_map<std::string_view, uint32_t> devices_;
  std::vector<uint32_t> last_waiter_;  // by node: the mark of the last that was found to wait for it
  uint32_t mark_ = 0;
  std::vector<uint32_t> key_;
  // Of the node that is looked at, kept for their memory.
  std::vector<In> data_;
  std::vector<Number> controls_, waits_;
  std::vector<Alias> new_aliases_;
  std::vector<uint64_t> standing_;
  bool changed_ = false, more_ = false;
};

}  // namespace gedit::optimizing
